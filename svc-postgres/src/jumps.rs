//! Jumps to a page: the members of a collection are in memory once somebody has jumped into it, and
//! follow what every process writes.
//!
//! New members have higher numbers than all before, so one indexed read before a jump tells them. A
//! collection that something has left, or that something older has joined, is read anew: its total
//! says when that was last (`moved`).
//!
//! Requirements: COL-22.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use svc_store::offset_index::{MembershipChange, OffsetIndex};
use tokio_postgres::Row;

use crate::{
    database::DatabaseHandle,
    error::{Result, StoreError},
    place::CollectionQuery,
};

/// Collections whose last known member is remembered at most.
const COLLECTIONS: usize = 1_024;

/// The collections that were jumped into.
#[derive(Default)]
pub(crate) struct PageJumps {
    index: Arc<OffsetIndex>,
    /// How far the index knows a collection.
    known: Mutex<HashMap<Box<[u8]>, IndexedState>>,
}

/// What is known of a collection: when something last left it, and its youngest member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct IndexedState {
    moved: i64,
    last: i64,
}

impl PageJumps {
    fn known(&self, collection: &[u8]) -> IndexedState {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(collection)
            .copied()
            .unwrap_or_default()
    }

    fn learn(&self, collection: &[u8], learned: IndexedState) {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= COLLECTIONS {
            // What is forgotten is only told once more.
            all.clear();
        }
        let known = all.entry(collection.into()).or_default();
        if (learned.moved, learned.last) > (known.moved, known.last) {
            *known = learned;
        }
    }
}

impl PageJumps {
    /// The row behind which a page begins that has so many records before it; `None` behind the
    /// last one.
    pub(crate) async fn to(
        &self,
        database: &DatabaseHandle,
        place: &CollectionQuery,
        position: u64,
    ) -> Result<Option<i64>> {
        let name = place.collection();
        let mut known = self.known(&name);
        let queries = vec![
            place.moved(&database.texts),
            place.members(&database.texts, known.last),
        ];
        let mut given = database.read(place.tenant, queries).await?.into_iter();
        let moved: i64 = match given.next().and_then(|rows| rows.into_iter().next()) {
            Some(row) => row.try_get(0)?,
            // Nothing was ever in it.
            None => return Ok(None),
        };
        let mut news = numbers(&given.next().unwrap_or_default())?;
        if moved != known.moved {
            news = members(database, place, 0).await?;
            known = IndexedState { moved, last: 0 };
        }
        // A collection that was changed otherwise than by new members is another one for the index.
        let collection = [&*name, &moved.to_be_bytes()].concat();
        let joined: Vec<MembershipChange> = news
            .iter()
            .map(|row| MembershipChange::new(collection.as_slice().into(), *row, true))
            .collect();
        self.index.follow(&joined);
        self.learn(
            &name,
            IndexedState {
                moved,
                last: news.last().copied().unwrap_or(known.last),
            },
        );
        let nth = self.index.nth(&collection, position, async |mut load| {
            // Not in memory, or not any more.
            let rows = if known.last == 0 {
                news
            } else {
                members(database, place, 0).await?
            };
            for row in rows {
                load.insert(row);
            }
            Ok::<_, StoreError>(load.finish()?)
        });
        Ok(nth.await?.map(|row| row.saturating_sub(1)))
    }
}

/// The rows of a collection behind this one.
async fn members(
    database: &DatabaseHandle,
    place: &CollectionQuery,
    after: i64,
) -> Result<Vec<i64>> {
    let rows = database
        .read(place.tenant, vec![place.members(&database.texts, after)])
        .await?;
    numbers(rows.first().map_or(&[][..], Vec::as_slice))
}

fn numbers(rows: &[Row]) -> Result<Vec<i64>> {
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

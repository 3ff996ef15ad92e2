//! Jumps to a page by number. The members of a collection are loaded into memory at the first jump,
//! and then follow the writes of every process.
//!
//! New members have higher numbers than all earlier ones, so one indexed read before a jump finds
//! them. A collection is reloaded if a member has left it or an older record has joined it. Its
//! total has the number of the last transaction with such a change (`moved`).
//!
//! Requirements: COL-22.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use svc_store::offset_index::{MembershipChange, OffsetIndex};
use tokio_postgres::Row;

use crate::{
    collection_query::CollectionQuery,
    database::DatabaseHandle,
    error::{Result, StoreError},
};

/// Maximum number of collections whose last known member is cached.
const COLLECTIONS: usize = 1_024;

/// The collections with at least one jump.
#[derive(Default)]
pub(crate) struct PageJumps {
    index: Arc<OffsetIndex>,
    /// The state of the index for each collection.
    known: Mutex<HashMap<Box<[u8]>, IndexedState>>,
}

/// The indexed state of a collection: the number of the last transaction in which a member left it,
/// and its newest member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct IndexedState {
    moved: i64,
    last: i64,
}

impl PageJumps {
    fn lock(&self, collection: &[u8]) -> IndexedState {
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
            // Collections that are dropped here are only read once more.
            all.clear();
        }
        let known = all.entry(collection.into()).or_default();
        if (learned.moved, learned.last) > (known.moved, known.last) {
            *known = learned;
        }
    }
}

impl PageJumps {
    /// Returns the row after which a page starts that has `position` records before it, or `None`
    /// after the last one.
    pub(crate) async fn to(
        &self,
        database: &DatabaseHandle,
        place: &CollectionQuery,
        position: u64,
    ) -> Result<Option<i64>> {
        let name = place.collection();
        let mut known = self.lock(&name);
        let queries = vec![
            place.moved(&database.texts),
            place.members(&database.texts, known.last),
        ];
        let mut given = database.read(place.tenant, queries).await?.into_iter();
        let moved: i64 = match given.next().and_then(|rows| rows.into_iter().next()) {
            Some(row) => row.try_get(0)?,
            // The collection never had a member.
            None => return Ok(None),
        };
        let mut news = numbers(&given.next().unwrap_or_default())?;
        if moved != known.moved {
            news = members(database, place, 0).await?;
            known = IndexedState { moved, last: 0 };
        }
        // After a change other than new members, the collection is a new one for the index.
        let collection = [&*name, &moved.to_be_bytes()].concat();
        let joined: Vec<MembershipChange> = news
            .iter()
            .map(|row| MembershipChange::new(collection.as_slice().into(), *row, true))
            .collect();
        self.index.apply(&joined);
        self.learn(
            &name,
            IndexedState {
                moved,
                last: news.last().copied().unwrap_or(known.last),
            },
        );
        let nth = self.index.nth(&collection, position, async |mut load| {
            // Not in memory, or no longer.
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

/// Returns the rows of a collection after this one.
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

//! Reads of the change feed.

use svc_core::{backend::RecordChange, link::RecordAddress};
use svc_store::feed::{FeedPosition, FeedQuery, FeedRows, feed_entry};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    database::DatabaseHandle,
    error::{Result, StoreError},
    pipeline::{SqlQuery, values},
    record_layout::kind_of,
};

impl DatabaseHandle {
    /// Reads the entries of a page of a tenant's feed. It never uses a replica, which may lag: a
    /// new cursor would be unknown there.
    pub(crate) async fn feed(&self, tenant: i64, query: &FeedQuery<'_>) -> Result<FeedRows> {
        let FeedQuery {
            after,
            named,
            limit,
            ..
        } = query;
        let queries = vec![
            SqlQuery::new(&self.texts.feed_last, values![tenant, after.seq, after.row]),
            SqlQuery::new(
                &self.texts.feed_behind,
                values![tenant, after.seq, after.row, i64::from(*limit)],
            ),
            SqlQuery::new(&self.texts.feed_at, values![tenant, named.seq, named.row]),
        ];
        let given = self.read_first(tenant, queries).await?;
        let rows = |at: usize| given.get(at).map_or(&[][..], Vec::as_slice);
        let kept = rows(2).first().map(place).transpose()?;
        Ok(FeedRows {
            is_position_valid: *named == FeedPosition::START || kept == Some(*named),
            last: rows(0).first().map(place).transpose()?,
            entries: rows(1).iter().map(entry).collect::<Result<_>>()?,
        })
    }
}

fn place(row: &Row) -> Result<FeedPosition> {
    Ok(FeedPosition::new(
        row.try_get(0)?,
        row.try_get(1)?,
        row.try_get(2)?,
    ))
}

fn entry(row: &Row) -> Result<(FeedPosition, RecordChange)> {
    let (place, id, parent): (_, Uuid, Option<Uuid>) =
        (place(row)?, row.try_get(4)?, row.try_get(5)?);
    let what: i16 = row.try_get(6)?;
    let person: Option<Uuid> = row.try_get(7)?;
    let person = person.map(Into::into);
    let record = kind_of(row.try_get(3)?)
        .map(|kind| RecordAddress::new(kind, id.into(), parent.map(Into::into)));
    let entry = record.and_then(|record| feed_entry(what.into(), place.at, record, person));
    Ok((
        place,
        entry
            .ok_or_else(|| StoreError::unexpected("a feed entry was written by another version"))?,
    ))
}

//! The change feed in the file: writing and reading of its entries.

use rusqlite::{Connection, OptionalExtension, Row};
use svc_core::{
    backend::{ChangeKind, RecordChange},
    link::RecordAddress,
    model::Kind,
    value::{Id, Timestamp},
};
use svc_store::feed::{FeedChange, FeedPosition, FeedQuery, FeedRows, feed_entry};

use crate::{
    apply_changes::bottom,
    error::{Result, StoreError},
    record_id::RecordId,
    record_sets,
    schema::table,
};

/// Adds the feed entry of a change that the transaction is about to make.
pub(crate) fn insert_entries(
    file: &Connection,
    tenant: i64,
    change: &FeedChange<'_>,
    time: Timestamp,
) -> Result<()> {
    let time = time.as_micros();
    let one = |what: ChangeKind, record: &RecordAddress, person: Option<&Id>| -> Result<()> {
        let id = RecordId::try_parse(&record.id)?;
        let parent = record
            .parent
            .as_ref()
            .map(RecordId::try_parse)
            .transpose()?;
        let target = person.map(RecordId::try_parse).transpose()?;
        // Not `INSERT ... SELECT`, which would copy the table that it both reads and writes.
        let sql = "INSERT INTO feed (tenant, seq, kind, id, parent, what, at, target) VALUES
                       (?1, (SELECT coalesce(max(seq), 0) + 1 FROM feed WHERE tenant = ?1), ?2, ?3, ?4, ?5, ?6, ?7)";
        let code = table(record.kind).code;
        file.prepare_cached(sql)?
            .execute((tenant, code, id, parent, what as i64, time, target))?;
        Ok(())
    };
    match change {
        FeedChange::Record(what, record) => one(*what, record, None)?,
        FeedChange::Merged(record, person) => one(ChangeKind::Deleted, record, Some(person))?,
        FeedChange::DeletedSet(set) => {
            let sql = record_sets::feed_sql(table(set.kind()), set);
            file.prepare_cached(&sql)?.execute((
                tenant,
                bottom(set)?,
                ChangeKind::Deleted as i64,
                time,
            ))?;
        }
        other => {
            return Err(StoreError::unexpected(format!(
                "this store has no feed entry for {other:?}"
            )));
        }
    }
    Ok(())
}

/// Maximum number of expired entries that one transaction deletes.
const STEP: i64 = 256;

/// Deletes entries that are older than this. The newest entry stays, because its number must not be
/// reused.
pub(crate) fn expire(file: &Connection, tenant: i64, oldest: Timestamp) -> Result<()> {
    let sql = "DELETE FROM feed WHERE tenant = ?1 AND seq < (SELECT max(seq) FROM feed WHERE tenant = ?1) AND seq IN (
               SELECT seq FROM (SELECT seq, at FROM feed WHERE tenant = ?1 ORDER BY seq LIMIT ?3) WHERE at < ?2)";
    file.prepare_cached(sql)?
        .execute((tenant, oldest.as_micros(), STEP))?;
    Ok(())
}

/// Reads the entries of a page of the feed.
pub(crate) fn read(file: &Connection, tenant: i64, query: &FeedQuery<'_>) -> Result<FeedRows> {
    let sql = "SELECT seq, at FROM feed WHERE tenant = ?1 ORDER BY seq DESC LIMIT 1";
    let last = file
        .prepare_cached(sql)?
        .query_row([tenant], place)
        .optional()?;
    let sql = "SELECT seq, at FROM feed WHERE tenant = ?1 AND seq = ?2";
    let kept = file
        .prepare_cached(sql)?
        .query_row((tenant, query.named.seq), place)
        .optional()?;
    let sql = "SELECT seq, at, kind, id, parent, what, target FROM feed WHERE tenant = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut statement = file.prepare_cached(sql)?;
    let entries = statement
        .query_and_then((tenant, query.after.seq, query.limit), entry)?
        .collect::<Result<_>>()?;
    Ok(FeedRows {
        is_position_valid: query.named == FeedPosition::START || kept == Some(query.named),
        last,
        entries,
    })
}

fn place(row: &Row<'_>) -> rusqlite::Result<FeedPosition> {
    Ok(FeedPosition::new(row.get(0)?, 0, row.get(1)?))
}

fn entry(row: &Row<'_>) -> Result<(FeedPosition, RecordChange)> {
    let (place, code): (_, i64) = (place(row)?, row.get(2)?);
    let (id, parent): (RecordId, Option<RecordId>) = (row.get(3)?, row.get(4)?);
    let person: Option<RecordId> = row.get(6)?;
    let person = person.map(RecordId::to_id);
    let kind = Kind::ALL
        .iter()
        .copied()
        .find(|kind| table(*kind).code == code);
    let record = kind.map(|kind| RecordAddress::new(kind, id.to_id(), parent.map(RecordId::to_id)));
    let entry = record.and_then(|record| feed_entry(row.get(5).ok()?, place.at, record, person));
    Ok((
        place,
        entry
            .ok_or_else(|| StoreError::unexpected("a feed entry was written by another version"))?,
    ))
}

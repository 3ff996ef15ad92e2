//! The merges of people that can be undone, in the file.
//!
//! Requirements: MRG-20, MRG-21.

use rusqlite::{Connection, OptionalExtension, Row};
use svc_core::{
    model::Kind,
    store::{MergeRecord, RestoredPerson, StoredMerge},
    value::{Id, Timestamp},
};

use crate::{aliases, error::Result, outbox, record_id::RecordId, schema::table, stored_responses};

/// Maximum number of expired merges that are deleted together.
const STEP: i64 = 64;

/// The columns of a stored merge in the table `m`, and whether it is the latest one.
const COLUMNS: &str = "m.id, m.merged, m.at, m.until, m.key_name, NOT EXISTS (SELECT 1 FROM merge o
     WHERE o.tenant = m.tenant AND o.remaining = m.remaining AND o.at > m.at)";

fn stored(row: &Row<'_>, remaining: &Id) -> rusqlite::Result<StoredMerge> {
    let (id, merged): (RecordId, RecordId) = (row.get(0)?, row.get(1)?);
    let [at, until] = [row.get(2)?, row.get(3)?].map(Timestamp::from_micros);
    let (id, merged) = (id.to_id(), merged.to_id());
    let mut merge = StoredMerge::new(id, remaining.clone(), merged, at, until);
    merge.key_name = row.get(4)?;
    merge.is_latest = row.get(5)?;
    Ok(merge)
}

/// Stores a merge. Earlier merges into the person cannot be undone for longer.
pub(crate) fn put(file: &Connection, tenant: i64, record: &MergeRecord) -> Result<()> {
    let merge = &record.merge;
    let sql = "UPDATE merge SET until = ?3 WHERE tenant = ?1 AND remaining = ?2 AND at < ?4 AND until > ?3";
    file.prepare_cached(sql)?.execute((
        tenant,
        RecordId::try_parse(&merge.remaining)?,
        merge.until.as_micros(),
        merge.at.as_micros(),
    ))?;
    let sql = "INSERT INTO merge (tenant, id, remaining, merged, at, until, key_name, body)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    file.prepare_cached(sql)?.execute((
        tenant,
        RecordId::try_parse(&merge.id)?,
        RecordId::try_parse(&merge.remaining)?,
        RecordId::try_parse(&merge.merged)?,
        merge.at.as_micros(),
        merge.until.as_micros(),
        &merge.key_name,
        &*record.body,
    ))?;
    Ok(())
}

/// Returns the stored merge with an id into a person.
pub(crate) fn get(
    file: &Connection,
    tenant: i64,
    remaining: &Id,
    id: &Id,
) -> Result<Option<MergeRecord>> {
    let (Some(person), Some(id)) = (RecordId::parse(remaining), RecordId::parse(id)) else {
        return Ok(None);
    };
    let sql = format!(
        "SELECT {COLUMNS}, m.body FROM merge m WHERE m.tenant = ?1 AND m.remaining = ?2 AND m.id = ?3"
    );
    let mut statement = file.prepare_cached(&sql)?;
    let found = statement.query_row((tenant, person, id), |row| {
        let body: Vec<u8> = row.get(6)?;
        Ok(MergeRecord::new(stored(row, remaining)?, body.into()))
    });
    Ok(found.optional()?)
}

/// Returns the newest stored merges into a person, newest first.
pub(crate) fn newest(file: &Connection, tenant: i64, remaining: &Id) -> Result<Vec<StoredMerge>> {
    let Some(person) = RecordId::parse(remaining) else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM merge m WHERE m.tenant = ?1 AND m.remaining = ?2 ORDER BY m.at DESC LIMIT ?3"
    );
    let mut statement = file.prepare_cached(&sql)?;
    let found = statement.query_map((tenant, person, StoredMerge::MAX_LISTED), |row| {
        stored(row, remaining)
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Returns the stored merges into a person and into everyone who was merged into the person, oldest first.
pub(crate) fn of(file: &Connection, tenant: i64, person: RecordId) -> Result<Vec<MergeRecord>> {
    let mut all = Vec::new();
    let forwarded = aliases::of(file, tenant, person)?;
    let sql = format!(
        "SELECT {COLUMNS}, m.body FROM merge m WHERE m.tenant = ?1 AND m.remaining = ?2 ORDER BY m.at"
    );
    let mut statement = file.prepare_cached(&sql)?;
    for remaining in forwarded.into_iter().chain([person]) {
        let id = remaining.to_id();
        let found = statement.query_map((tenant, remaining), |row| {
            let body: Vec<u8> = row.get(6)?;
            Ok(MergeRecord::new(stored(row, &id)?, body.into()))
        })?;
        all.extend(found.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    Ok(all)
}

/// Deletes the stored merges into a person, and into everyone who was merged into the person.
pub(crate) fn forget(file: &Connection, tenant: i64, person: RecordId) -> Result<()> {
    let sql = "DELETE FROM merge WHERE tenant = ?1 AND remaining IN
               (SELECT ?2 UNION ALL SELECT id FROM alias WHERE tenant = ?1 AND target = ?2)";
    file.prepare_cached(sql)?.execute((tenant, person))?;
    Ok(())
}

/// Gives a restored person what the other person has since the merge, and deletes the stored merge.
/// `tickets` has the row of each attendance, with the position of a ticket.
pub(crate) fn restore(
    file: &Connection,
    tenant: i64,
    restored: &RestoredPerson,
    tickets: &[(i64, i64)],
) -> Result<()> {
    let [person, remaining, merge] =
        [&restored.person, &restored.remaining, &restored.merge].map(RecordId::try_parse);
    let (person, remaining, merge) = (person?, remaining?, merge?);
    file.prepare_cached("DELETE FROM merge WHERE tenant = ?1 AND remaining = ?2 AND id = ?3")?
        .execute((tenant, remaining, merge))?;
    file.prepare_cached("DELETE FROM alias WHERE tenant = ?1 AND id = ?2")?
        .execute((tenant, person))?;
    let mut alias = file.prepare_cached(
        "UPDATE alias SET target = ?4 WHERE tenant = ?1 AND id = ?2 AND target = ?3",
    )?;
    let mut entry = file.prepare_cached(
        "UPDATE feed SET target = ?4 WHERE tenant = ?1 AND id = ?2 AND target = ?3 AND kind = ?5",
    )?;
    for id in &restored.forwarded {
        let id = RecordId::try_parse(id)?;
        alias.execute((tenant, id, remaining, person))?;
        entry.execute((tenant, id, remaining, person, table(Kind::Person).code))?;
    }
    let mut holder = file.prepare_cached(
        "UPDATE OR REPLACE holder SET person = ?5
         WHERE tenant = ?1 AND person = ?2 AND attendance = ?3 AND place = ?4",
    )?;
    for (attendance, place) in tickets {
        holder.execute((tenant, remaining, attendance, place, person))?;
    }
    outbox::restore(file, tenant, remaining, person, &restored.actions)?;
    stored_responses::share(file, tenant, remaining, person)
}

/// Returns whether there is a merge that could be undone until before a time.
pub(crate) fn has_expired(file: &Connection, before: Timestamp) -> Result<bool> {
    let mut expired = file.prepare_cached("SELECT 1 FROM merge WHERE until < ?1 LIMIT 1")?;
    Ok(expired.exists([before.as_micros()])?)
}

/// Deletes up to a fixed number of merges that could be undone until before a time, of all tenants.
pub(crate) fn expire(file: &Connection, before: Timestamp) -> Result<()> {
    file.prepare_cached(
        "DELETE FROM merge WHERE rowid IN (SELECT rowid FROM merge WHERE until < ?1 ORDER BY until LIMIT ?2)",
    )?
    .execute((before.as_micros(), STEP))?;
    Ok(())
}

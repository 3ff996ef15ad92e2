//! The outbox in the file.
//!
//! Requirements: HAF-11, SCH-01.

use rusqlite::Connection;
use svc_core::{
    Tenant,
    backend::OutboxEntry,
    store::{ClaimedEntries, OutboxClaim},
    value::{Id, Timestamp},
};

use crate::{error::Result, record_id::RecordId};

/// Stores an outbox entry.
pub(crate) fn put(file: &Connection, tenant: i64, dispatch: &OutboxEntry) -> Result<()> {
    let [person, message] = [dispatch.recipient(), dispatch.message()]
        .map(|id| id.map(RecordId::try_parse).transpose());
    file.prepare_cached(
        "INSERT INTO outbox (tenant, person, message, due, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute((
        tenant,
        person?,
        message?,
        dispatch.due_at().as_micros(),
        dispatch.serialize(),
    ))?;
    Ok(())
}

/// Deletes all outbox entries for a person.
pub(crate) fn forget(file: &Connection, tenant: i64, person: RecordId) -> Result<()> {
    file.prepare_cached("DELETE FROM outbox WHERE tenant = ?1 AND person = ?2")?
        .execute((tenant, person))?;
    Ok(())
}

/// Changes the recipient of all outbox entries for a person.
pub(crate) fn forward(file: &Connection, tenant: i64, from: RecordId, to: RecordId) -> Result<()> {
    change_recipient(file, tenant, from, to, |_| true)
}

/// Changes the recipient of the outbox entries for a person that one of these actions triggered.
pub(crate) fn restore(
    file: &Connection,
    tenant: i64,
    from: RecordId,
    to: RecordId,
    actions: &[Id],
) -> Result<()> {
    change_recipient(file, tenant, from, to, |entry| {
        entry
            .action()
            .is_some_and(|action| actions.contains(action))
    })
}

fn change_recipient(
    file: &Connection,
    tenant: i64,
    from: RecordId,
    to: RecordId,
    is_changed: impl Fn(&OutboxEntry) -> bool,
) -> Result<()> {
    let mut entries =
        file.prepare_cached("SELECT seq, body FROM outbox WHERE tenant = ?1 AND person = ?2")?;
    let found = entries
        .query_map((tenant, from), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(i64, String)>>>()?;
    let mut update =
        file.prepare_cached("UPDATE outbox SET person = ?2, body = ?3 WHERE seq = ?1")?;
    for (seq, body) in found {
        let entry = OutboxEntry::parse(&body);
        if entry.as_ref().is_some_and(|entry| !is_changed(entry)) {
            continue;
        }
        let entry = entry.map(|entry| entry.with_recipient(&to.to_id()));
        let body = entry.map_or(body, |entry| entry.serialize());
        update.execute((seq, to, body))?;
    }
    Ok(())
}

/// Deletes all outbox entries of a message.
pub(crate) fn recall(file: &Connection, tenant: i64, message: &Id) -> Result<()> {
    file.prepare_cached("DELETE FROM outbox WHERE tenant = ?1 AND message = ?2")?
        .execute((tenant, RecordId::try_parse(message)?))?;
    Ok(())
}

/// Returns when the next outbox entry is due.
pub(crate) fn next(file: &Connection) -> Result<Option<Timestamp>> {
    let next: Option<i64> = file
        .prepare_cached("SELECT min(due) FROM outbox")?
        .query_row((), |row| row.get(0))?;
    Ok(next.map(Timestamp::from_micros))
}

/// Claims due entries, in the transaction of the writer.
pub(crate) fn claim(
    file: &Connection,
    now: Timestamp,
    until: Timestamp,
    most: u32,
) -> Result<ClaimedEntries> {
    let sql = "SELECT o.seq, t.name, o.attempts + 1, o.body FROM outbox o JOIN tenant t ON t.id = o.tenant
               WHERE o.due <= ?1 ORDER BY o.due, o.seq LIMIT ?2";
    let mut due = file.prepare_cached(sql)?;
    let mut rows = due.query((now.as_micros(), most))?;
    let mut claims = Vec::new();
    let mut seen = Vec::new();
    while let Some(row) = rows.next()? {
        let (seq, tenant) = (row.get(0)?, Tenant::new(row.get_ref(1)?.as_str()?));
        seen.push(seq);
        claims.extend(OutboxClaim::from_stored(
            tenant,
            seq,
            row.get(2)?,
            row.get_ref(3)?.as_str()?,
        ));
    }
    let mut claimed =
        file.prepare_cached("UPDATE outbox SET attempts = attempts + 1, due = ?2 WHERE seq = ?1")?;
    for seq in seen {
        claimed.execute((seq, until.as_micros()))?;
    }
    Ok(ClaimedEntries::new(claims, next(file)?))
}

/// Deletes a claimed entry.
pub(crate) fn done(file: &Connection, seq: i64) -> Result<()> {
    file.prepare_cached("DELETE FROM outbox WHERE seq = ?1")?
        .execute([seq])?;
    Ok(())
}

/// Makes a claimed entry due again, unless it was claimed again since.
pub(crate) fn reschedule(file: &Connection, seq: i64, attempts: u32, at: Timestamp) -> Result<()> {
    file.prepare_cached("UPDATE outbox SET due = ?3 WHERE seq = ?1 AND attempts = ?2")?
        .execute((seq, attempts, at.as_micros()))?;
    Ok(())
}

//! Stored responses of requests with an idempotency key.
//!
//! Requirements: IDM-01.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension};
use svc_core::{
    store::StoredResponse,
    value::{Id, Timestamp},
};

use crate::{error::Result, record_id::RecordId};

/// The person id of the row that has the response itself.
const NOBODY: &[u8] = &[0; 16];
/// Maximum number of expired rows of a tenant that are deleted together.
const STEP: i64 = 256;
/// Maximum number of tenants whose rows one sweep deletes.
const TENANTS: i64 = 16;

/// Returns the stored response of a key.
pub(crate) fn get(
    file: &Connection,
    tenant: i64,
    key: &Arc<str>,
) -> Result<Option<StoredResponse>> {
    let row = file
        .prepare_cached(
            "SELECT at, answer FROM kept WHERE tenant = ?1 AND key = ?2 AND person = ?3",
        )?
        .query_row((tenant, &**key, NOBODY), |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
        })
        .optional()?;
    Ok(row.map(|(at, answer)| {
        StoredResponse::new(
            Arc::clone(key),
            Timestamp::from_micros(at),
            Vec::new(),
            answer.into(),
        )
    }))
}

/// Stores a response, and replaces an expired one.
pub(crate) fn put(file: &Connection, tenant: i64, kept: &StoredResponse) -> Result<()> {
    expire(file, tenant, kept.expires_before())?;
    file.prepare_cached("DELETE FROM kept WHERE tenant = ?1 AND key = ?2")?
        .execute((tenant, &*kept.key))?;
    let mut insert = file.prepare_cached(
        "INSERT INTO kept (tenant, key, person, at, answer) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let at = kept.created_at.as_micros();
    insert.execute((tenant, &*kept.key, NOBODY, at, &*kept.body))?;
    for person in &kept.people {
        insert.execute((
            tenant,
            &*kept.key,
            RecordId::try_parse(person)?,
            at,
            None::<&[u8]>,
        ))?;
    }
    Ok(())
}

/// Deletes up to a fixed number of a tenant's rows that are older than a time.
pub(crate) fn expire(file: &Connection, tenant: i64, before: Timestamp) -> Result<()> {
    file.prepare_cached(
        "DELETE FROM kept WHERE rowid IN (SELECT rowid FROM kept WHERE tenant = ?1 AND at < ?2 ORDER BY at LIMIT ?3)",
    )?
    .execute((tenant, before.as_micros(), STEP))?;
    Ok(())
}

/// Returns some of the tenants that have rows from before a time.
pub(crate) fn expired(file: &Connection, before: Timestamp) -> Result<Vec<i64>> {
    let sql = "SELECT t.id FROM tenant t WHERE EXISTS (SELECT 1 FROM kept k WHERE k.tenant = t.id AND k.at < ?1) LIMIT ?2";
    let mut tenants = file.prepare_cached(sql)?;
    let tenants = tenants.query_map((before.as_micros(), TENANTS), |row| row.get(0))?;
    Ok(tenants.collect::<rusqlite::Result<_>>()?)
}

/// Deletes every stored response that may contain data of a person.
pub(crate) fn forget(file: &Connection, tenant: i64, person: &Id) -> Result<()> {
    file.prepare_cached(
        "DELETE FROM kept WHERE tenant = ?1 AND key IN (SELECT key FROM kept WHERE tenant = ?1 AND person = ?2)",
    )?
    .execute((tenant, RecordId::try_parse(person)?))?;
    Ok(())
}

/// Records that the responses that may contain data of a person contain data of another one.
pub(crate) fn forward(file: &Connection, tenant: i64, from: RecordId, to: RecordId) -> Result<()> {
    file.prepare_cached(
        "UPDATE OR REPLACE kept SET person = ?3 WHERE tenant = ?1 AND person = ?2",
    )?
    .execute((tenant, from, to))?;
    Ok(())
}

/// Records that the responses that may contain data of a person may also contain data of another one.
pub(crate) fn share(file: &Connection, tenant: i64, of: RecordId, other: RecordId) -> Result<()> {
    file.prepare_cached(
        "INSERT OR IGNORE INTO kept (tenant, key, person, at)
         SELECT tenant, key, ?3, at FROM kept WHERE tenant = ?1 AND person = ?2",
    )?
    .execute((tenant, of, other))?;
    Ok(())
}

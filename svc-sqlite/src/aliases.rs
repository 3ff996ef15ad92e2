//! The ids of merged people in the file, each with the person that remains.

use rusqlite::{Connection, OptionalExtension};
use svc_core::Tenant;

use crate::{error::Result, outbox, record_id::RecordId, stored_responses};

/// Returns the person into whom the person with an id was merged.
pub(crate) fn target(
    file: &Connection,
    tenant: i64,
    id: RecordId,
) -> rusqlite::Result<Option<RecordId>> {
    file.prepare_cached("SELECT target FROM alias WHERE tenant = ?1 AND id = ?2")?
        .query_row((tenant, id), |row| row.get(0))
        .optional()
}

/// Returns the tenant in which a person with this id was merged; `None` if there is none or several.
pub(crate) fn owner(file: &Connection, id: RecordId) -> rusqlite::Result<Option<Tenant>> {
    // The join is in this order because the index begins with the tenant.
    let mut owners = file.prepare_cached(
        "SELECT t.name FROM tenant t CROSS JOIN alias a ON a.tenant = t.id WHERE a.id = ?1 LIMIT 2",
    )?;
    let mut owners = owners.query_map([id], |row| row.get::<_, String>(0))?;
    let owner = owners.next().transpose()?;
    Ok(owner.filter(|_| owners.next().is_none()).map(Tenant::new))
}

/// Returns the ids of everyone who was merged into a person, in ascending order.
pub(crate) fn of(
    file: &Connection,
    tenant: i64,
    target: RecordId,
) -> rusqlite::Result<Vec<RecordId>> {
    file.prepare_cached("SELECT id FROM alias WHERE tenant = ?1 AND target = ?2 ORDER BY id")?
        .query_map((tenant, target), |row| row.get(0))?
        .collect()
}

/// Records that a person was merged into another one, who then has everything that names the merged
/// person.
pub(crate) fn forward(file: &Connection, tenant: i64, from: RecordId, to: RecordId) -> Result<()> {
    for sql in [
        "UPDATE alias SET target = ?3 WHERE tenant = ?1 AND target = ?2",
        "INSERT INTO alias (tenant, id, target) VALUES (?1, ?2, ?3)
         ON CONFLICT DO UPDATE SET target = excluded.target",
        // Both people can hold the same ticket.
        "UPDATE OR REPLACE holder SET person = ?3 WHERE tenant = ?1 AND person = ?2",
        "UPDATE feed SET target = ?3 WHERE tenant = ?1 AND target = ?2",
    ] {
        file.prepare_cached(sql)?.execute((tenant, from, to))?;
    }
    outbox::forward(file, tenant, from, to)?;
    stored_responses::forward(file, tenant, from, to)
}

/// Deletes the ids of everyone who was merged into a person. The feed entries of their deletion no longer
/// name the person.
pub(crate) fn forget(file: &Connection, tenant: i64, target: RecordId) -> Result<()> {
    for sql in [
        "DELETE FROM alias WHERE tenant = ?1 AND target = ?2",
        "UPDATE feed SET target = NULL WHERE tenant = ?1 AND target = ?2",
    ] {
        file.prepare_cached(sql)?.execute((tenant, target))?;
    }
    Ok(())
}

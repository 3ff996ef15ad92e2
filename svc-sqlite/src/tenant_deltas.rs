//! The clocks and totals of tenants, which a transaction writes once.

use rusqlite::Connection;
use svc_core::{store::CollectionId, value::Timestamp};
use svc_store::TenantDeltas;

use crate::{error::Result, lookups::ALL, record_id::RecordId, schema::table};

/// Returns the time of a tenant's last transaction.
pub(crate) fn last_write_timestamp(
    file: &Connection,
    tally: &TenantDeltas,
    tenant: i64,
) -> Result<Timestamp> {
    if let Some(last) = tally.last_timestamp(tenant) {
        return Ok(last);
    }
    let mut clock = file.prepare_cached("SELECT clock FROM tenant WHERE id = ?1")?;
    Ok(clock
        .query_row([tenant], |row| row.get(0))
        .map(Timestamp::from_micros)?)
}

/// Writes the count deltas of collections.
pub(crate) fn store_counts(file: &Connection, tally: &mut TenantDeltas) -> Result<()> {
    let mut add = file.prepare_cached(
        "INSERT INTO total (tenant, kind, scope, owner, records) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET records = records + excluded.records",
    )?;
    tally
        .take_counts()
        .try_for_each(|(tenant, CollectionId { members, under }, won)| {
            let scope = under.as_ref().map_or(0, |(kind, _)| table(*kind).code);
            let owner = under.map(|(_, id)| RecordId::try_parse(&id)).transpose()?;
            let owner = owner.as_ref().map_or(ALL, RecordId::as_bytes);
            add.execute((tenant, table(members).code, scope, owner, won))?;
            Ok(())
        })
}

/// Writes everything, immediately before COMMIT.
pub(crate) fn store(file: &Connection, tally: &mut TenantDeltas) -> Result<()> {
    store_counts(file, tally)?;
    let mut clock = file.prepare_cached("UPDATE tenant SET clock = ?2 WHERE id = ?1")?;
    for (tenant, last) in tally.clocks() {
        clock.execute((tenant, last.as_micros()))?;
    }
    Ok(())
}

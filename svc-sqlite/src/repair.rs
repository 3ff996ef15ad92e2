//! Upgrades the records of older versions to the current rules, once, in the transaction of the
//! migrations.

use rusqlite::Connection;
use svc_core::{helper::DefaultMatching, rules::RecordRepair};
use svc_store::TenantDeltas;

use crate::{
    apply_changes::ChangeApplier, error::Result, lookups, record_id::RecordId, rows, schema::table,
};

/// Repairs the records of every tenant. Rounded amounts are listed in the table `rounded` and in
/// the log.
pub(crate) fn repair(file: &Connection) -> Result<()> {
    for tenant in numbers(file, "SELECT id FROM tenant", ())? {
        let mut tally = TenantDeltas::default();
        let mut apply = ChangeApplier::new(file, tenant, &mut tally);
        let mut repair = RecordRepair::default();
        for kind in RecordRepair::KIND_ORDER {
            let sql = format!(
                "SELECT seq FROM {} WHERE tenant = ?1 ORDER BY seq",
                table(kind).name
            );
            for row in numbers(file, &sql, [tenant])? {
                if let Some(stored) = rows::by_row(file, tenant, kind, row)? {
                    repair
                        .record(&stored)?
                        .iter()
                        .try_for_each(|change| apply.change(change))?;
                    for (place, keys) in RecordRepair::holders(&stored, &DefaultMatching)? {
                        for key in keys {
                            if let Some(holder) = lookups::record(file, tenant, &key)? {
                                apply.add_ticket_holder(
                                    row,
                                    place,
                                    RecordId::try_parse(&holder.record.meta().id)?,
                                )?;
                                break;
                            }
                        }
                    }
                }
            }
        }
        for rounded in repair.rounded() {
            tracing::warn!("an amount has more digits than the API allows: {rounded}");
            let (id, property) = (rounded.id.to_string(), rounded.property.to_string());
            file.prepare_cached("INSERT INTO rounded VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
                .execute((
                    tenant,
                    rounded.kind.singular(),
                    id,
                    property,
                    &rounded.was,
                    rounded.now.to_string(),
                ))?;
        }
    }
    Ok(())
}

fn numbers(file: &Connection, sql: &str, parameters: impl rusqlite::Params) -> Result<Vec<i64>> {
    Ok(file
        .prepare(sql)?
        .query_map(parameters, |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?)
}

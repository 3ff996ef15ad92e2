//! Derives totals, forms of values and indexes again if this program derives others than the program
//! that last did.

use std::{collections::BTreeMap, path::Path};

use rusqlite::{Connection, TransactionBehavior};
use svc_core::rules::Recount;
use svc_store::{TenantDeltas, duplicates::DuplicateIndex, migration::must_recount};

use crate::{
    apply_changes::ChangeApplier,
    duplicates,
    error::Result,
    file::{FileError, sqlite},
    metadata, rows,
    schema::table,
};

/// Derives the totals, values and indexes again in one transaction (`may_change`), or only checks that
/// this program derives the same.
pub(crate) fn recount_if_changed(
    connection: &mut Connection,
    path: &Path,
    may_change: bool,
) -> Result<(), FileError> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(sqlite(path))?;
    let counted = metadata::measures(&transaction).map_err(sqlite(path))?;
    let must = must_recount(counted.as_deref()).map_err(|measure| FileError::UnknownMeasure {
        path: path.to_owned(),
        measure,
    })?;
    if must && !may_change {
        return Err(FileError::Uncounted {
            path: path.to_owned(),
        });
    }
    let mut tenants = BTreeMap::new();
    if must {
        tenants = recount(&transaction).map_err(|error| FileError::Repair {
            path: path.to_owned(),
            reason: error.into(),
        })?;
        metadata::set_measures(&transaction, &Recount::basis()).map_err(sqlite(path))?;
    }
    transaction.commit().map_err(sqlite(path))?;
    tenants.values().for_each(Recount::log);
    Ok(())
}

/// Derives the totals, values and indexes of every tenant again. Returns what was found, by tenant.
fn recount(file: &Connection) -> Result<BTreeMap<i64, Recount>> {
    tracing::info!(
        "the totals are counted again, values are brought into the form of this version, and the \
         indexes of addresses, texts and keys are rebuilt"
    );
    file.execute("UPDATE total SET measures = '' WHERE measures <> ''", ())?;
    file.execute("DELETE FROM part", ())?;
    file.execute("DELETE FROM email", ())?;
    file.execute("DELETE FROM text_key", ())?;
    duplicates::clear_keys(file)?;
    let index = DuplicateIndex::new(&metadata::secret_within(file)?);
    let mut tenants: BTreeMap<i64, Recount> = BTreeMap::new();
    for kind in Recount::kinds() {
        // Not all tables have an index of the records of a tenant.
        let sql = format!("SELECT tenant, seq FROM {} ORDER BY seq", table(kind).name);
        let rows = file
            .prepare(&sql)?
            .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<Vec<(i64, i64)>>>()?;
        for (tenant, row) in rows {
            let Some(stored) = rows::by_row(file, tenant, kind, row)? else {
                continue;
            };
            let mut tally = TenantDeltas::default();
            let mut apply = ChangeApplier::new(file, tenant, &mut tally).with_index(&index);
            for change in tenants.entry(tenant).or_default().record(&stored) {
                apply.change(&change)?;
            }
        }
    }
    Ok(tenants)
}

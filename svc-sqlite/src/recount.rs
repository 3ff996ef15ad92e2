//! Counts the totals again if the measures of this program differ from those that the file was
//! counted with.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};
use svc_core::{rules::Recount, schema::measures_text};
use svc_store::{TenantDeltas, migration::must_recount};

use crate::{
    apply_changes::ChangeApplier,
    error::Result,
    file::{FileError, sqlite},
    metadata,
    repair::numbers,
    rows,
    schema::table,
};

/// Counts the totals again in one transaction (`may_change`), or only checks that they are counted
/// with the measures of this program.
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
    if must {
        recount(&transaction).map_err(|error| FileError::Repair {
            path: path.to_owned(),
            reason: error.into(),
        })?;
        metadata::set_measures(&transaction, &measures_text()).map_err(sqlite(path))?;
    }
    transaction.commit().map_err(sqlite(path))
}

/// Counts the totals of every tenant.
fn recount(file: &Connection) -> Result<()> {
    file.execute("UPDATE total SET measures = '' WHERE measures <> ''", ())?;
    file.execute("DELETE FROM part", ())?;
    for tenant in numbers(file, "SELECT id FROM tenant", ())? {
        let mut tally = TenantDeltas::default();
        let mut apply = ChangeApplier::new(file, tenant, &mut tally);
        let mut counted = Recount::default();
        for kind in Recount::kinds() {
            let sql = format!(
                "SELECT seq FROM {} WHERE tenant = ?1 ORDER BY seq",
                table(kind).name
            );
            for row in numbers(file, &sql, [tenant])? {
                if let Some(stored) = rows::by_row(file, tenant, kind, row)? {
                    counted
                        .record(&stored)?
                        .iter()
                        .try_for_each(|change| apply.change(change))?;
                }
            }
        }
    }
    Ok(())
}

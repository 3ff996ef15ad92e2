//! The identifiers of the vendor's rows in other systems.

use svc_core::value::Identifier;
use svc_core::{Context, Error, Problem, Result};

use super::client::{Row, Transaction};
use super::mapping::TableKind;

/// Returns the SQL column with the identifiers of a row.
pub(super) fn column<R: TableKind>() -> String {
    let refs = "SELECT json_group_array(ref ORDER BY rowid) FROM external_refs";
    format!(
        "({refs} WHERE kept_in = '{}' AND row_no = it.rowid) AS refs",
        R::TABLE
    )
}

/// Returns the identifiers of a row.
pub(super) fn of(row: &Row) -> Result<Vec<Identifier>> {
    let refs: Vec<String> = serde_json::from_str(&row.get::<String>("refs")?)?;
    Ok(refs
        .iter()
        .filter_map(|text| Identifier::parse(text))
        .collect())
}

/// Stores the identifiers of a row, unless another row has one of them.
///
/// Requirements: UND-24.
pub(super) async fn save<R: TableKind>(
    tx: &Transaction,
    cx: &Context,
    no: i64,
    all: &[Identifier],
) -> Result<()> {
    let all = serde_json::to_string(&all.iter().map(Identifier::as_str).collect::<Vec<_>>())?;
    let taken = "SELECT key AS place FROM json_each(?4) JOIN external_refs ON ref = value
                 WHERE company_no = ?1 AND kept_in = ?2 AND row_no <> ?3 ORDER BY key";
    let taken = tx
        .query(taken, &[&cx.tenant().as_number(), &R::TABLE, &no, &all])
        .await?;
    if !taken.is_empty() {
        let problem = |row: &Row| {
            Ok(Problem::identifier_in_use(usize::try_from(
                row.get::<i64>("place")?,
            )?))
        };
        return Err(Error::invalid_all(
            taken.iter().map(problem).collect::<Result<_>>()?,
        ));
    }
    tx.execute(
        "DELETE FROM external_refs WHERE kept_in = ?1 AND row_no = ?2",
        &[&R::TABLE, &no],
    )
    .await?;
    let save = "INSERT INTO external_refs SELECT ?1, ?2, ?3, value FROM json_each(?4) ORDER BY key";
    tx.execute(save, &[&cx.tenant().as_number(), &R::TABLE, &no, &all])
        .await?;
    Ok(())
}

/// Deletes the identifiers of the rows whose column has this number, before these rows are deleted.
pub(super) async fn forget<R: TableKind>(
    tx: &Transaction,
    column: &str,
    no: Option<i64>,
) -> Result<()> {
    let rows = format!("SELECT rowid FROM {} WHERE {column} = ?2", R::TABLE);
    let sql = format!("DELETE FROM external_refs WHERE kept_in = ?1 AND row_no IN ({rows})");
    tx.execute(&sql, &[&R::TABLE, &no]).await?;
    Ok(())
}

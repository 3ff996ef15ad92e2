//! The names that other systems have for the vendor's rows: the interface's identifiers.

use rusqlite::{OptionalExtension, Transaction};
use svc_core::value::Identifier;
use svc_core::{Context, Error, Problem, Result};

/// The identifiers of a row.
pub(super) fn of(tx: &Transaction<'_>, table: &str, no: i64) -> rusqlite::Result<Vec<Identifier>> {
    let mut sql =
        tx.prepare_cached("SELECT ref FROM external_refs WHERE kept_in = ?1 AND row_no = ?2 ORDER BY rowid")?;
    let refs = sql.query_map((table, no), |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(refs.iter().filter_map(|text| Identifier::parse(text)).collect())
}

/// The row that has an identifier.
pub(super) fn row_with(tx: &Transaction<'_>, cx: &Context, table: &str, of: &Identifier) -> Result<Option<i64>> {
    let sql = "SELECT row_no FROM external_refs WHERE company_no = ?1 AND kept_in = ?2 AND ref = ?3";
    Ok(tx.query_row(sql, (cx.tenant.number(), table, of.as_str()), |row| row.get(0)).optional()?)
}

/// Gives a row these identifiers, unless another row has one of them (UND-24).
pub(super) fn save(tx: &Transaction<'_>, cx: &Context, table: &str, no: i64, all: &[Identifier]) -> Result<()> {
    tx.execute("DELETE FROM external_refs WHERE kept_in = ?1 AND row_no = ?2", (table, no))?;
    let mut problems = Vec::new();
    for (place, identifier) in all.iter().enumerate() {
        if row_with(tx, cx, table, identifier)?.is_some() {
            problems.push(Problem::identifier_in_use(&format!("identifiers[{place}]")));
            continue;
        }
        let sql = "INSERT INTO external_refs (company_no, kept_in, row_no, ref) VALUES (?1, ?2, ?3, ?4)";
        tx.execute(sql, (cx.tenant.number(), table, no, identifier.as_str()))?;
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid(problems)) }
}

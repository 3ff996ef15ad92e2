//! Pages of a filtered or ordered collection: by keys, each an index lookup, or along the index
//! of a date.
//!
//! Requirements: FLT-05 to FLT-08.

use rusqlite::Connection;
use svc_core::{
    Error,
    filter::{DateRange, FilterField, IndexKey, MAX_KEY_MATCHES, QueryPlan},
    link::Scope,
    model::Kind,
    raw::RawPage,
    store::{LookupKey, StoredRecord},
};
use svc_store::{cursor::OrderedPageStart, lookup, ordered_pages::OrderedPages};

use crate::{
    error::{Result, StoreError},
    lookups::{record, records},
    rows::stored,
    schema::{SqliteTable, table},
    statements::DateRangeStatements,
};

/// Returns a page of a filter on the collection of all records of a kind.
pub(crate) fn page(
    file: &Connection,
    kind: Kind,
    ordered: OrderedPages<'_>,
    plan: &QueryPlan,
) -> Result<RawPage> {
    if ordered.request.scope != Scope::All {
        return Err(Error::not_found().into());
    }
    match plan {
        QueryPlan::Keys(points) => {
            let mut found = Vec::new();
            for point in points {
                found.extend(led_to(file, ordered.tenant, kind, point)?);
            }
            Ok(ordered.page_of_matches(found)?)
        }
        QueryPlan::DateRange(range) => of_range(file, kind, ordered, range),
        _ => Err(StoreError::unexpected(
            "this store does not support the plan",
        )),
    }
}

/// Returns the records of a point: one record, or all people with an e-mail address.
fn led_to(
    file: &Connection,
    tenant: i64,
    kind: Kind,
    point: &IndexKey,
) -> Result<Vec<StoredRecord>> {
    let IndexKey::Email(address) = point else {
        return Ok(
            record(file, tenant, &LookupKey::from_index_key(kind, point))?
                .into_iter()
                .collect(),
        );
    };
    let table = table(kind);
    if table.sql.by_email.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = file.prepare_cached(&table.sql.by_email)?;
    // One more than the limit shows that there are too many.
    let limit = i64::try_from(MAX_KEY_MATCHES.saturating_add(1)).unwrap_or(i64::MAX);
    let rows = statement.query_map((tenant, lookup::hash_email(address), limit), |row| {
        stored(table, row)
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn of_range(
    file: &Connection,
    kind: Kind,
    ordered: OrderedPages<'_>,
    range: &DateRange,
) -> Result<RawPage> {
    let (table, tenant) = (table(kind), ordered.tenant);
    let sql = dated(table, range.field)?;
    let (after, total) = match ordered.start() {
        OrderedPageStart::After(mark) => (Some((mark.time, mark.row)), mark.total),
        OrderedPageStart::Offset(position) => {
            let total = count(file, table, sql, tenant, range)?;
            let after = match position.checked_sub(1) {
                // If a range has no records, its ends may be in reverse order.
                None if total > 0 => Some((range.from, 0)),
                Some(before) if before < total => nth(file, sql, tenant, range, before)?,
                _ => None,
            };
            (after, total)
        }
    };
    let Some((time, row)) = after else {
        return Ok(ordered.page_of_range(Vec::new(), total));
    };
    let mut found = Vec::new();
    for (sql, last) in [(&sql.same, row), (&sql.later, range.to)] {
        // One more than the page shows that others follow.
        let limit = u64::from(ordered.request.page.size)
            .saturating_add(1)
            .saturating_sub(found.len() as u64);
        let mut statement = file.prepare_cached(sql)?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement.query_map((tenant, time, last, limit), |row| stored(table, row))?;
        found.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    Ok(ordered.page_of_range(found, total))
}

/// Returns the number of records in a range. The number of all records is already stored.
fn count(
    file: &Connection,
    table: &SqliteTable,
    sql: &DateRangeStatements,
    tenant: i64,
    range: &DateRange,
) -> Result<u64> {
    if range.is_unbounded() {
        return Ok(records(file, tenant, table, None)?);
    }
    let number: i64 = file
        .prepare_cached(&sql.count)?
        .query_row((tenant, range.from, range.to), |row| row.get(0))?;
    Ok(u64::try_from(number).unwrap_or_default())
}

/// Returns date and row of the record that has this many others before it.
fn nth(
    file: &Connection,
    sql: &DateRangeStatements,
    tenant: i64,
    range: &DateRange,
    before: u64,
) -> Result<Option<(i64, i64)>> {
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let mut statement = file.prepare_cached(&sql.nth)?;
    let mut rows = statement.query((tenant, range.from, range.to, before))?;
    Ok(rows
        .next()?
        .map(|row| Ok::<_, rusqlite::Error>((row.get(0)?, row.get(1)?)))
        .transpose()?)
}

fn dated(table: &'static SqliteTable, field: FilterField) -> Result<&'static DateRangeStatements> {
    let sql = match field {
        FilterField::CreatedDate => &table.sql.created,
        FilterField::ModifiedDate => &table.sql.modified,
        _ => return Err(StoreError::unexpected("a range without a date")),
    };
    if sql.later.is_empty() {
        Err(Error::not_found().into())
    } else {
        Ok(sql)
    }
}

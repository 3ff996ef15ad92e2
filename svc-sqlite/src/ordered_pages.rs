//! Pages of a filtered or ordered collection: by keys, each an index lookup, or along the index
//! of a date or a text.
//!
//! Requirements: FLT-05 to FLT-08.

use std::collections::HashSet;

use rusqlite::{Connection, types::Value};
use svc_core::{
    Error,
    filter::{FilterField, FindKey, IndexKey, KeyRange, MAX_KEY_MATCHES, QueryPlan, SortKey},
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
    statements::RangeStatements,
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
            let (mut found, mut rows) = (Vec::new(), HashSet::new());
            for point in points {
                for stored in led_to(file, ordered.tenant, kind, point)? {
                    if rows.insert(stored.row) {
                        found.push(stored);
                    }
                }
                if found.len() > MAX_KEY_MATCHES {
                    break;
                }
            }
            Ok(ordered.page_of_matches(found)?)
        }
        QueryPlan::Range(range) => of_range(file, kind, ordered, range),
        _ => Err(StoreError::unexpected(
            "this store does not support the plan",
        )),
    }
}

/// Returns the records of a point: one record, or all with an e-mail address or a text.
fn led_to(
    file: &Connection,
    tenant: i64,
    kind: Kind,
    point: &IndexKey,
) -> Result<Vec<StoredRecord>> {
    // One more than the limit shows that there are too many.
    let limit = (MAX_KEY_MATCHES as u64).saturating_add(1);
    let table = table(kind);
    if let Some((field, first, last)) = point.texts() {
        let (start, last) = ((SortKey::Text(first), 0), SortKey::Text(last));
        return after(
            file,
            table,
            ranges(table, field)?,
            tenant,
            start,
            &last,
            limit,
        );
    }
    if let Some(key) = LookupKey::from_index_key(kind, point) {
        return Ok(record(file, tenant, &key)?.into_iter().collect());
    }
    let IndexKey::Find(FindKey::Email(address)) = point else {
        return Err(StoreError::unexpected("an unknown key of an index"));
    };
    if table.sql.by_email.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = file.prepare_cached(&table.sql.by_email)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map((tenant, lookup::hash_email(address), limit), |row| {
        stored(table, row)
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn of_range(
    file: &Connection,
    kind: Kind,
    ordered: OrderedPages<'_>,
    range: &KeyRange,
) -> Result<RawPage> {
    let (table, tenant) = (table(kind), ordered.tenant);
    let sql = ranges(table, range.field)?;
    let (start, total) = match ordered.start() {
        OrderedPageStart::After(mark) => (Some((mark.key, mark.row)), mark.total),
        OrderedPageStart::Offset(position) => {
            let total = count(file, table, sql, tenant, range)?;
            let start = match position.checked_sub(1) {
                // If a range has no records, its ends may be in reverse order.
                None if total > 0 => Some((range.from.clone(), 0)),
                Some(before) if before < total => nth(file, sql, tenant, range, before)?,
                _ => None,
            };
            (start, total)
        }
    };
    let Some(start) = start else {
        return Ok(ordered.page_of_range(Vec::new(), total)?);
    };
    // One more than the page shows that others follow.
    let limit = u64::from(ordered.request.page.size).saturating_add(1);
    let found = after(file, table, sql, tenant, start, &range.to, limit)?;
    Ok(ordered.page_of_range(found, total)?)
}

/// Returns the first `limit` records after a key and a row, up to the key `last`.
fn after(
    file: &Connection,
    table: &'static SqliteTable,
    sql: &RangeStatements,
    tenant: i64,
    (key, row): (SortKey, i64),
    last: &SortKey,
    limit: u64,
) -> Result<Vec<StoredRecord>> {
    let mut found = Vec::new();
    let (key, row) = (value(&key), Value::Integer(row));
    for (sql, end) in [(&sql.same, row), (&sql.later, value(last))] {
        let limit = limit.saturating_sub(found.len() as u64);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut statement = file.prepare_cached(sql)?;
        let rows = statement.query_map((tenant, &key, &end, limit), |row| stored(table, row))?;
        found.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    Ok(found)
}

/// Returns the number of records in a range. The number of all records is already stored.
fn count(
    file: &Connection,
    table: &SqliteTable,
    sql: &RangeStatements,
    tenant: i64,
    range: &KeyRange,
) -> Result<u64> {
    if range.is_unbounded() {
        return Ok(records(file, tenant, table, None)?);
    }
    let number: i64 = file
        .prepare_cached(&sql.count)?
        .query_row((tenant, value(&range.from), value(&range.to)), |row| {
            row.get(0)
        })?;
    Ok(u64::try_from(number).unwrap_or_default())
}

/// Returns key and row of the record that has this many others before it.
fn nth(
    file: &Connection,
    sql: &RangeStatements,
    tenant: i64,
    range: &KeyRange,
    before: u64,
) -> Result<Option<(SortKey, i64)>> {
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let mut statement = file.prepare_cached(&sql.nth)?;
    let mut rows = statement.query((tenant, value(&range.from), value(&range.to), before))?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let key = match &range.from {
        SortKey::Date(_) => SortKey::Date(row.get(0)?),
        SortKey::Text(_) => SortKey::Text(row.get(0)?),
    };
    Ok(Some((key, row.get(1)?)))
}

fn value(key: &SortKey) -> Value {
    match key {
        SortKey::Date(micros) => Value::Integer(*micros),
        SortKey::Text(text) => Value::Text(text.clone()),
    }
}

fn ranges(table: &'static SqliteTable, field: FilterField) -> Result<&'static RangeStatements> {
    let sql = match field {
        FilterField::CreatedDate => &table.sql.created,
        FilterField::ModifiedDate => &table.sql.modified,
        field => {
            let of_text = table.sql.texts.iter().find(|(of, _)| *of == field);
            let Some((_, sql)) = of_text else {
                return Err(StoreError::unexpected("a range without a date or text"));
            };
            sql
        }
    };
    if sql.later.is_empty() {
        Err(Error::not_found().into())
    } else {
        Ok(sql)
    }
}

//! Conversion of the rows of a kind's table to records.

use bytes::BytesMut;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, types::FromSql};
use svc_core::{
    link::RecordAddress,
    model::Kind,
    raw::RawRecord,
    record::{ComputedValue, Identifiers, Meta},
    schema::ComputedSource,
    store::{RecordLocation, StoredRecord, Totals},
    value::{Id, Timestamp},
};
use svc_store::compare::ScanPage;

use crate::{
    record_id::RecordId,
    schema::{SqliteTable, table},
};

/// Number of columns before the links.
const FIXED: usize = 6;

/// Reads a row of [`Statements::get`](crate::statements::Statements::get) and similar statements,
/// with its row number. The body is copied into `bodies`, which the records of a page share.
pub(crate) fn read_raw(
    table: &SqliteTable,
    row: &Row<'_>,
    bodies: &mut BytesMut,
) -> rusqlite::Result<(i64, RawRecord)> {
    let mut meta = Meta::new(
        row.get::<_, RecordId>(1)?.to_id(),
        Timestamp::from_micros(row.get(2)?),
    );
    meta.modified = Timestamp::from_micros(row.get(3)?);
    meta.identifiers = Identifiers::from_stored(row.get(4)?);
    bodies.extend_from_slice(row.get_ref(5)?.as_bytes()?);
    let mut record = RawRecord::from_wire(table.kind, meta, bodies.split());
    let mut columns = ColumnReader { row, at: FIXED };
    let mut homes = ColumnReader {
        row,
        at: FIXED.saturating_add(table.columns.len()),
    };
    for column in table.columns {
        let link: Option<RecordId> = columns.next()?;
        let home: Option<RecordId> = if column.container_link().is_some() {
            homes.next()?
        } else {
            None
        };
        if let Some(id) = link {
            let parent = home.map(RecordId::to_id);
            record.add_link(
                column.name,
                RecordAddress::new(column.kind, id.to_id(), parent).into(),
            );
        }
    }
    for (name, source) in &table.computed {
        if let Some(value) = homes.computed(name, *source)? {
            record.add_computed(name, value);
        }
    }
    Ok((row.get(0)?, record))
}

/// Reads the columns after the fixed ones, one by one.
struct ColumnReader<'a, 'r> {
    row: &'a Row<'r>,
    at: usize,
}

impl ColumnReader<'_, '_> {
    fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let at = self.at;
        self.at = at.saturating_add(1);
        self.row.get(at)
    }

    fn next_text(&mut self) -> rusqlite::Result<Option<&str>> {
        let at = self.at;
        self.at = at.saturating_add(1);
        Ok(self.row.get_ref(at)?.as_str_or_null()?)
    }

    fn computed(
        &mut self,
        field: &str,
        source: ComputedSource,
    ) -> rusqlite::Result<Option<ComputedValue>> {
        Ok(match source {
            ComputedSource::AlwaysZero => Some(ComputedValue::Count(0)),
            ComputedSource::Relation(kind) => Some(ComputedValue::Relation(kind)),
            ComputedSource::Count(_) => Some(ComputedValue::Count(
                self.next::<Option<i64>>()?.unwrap_or_default(),
            )),
            ComputedSource::Measure(measure) => {
                let text = self.next_text()?.unwrap_or_default();
                Some(Totals::value_in(text, field, measure))
            }
            ComputedSource::ScheduledStart | ComputedSource::ScheduledStop => self
                .next::<Option<i64>>()?
                .map(|micros| ComputedValue::Timestamp(Timestamp::from_micros(micros))),
            // These values are in columns of every record, in the body, or nowhere.
            ComputedSource::Clock
            | ComputedSource::Part(_)
            | ComputedSource::Former(_)
            | ComputedSource::AlwaysAbsent => None,
        })
    }
}

/// Returns the record of a statement that returns at most one.
pub(crate) fn one(
    file: &Connection,
    table: &SqliteTable,
    sql: &str,
    parameters: &[&dyn ToSql],
) -> rusqlite::Result<Option<StoredRecord>> {
    file.prepare_cached(sql)?
        .query_row(parameters, |row| stored(table, row))
        .optional()
}

/// Returns the record in a row of a statement.
pub(crate) fn stored(table: &SqliteTable, row: &Row<'_>) -> rusqlite::Result<StoredRecord> {
    let (row, record) = read_raw(table, row, &mut BytesMut::new())?;
    Ok(StoredRecord::new(row, record))
}

/// Returns the record with this id, whatever its parent.
pub(crate) fn by_id(
    file: &Connection,
    tenant: i64,
    kind: Kind,
    id: &Id,
) -> rusqlite::Result<Option<StoredRecord>> {
    let Some(id) = RecordId::parse(id) else {
        return Ok(None);
    };
    let table = table(kind);
    one(file, table, &table.sql.get, &[&tenant, &id])
}

/// Returns the record in this row.
pub(crate) fn by_row(
    file: &Connection,
    tenant: i64,
    kind: Kind,
    seq: i64,
) -> rusqlite::Result<Option<StoredRecord>> {
    let table = table(kind);
    one(file, table, &table.sql.row, &[&tenant, &seq])
}

/// Approximate number of bytes of fields that are read together.
const BYTES: usize = 4 << 20;

/// Returns up to a number of records of a kind after a row, and whether they are the last ones.
pub(crate) fn records_after(
    file: &Connection,
    tenant: i64,
    kind: Kind,
    after: i64,
    most: usize,
) -> rusqlite::Result<ScanPage> {
    let (table, mut records, mut bytes) = (table(kind), Vec::new(), 0_usize);
    let mut statement = file.prepare_cached(&table.sql.every)?;
    let mut rows = statement.query((tenant, after, i64::try_from(most).unwrap_or(i64::MAX)))?;
    while let Some(row) = rows.next()? {
        let record = stored(table, row)?;
        bytes = bytes.saturating_add(record.record.wire_fields().len());
        records.push(record);
        if bytes >= BYTES {
            return Ok(ScanPage {
                records,
                is_last: false,
            });
        }
    }
    let is_last = records.len() < most;
    Ok(ScanPage { records, is_last })
}

/// Returns every record whose column refers to a record.
pub(crate) fn under(
    file: &Connection,
    table: &SqliteTable,
    column: usize,
    tenant: i64,
    owner: RecordId,
) -> rusqlite::Result<Vec<StoredRecord>> {
    let Some(sql) = table.sql.page_under.get(column) else {
        return Ok(Vec::new());
    };
    let mut statement = file.prepare_cached(sql)?;
    // Without a limit.
    let rows = statement.query_map((tenant, 0, -1, owner), |row| stored(table, row))?;
    rows.collect()
}

/// Returns the record at an address, or `None` if it does not exist or has another parent than the
/// address.
///
/// Requirements: COL-19.
pub(crate) fn raw_at(
    file: &Connection,
    tenant: i64,
    address: &RecordAddress,
) -> rusqlite::Result<Option<RawRecord>> {
    let stored = by_id(file, tenant, address.kind, &address.id)?;
    Ok(stored
        .map(|stored| stored.record)
        .filter(|record| address.matches_parent(record.parent())))
}

/// Returns what can be known of a record without reading its body.
pub(crate) fn find(
    file: &Connection,
    tenant: i64,
    kind: Kind,
    id: &Id,
) -> rusqlite::Result<Option<RecordLocation>> {
    let Some(known) = RecordId::parse(id) else {
        return Ok(None);
    };
    file.prepare_cached(&table(kind).sql.exists)?
        .query_row((tenant, known), |row| {
            let parent: Option<RecordId> = row.get(1)?;
            Ok(RecordLocation::new(
                kind,
                id.clone(),
                row.get(0)?,
                parent.map(RecordId::to_id),
            ))
        })
        .optional()
}

/// Returns what can be known of the record in a row without reading its body.
pub(crate) fn place(
    file: &Connection,
    tenant: i64,
    kind: Kind,
    seq: i64,
) -> rusqlite::Result<Option<RecordLocation>> {
    file.prepare_cached(&table(kind).sql.place)?
        .query_row((tenant, seq), |row| {
            let (id, parent): (RecordId, Option<RecordId>) = (row.get(0)?, row.get(1)?);
            Ok(RecordLocation::new(
                kind,
                id.to_id(),
                seq,
                parent.map(RecordId::to_id),
            ))
        })
        .optional()
}

/// Returns what can be known of the record with a unique name without reading its body.
pub(crate) fn place_of_name(
    file: &Connection,
    tenant: i64,
    kind: Kind,
    name: &str,
) -> rusqlite::Result<Option<RecordLocation>> {
    let sql = &table(kind).sql.place_of_name;
    if sql.is_empty() {
        return Ok(None);
    }
    file.prepare_cached(sql)?
        .query_row((tenant, name), |row| {
            let (id, parent): (RecordId, Option<RecordId>) = (row.get(1)?, row.get(2)?);
            let parent = parent.map(RecordId::to_id);
            Ok(RecordLocation::new(kind, id.to_id(), row.get(0)?, parent))
        })
        .optional()
}

/// Returns whether a record exists at an address.
pub(crate) fn is_at(
    file: &Connection,
    tenant: i64,
    address: &RecordAddress,
) -> rusqlite::Result<bool> {
    let found = find(file, tenant, address.kind, &address.id)?;
    Ok(found.is_some_and(|found| address.matches_parent(found.parent.as_ref())))
}

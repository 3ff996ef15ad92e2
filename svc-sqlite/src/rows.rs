//! Rows of a kind's table, as records on their way out and as what a write changes.

use bytes::BytesMut;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, types::FromSql};
use svc_core::{
    error::{Error, Result},
    link::{Address, ShareNames},
    model::Kind,
    read::{Json, Limits, Object},
    record::{Computed, Identifiers, Meta, RawRecord},
    schema::Source,
    value::{Amount, Timestamp},
};

use crate::{
    record_id::RecordId,
    schema::{Table, table},
};

/// A record as it lies in the file.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) kind: Kind,
    pub(crate) seq: i64,
    pub(crate) id: RecordId,
    pub(crate) created: Timestamp,
    pub(crate) modified: Timestamp,
    /// Elements of a JSON array of strings.
    pub(crate) identifiers: String,
    /// Members of a JSON object under wire names.
    pub(crate) body: Vec<u8>,
    /// One for each column of the table.
    pub(crate) links: Vec<Option<RecordId>>,
    /// One for each column whose records live under another: the id of that one.
    pub(crate) homes: Vec<Option<RecordId>>,
    /// One for each computed field that has a value.
    pub(crate) computed: Vec<(&'static str, Computed)>,
}

/// Columns in front of the links.
const FIXED: usize = 6;

/// Reads a row of [`Statements::get`](crate::statements::Statements::get) and its like.
pub(crate) fn read(table: &Table, row: &Row<'_>) -> rusqlite::Result<Stored> {
    let mut columns = Columns { row, at: FIXED };
    let mut links = Vec::with_capacity(table.columns.len());
    for _ in table.columns {
        links.push(columns.next()?);
    }
    let mut homes = Vec::new();
    for _ in table.columns.iter().filter(|column| column.home_link().is_some()) {
        homes.push(columns.next()?);
    }
    let mut computed = Vec::with_capacity(table.computed.len());
    for (name, source) in &table.computed {
        computed.extend(columns.computed(*source)?.map(|value| (*name, value)));
    }
    Ok(Stored {
        kind: table.kind,
        seq: row.get(0)?,
        id: row.get(1)?,
        created: Timestamp::from_micros(row.get(2)?),
        modified: Timestamp::from_micros(row.get(3)?),
        identifiers: row.get(4)?,
        body: row.get(5)?,
        links,
        homes,
        computed,
    })
}

/// Reads the same row ready for the wire, with its row number; the body is copied into `bodies`, which the records of a
/// page share.
pub(crate) fn read_raw(table: &Table, row: &Row<'_>, bodies: &mut BytesMut) -> rusqlite::Result<(i64, RawRecord)> {
    let mut meta = Meta::new(row.get::<_, RecordId>(1)?.to_id(), Timestamp::from_micros(row.get(2)?));
    meta.modified = Timestamp::from_micros(row.get(3)?);
    meta.identifiers = Identifiers::from_stored(row.get(4)?);
    bodies.extend_from_slice(row.get_ref(5)?.as_bytes()?);
    let mut record = RawRecord::stored(table.kind, meta, bodies.split());
    let mut columns = Columns { row, at: FIXED };
    let mut homes = Columns { row, at: FIXED.saturating_add(table.columns.len()) };
    for column in table.columns {
        let link: Option<RecordId> = columns.next()?;
        let home: Option<RecordId> = if column.home_link().is_some() { homes.next()? } else { None };
        if let Some(id) = link.filter(|_| column.is_link) {
            let parent = home.map(RecordId::to_id);
            record.add_link(column.name, Address { kind: column.kind, id: id.to_id(), parent }.into());
        }
    }
    for (name, source) in &table.computed {
        if let Some(value) = homes.computed(*source)? {
            record.add_computed(name, value);
        }
    }
    Ok((row.get(0)?, record))
}

/// The columns of a row behind the fixed ones, one by one.
struct Columns<'a, 'r> {
    row: &'a Row<'r>,
    at: usize,
}

impl Columns<'_, '_> {
    fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let at = self.at;
        self.at = at.saturating_add(1);
        self.row.get(at)
    }

    fn computed(&mut self, source: Source) -> rusqlite::Result<Option<Computed>> {
        Ok(match source {
            Source::Outside => Some(Computed::Count(0)),
            Source::Relation(kind) => Some(Computed::Relation(kind)),
            Source::Count(_) | Source::Accepted(_) | Source::Tickets(_) => {
                Some(Computed::Count(self.next::<Option<i64>>()?.unwrap_or_default()))
            }
            Source::Sum(_) => {
                let text: Option<String> = self.next()?;
                Some(Computed::Amount(text.as_deref().and_then(Amount::parse).unwrap_or_default()))
            }
            // Sent with every record, from its own columns.
            Source::Clock => None,
            Source::ScheduledStart | Source::ScheduledStop => {
                self.next::<Option<i64>>()?.map(|micros| Computed::Timestamp(Timestamp::from_micros(micros)))
            }
        })
    }
}

/// The record of a statement that gives at most one.
pub(crate) fn one(
    file: &Connection,
    table: &Table,
    sql: &str,
    parameters: &[&dyn ToSql],
) -> rusqlite::Result<Option<Stored>> {
    file.prepare_cached(sql)?.query_row(parameters, |row| read(table, row)).optional()
}

/// The record with this id, whatever its parent.
pub(crate) fn by_id(file: &Connection, tenant: i64, kind: Kind, id: RecordId) -> rusqlite::Result<Option<Stored>> {
    let table = table(kind);
    one(file, table, &table.sql.get, &[&tenant, &id])
}

/// The record in this row.
pub(crate) fn by_row(file: &Connection, tenant: i64, kind: Kind, seq: i64) -> rusqlite::Result<Option<Stored>> {
    let table = table(kind);
    one(file, table, &table.sql.row, &[&tenant, &seq])
}

/// The record at an address; `None` also when its parent is another than the address says (COL-19).
pub(crate) fn at(file: &Connection, tenant: i64, address: &Address) -> rusqlite::Result<Option<Stored>> {
    let Some(id) = RecordId::parse(&address.id) else { return Ok(None) };
    let stored = by_id(file, tenant, address.kind, id)?;
    Ok(stored.filter(|stored| admits(address, stored.parent())))
}

/// The record at an address, ready for the wire.
pub(crate) fn raw_at(file: &Connection, tenant: i64, address: &Address) -> rusqlite::Result<Option<RawRecord>> {
    let Some(id) = RecordId::parse(&address.id) else { return Ok(None) };
    let table = table(address.kind);
    let record = file
        .prepare_cached(&table.sql.get)?
        .query_row((tenant, id), |row| read_raw(table, row, &mut BytesMut::new()).map(|(_, record)| record))
        .optional()?;
    Ok(record.filter(|record| address.admits_parent(record.parent())))
}

/// What is known of a record without reading it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub(crate) seq: i64,
    pub(crate) id: RecordId,
    pub(crate) parent: Option<RecordId>,
}

/// Whether there is a record at an address.
pub(crate) fn find(file: &Connection, tenant: i64, address: &Address) -> rusqlite::Result<Option<Found>> {
    let Some(id) = RecordId::parse(&address.id) else { return Ok(None) };
    let found = file
        .prepare_cached(&table(address.kind).sql.exists)?
        .query_row((tenant, id), |row| Ok(Found { seq: row.get(0)?, id, parent: row.get(1)? }))
        .optional()?;
    Ok(found.filter(|found| admits(address, found.parent)))
}

fn admits(address: &Address, parent: Option<RecordId>) -> bool {
    match &address.parent {
        Some(wanted) => RecordId::parse(wanted).is_some_and(|wanted| Some(wanted) == parent),
        None => true,
    }
}

impl Stored {
    pub(crate) fn table(&self) -> &'static Table {
        table(self.kind)
    }

    /// Where a column leads.
    pub(crate) fn link(&self, name: &str) -> Option<RecordId> {
        self.links.get(self.table().column(name)?).copied().flatten()
    }

    /// Makes a column lead elsewhere, here and not in the file.
    pub(crate) fn set_link(&mut self, name: &str, to: Option<RecordId>) {
        let place = self.table().column(name);
        if let Some(link) = place.and_then(|place| self.links.get_mut(place)) {
            *link = to;
        }
    }

    /// The container it was created under.
    pub(crate) fn parent(&self) -> Option<RecordId> {
        self.links.get(self.table().parent?).copied().flatten()
    }

    /// The fields under the names of the tables.
    pub(crate) fn fields(&self, names: &ShareNames) -> Result<Object> {
        let mut text = Vec::with_capacity(self.body.len().saturating_add(2));
        text.push(b'{');
        text.extend_from_slice(&self.body);
        text.push(b'}');
        match Json::read(&text, &Limits::own()) {
            Ok(Json::Object(mut fields)) => {
                names.rename_from_wire(&mut fields);
                Ok(fields)
            }
            _ => Err(Error::unexpected("a stored record is not JSON")),
        }
    }

    /// The record, ready for the wire.
    pub(crate) fn into_raw(self) -> RawRecord {
        let table = self.table();
        let mut meta = Meta::new(self.id.to_id(), self.created).modified(self.modified);
        meta.identifiers = Identifiers::from_stored(self.identifiers);
        let mut record = RawRecord::stored(self.kind, meta, self.body);
        let mut homes = self.homes.into_iter();
        for (column, link) in table.columns.iter().zip(&self.links) {
            let home = if column.home_link().is_some() { homes.next().flatten() } else { None };
            let Some(id) = link.filter(|_| column.is_link) else { continue };
            let parent = home.map(RecordId::to_id);
            record.add_link(column.name, Address { kind: column.kind, id: id.to_id(), parent }.into());
        }
        for (name, value) in self.computed {
            record.add_computed(name, value);
        }
        record
    }
}

/// The bytes of a record's fields, ready for the wire.
pub(crate) fn body(fields: &Object, names: &ShareNames) -> Vec<u8> {
    let mut body = Vec::with_capacity(512);
    if names.is_default() {
        fields.write_members(&mut body);
    } else {
        let mut renamed = fields.clone();
        names.rename_to_wire(&mut renamed);
        renamed.write_members(&mut body);
    }
    body
}

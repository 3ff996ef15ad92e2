//! Pages of a collection, read by key: page 40 000 costs as much as page 2.
//!
//! Requirements: COL-20 to COL-31, UND-14, UND-19, UND-20.

use bytes::BytesMut;
use rusqlite::{Connection, OptionalExtension, ToSql};
use svc_core::{Error, link::Scope, model::Kind, raw::RawRecord};
use svc_store::offset_index::{CollectionKey, IndexLoad, collection_key};

use crate::{
    error::Result,
    lookups::records,
    record_id::RecordId,
    rows::read_raw,
    schema::{SqliteTable, table},
};

/// Approximate size of a record's fields in bytes.
const BODY: usize = 512;

/// A collection, in the form that the statements need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CollectionQuery {
    pub(crate) tenant: i64,
    members: &'static SqliteTable,
    /// The column and the record that it refers to, or `None` for all records.
    under: Option<(usize, Kind, RecordId)>,
}

/// The records of a page.
#[derive(Default)]
pub(crate) struct PageRows {
    pub(crate) records: Vec<RawRecord>,
    /// The row of the last record, if more follow.
    pub(crate) last: Option<i64>,
}

impl CollectionQuery {
    /// Returns the query for the collection of a kind in a scope.
    pub(crate) fn of(tenant: i64, kind: Kind, scope: &Scope) -> Result<Self> {
        let members = table(kind);
        let under = match scope {
            Scope::All => None,
            Scope::Under(address) => {
                let column = members
                    .scope_column(address.kind)
                    .ok_or_else(Error::not_found)?;
                Some((
                    column,
                    address.kind,
                    RecordId::parse(&address.id).ok_or_else(Error::not_found)?,
                ))
            }
        };
        Ok(Self {
            tenant,
            members,
            under,
        })
    }

    /// Returns the key of the collection.
    pub(crate) fn collection(&self) -> CollectionKey {
        let owner = self
            .under
            .as_ref()
            .map(|(_, kind, id)| (*kind, id.as_bytes()));
        collection_key(self.tenant, self.members.kind, owner)
    }

    /// Returns the number of records in the collection.
    pub(crate) fn total(&self, file: &Connection) -> rusqlite::Result<u64> {
        let owner = self.under.as_ref().map(|(_, kind, id)| (table(*kind), *id));
        records(file, self.tenant, self.members, owner)
    }

    /// Reads the records after a row, and whether more follow.
    pub(crate) fn read(&self, file: &Connection, after: i64, size: u32) -> Result<PageRows> {
        let sql = match self.under {
            None => Some(&self.members.sql.page),
            Some((column, ..)) => self.members.sql.page_under.get(column),
        };
        let sql = sql
            .filter(|text| !text.is_empty())
            .ok_or_else(Error::not_found)?;
        let mut statement = file.prepare_cached(sql)?;
        let limit = i64::from(size).saturating_add(1);
        let owner = self.under.map(|(.., id)| id);
        let mut parameters: Vec<&dyn ToSql> = vec![&self.tenant, &after, &limit];
        parameters.extend(owner.iter().map(|id| id as &dyn ToSql));
        let mut rows = statement.query(&*parameters)?;
        let mut bodies = BytesMut::with_capacity((size.min(100) as usize).saturating_mul(BODY));
        let mut records = Vec::with_capacity(size.min(1000) as usize);
        let mut last = None;
        while let Some(row) = rows.next()? {
            if records.len() >= size as usize {
                return Ok(PageRows { records, last });
            }
            let (seq, record) = read_raw(self.members, row, &mut bodies)?;
            last = Some(seq);
            records.push(record);
        }
        Ok(PageRows {
            records,
            last: None,
        })
    }

    /// Returns the row before the member with `position` members before it, or `None` after the
    /// last one.
    ///
    /// It counts through the collection. This is only for the rare page for which the index and the
    /// snapshot differ.
    pub(crate) fn after_position(&self, file: &Connection, position: u64) -> Result<Option<i64>> {
        let sql = format!("{} LIMIT 1 OFFSET :position", self.scan()?);
        let mut statement = file.prepare_cached(&sql)?;
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        let owner = self.under.map(|(.., id)| id);
        let mut parameters: Vec<&dyn ToSql> = vec![&self.tenant];
        parameters.extend(owner.iter().map(|id| id as &dyn ToSql));
        parameters.push(&position);
        let row: Option<i64> = statement
            .query_row(&*parameters, |row| row.get(0))
            .optional()?;
        Ok(row.map(|row| row.saturating_sub(1)))
    }

    /// Returns the statement that selects every row of the collection.
    fn scan(&self) -> Result<&'static str> {
        let sql = match self.under {
            None => Some(&self.members.sql.scan),
            Some((column, ..)) => self.members.sql.scan_under.get(column),
        };
        Ok(sql
            .filter(|text| !text.is_empty())
            .ok_or_else(Error::not_found)?)
    }

    /// Loads every row of the collection into the offset index of its pages.
    pub(crate) fn load(&self, file: &Connection, mut load: IndexLoad) -> Result<Option<i64>> {
        let mut statement = file.prepare_cached(self.scan()?)?;
        let owner = self.under.map(|(.., id)| id);
        let mut parameters: Vec<&dyn ToSql> = vec![&self.tenant];
        parameters.extend(owner.iter().map(|id| id as &dyn ToSql));
        let mut rows = statement.query(&*parameters)?;
        while let Some(row) = rows.next()? {
            load.insert(row.get(0)?);
        }
        Ok(load.finish()?)
    }
}

#[cfg(test)]
mod tests;

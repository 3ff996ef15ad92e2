//! Reading one record (COL-03), and looking one up (HAF-02, HAF-05, HAF-08, HLP-04).

use async_trait::async_trait;
use rusqlite::Connection;
use svc_core::{
    Find, FindKey, Get,
    context::Context,
    error::Result,
    helper::MatchKey,
    link::Address,
    model::{Kind, Resource},
    record::Record,
};

use crate::{
    identifiers::row_with,
    matching::person_with,
    rows::{Stored, by_row, one, raw_at},
    schema::table,
    store::Store,
};

#[async_trait]
impl<R: Resource> Get<R> for Store {
    async fn get(&self, cx: &Context, address: &Address) -> Result<Option<Record<R>>> {
        let tenant = self.tenant_in(cx)?;
        let address = Address { kind: R::KIND, ..address.clone() };
        let record = self.readers().with(|file| Ok(raw_at(file, tenant, &address)?))?;
        Ok(record.map(Record::from_raw))
    }
}

#[async_trait]
impl<R: Resource> Find<R> for Store {
    async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<Record<R>>> {
        let tenant = self.tenant_in(cx)?;
        let stored = self.readers().with(|file| Ok(with_key(file, tenant, R::KIND, key)?))?;
        Ok(stored.map(Stored::into_raw).map(Record::from_raw))
    }
}

/// The oldest record of a kind with this key.
pub(crate) fn with_key(file: &Connection, tenant: i64, kind: Kind, key: &FindKey) -> rusqlite::Result<Option<Stored>> {
    let table = table(kind);
    let row = match key {
        FindKey::Name(name) if table.has_unique_name() => {
            return one(file, table, &table.sql.typed, &[&tenant, name]);
        }
        FindKey::Match(MatchKey::Identifier(identifier)) => row_with(file, tenant, table, identifier)?,
        FindKey::Match(key) if kind == Kind::Person => person_with(file, tenant, key)?,
        _ => None,
    };
    row.map(|row| by_row(file, tenant, kind, row)).transpose().map(Option::flatten)
}

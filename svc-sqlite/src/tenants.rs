//! Tenants. Each has a name in the API and a number in the file.
//!
//! Requirements: AUT-02.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension};
use svc_core::{Tenant, link::RecordAddress, model::Kind, value::Timestamp};

use crate::{aliases, error::Result, read_pool::ReadPool, record_id::RecordId, schema::table};

/// Cached numbers of tenants. A tenant never changes its number, so entries do not expire.
#[derive(Debug, Default)]
pub(crate) struct TenantNumbers {
    known: Mutex<HashMap<Tenant, i64>>,
}

impl TenantNumbers {
    /// Returns the number of a tenant, from the cache after the first time. Returns `None` if the
    /// file does not have the tenant.
    pub(crate) fn number(&self, readers: &ReadPool, tenant: &Tenant) -> Result<Option<i64>> {
        if let Some(number) = self.lock().get(tenant) {
            return Ok(Some(*number));
        }
        let number = readers.with(|file| Ok(number(file, tenant)?))?;
        if let Some(number) = number {
            self.lock().insert(tenant.clone(), number);
        }
        Ok(number)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Tenant, i64>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the number of a tenant, or `None` if the file does not have it.
pub(crate) fn number(file: &Connection, tenant: &Tenant) -> rusqlite::Result<Option<i64>> {
    file.prepare_cached("SELECT id FROM tenant WHERE name = ?1")?
        .query_row([tenant.as_str()], |row| row.get(0))
        .optional()
}

/// Creates a tenant unless it exists.
pub(crate) fn make(file: &Connection, tenant: &Tenant, now: Timestamp) -> rusqlite::Result<()> {
    file.prepare_cached(
        "INSERT INTO tenant (name, created) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?
    .execute((tenant.as_str(), now.as_micros()))
    .map(drop)
}

/// Returns every tenant in the order of creation.
pub(crate) fn list(file: &Connection) -> rusqlite::Result<Vec<Tenant>> {
    let mut tenants = file.prepare_cached("SELECT name FROM tenant ORDER BY id")?;
    tenants
        .query_map((), |row| Ok(Tenant::new(row.get::<_, String>(0)?)))?
        .collect()
}

/// Returns the tenant of a container, for helper requests without a key. It is the only lookup that
/// does not start with the tenant, because it returns the tenant.
///
/// Requirements: HLP-07.
pub(crate) fn owner(
    file: &Connection,
    container: &RecordAddress,
) -> rusqlite::Result<Option<Tenant>> {
    let table = table(container.kind);
    let Some(id) = RecordId::parse(&container.id).filter(|_| table.is_container()) else {
        return Ok(None);
    };
    let mut owners = file.prepare_cached(&table.sql.owners)?;
    let mut owners = owners.query_map([id], |row| row.get::<_, String>(0))?;
    let Some(owner) = owners.next().transpose()? else {
        return match container.kind {
            Kind::Person => aliases::owner(file, id),
            _ => Ok(None),
        };
    };
    // Only imported data can give two tenants a record with the same id. The tenant is then
    // ambiguous.
    Ok(owners.next().is_none().then(|| Tenant::new(owner)))
}

#[cfg(test)]
mod tests {
    use svc_core::{auth::TenantResolver, model::Kind, raw::RawDraft, value::Id};

    use super::*;
    use crate::{SqliteOptions, SqliteStore};

    /// HLP-07: a container identifies its tenant. If imported data gave two tenants one id, it
    /// identifies neither.
    #[test]
    fn a_container_has_one_tenant() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(SqliteOptions::new(folder.path().join("data.db"))).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let [shared, own] = [
                "018f8d9e-0000-7000-8000-000000000001",
                "018f8d9e-0000-7000-8000-000000000002",
            ];
            let row = |kind, id| {
                svc_core::store::ImportedRecord::new(
                    Id::new(id).unwrap(),
                    Timestamp::from_micros(0),
                    RawDraft::empty(kind),
                )
            };
            for (tenant, ids) in [("one", &[shared, own][..]), ("two", &[shared])] {
                let tenant = store.ensure_tenant(tenant).await.unwrap();
                let kinds = [Kind::Petition, Kind::Person, Kind::Tag];
                let rows = ids
                    .iter()
                    .flat_map(|id| kinds.map(|kind| row(kind, *id)))
                    .collect();
                store.import_records(&tenant, rows).await.unwrap();
            }
            for (kind, found) in [
                (Kind::Petition, Some("one")),
                (Kind::Person, Some("one")),
                (Kind::Tag, None),
            ] {
                for (id, found) in [(own, found), (shared, None)] {
                    let address = RecordAddress::without_parent(kind, Id::new(id).unwrap());
                    let tenant = store.tenant_of(&address).await.unwrap();
                    assert_eq!(tenant.as_ref().map(Tenant::as_str), found, "{kind:?} {id}");
                }
            }
        });
    }
}

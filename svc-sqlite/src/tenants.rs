//! Tenants: each is a name outside and a number in the file (AUT-02).

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension};
use svc_core::Tenant;
use svc_core::error::{Error, Result};

use crate::store::Store;

/// Numbers of the tenants met so far; a tenant keeps its number for ever, so nothing here grows old.
#[derive(Debug, Default)]
pub(crate) struct Tenants {
    known: Mutex<HashMap<Tenant, i64>>,
}

impl Tenants {
    fn known(&self) -> MutexGuard<'_, HashMap<Tenant, i64>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of a tenant; `None` when the file does not have it.
pub(crate) fn id(file: &Connection, tenant: &Tenant) -> rusqlite::Result<Option<i64>> {
    file.prepare_cached("SELECT id FROM tenant WHERE name = ?1")?
        .query_row([tenant.as_str()], |row| row.get(0))
        .optional()
}

impl Store {
    /// Makes a tenant unless it exists (AUT-02).
    ///
    /// # Errors
    /// Storage trouble, or a name that is empty, longer than 64 bytes, or has control characters or spaces.
    pub async fn ensure_tenant(&self, name: &str) -> Result<Tenant> {
        if name.is_empty()
            || name.len() > 64
            || name.chars().any(|letter| letter.is_control() || letter.is_whitespace())
        {
            return Err(Error::unexpected(
                "a tenant's name has 1 to 64 bytes and neither spaces nor control characters",
            ));
        }
        let tenant = Tenant::new(name);
        if self.tenant_id(&tenant)?.is_none() {
            let (tenant, now) = (tenant.clone(), self.now().micros());
            let make = move |job: &mut crate::writer::Job<'_>| {
                job.prepare_cached("INSERT INTO tenant (name, created) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
                    .execute((tenant.as_str(), now))?;
                Ok(())
            };
            self.writer().run(None, make).await?;
        }
        Ok(tenant)
    }

    /// Every tenant, in the order in which they were made.
    ///
    /// # Errors
    /// Storage trouble.
    pub fn tenants(&self) -> Result<Vec<Tenant>> {
        self.readers().with(|file| {
            let mut tenants = file.prepare_cached("SELECT name FROM tenant ORDER BY id")?;
            let tenants = tenants.query_map((), |row| Ok(Tenant::new(row.get::<_, String>(0)?)))?;
            Ok(tenants.collect::<rusqlite::Result<_>>()?)
        })
    }

    /// The number of a tenant, from memory after the first time; `None` when the file does not have it.
    pub(crate) fn tenant_id(&self, tenant: &Tenant) -> Result<Option<i64>> {
        if let Some(id) = self.known_tenants().known().get(tenant) {
            return Ok(Some(*id));
        }
        let id = self.readers().with(|file| Ok(id(file, tenant)?))?;
        if let Some(id) = id {
            self.known_tenants().known().insert(tenant.clone(), id);
        }
        Ok(id)
    }
}

//! Tenants of a store, also those of helper calls without a key.
//!
//! Requirements: AUT-02, HLP-07.

use async_trait::async_trait;
use svc_core::{Error, Result, Tenant, auth::TenantResolver, link::RecordAddress};
use svc_store::new_tenant;

use super::SqliteStore;
use crate::tenants;

impl SqliteStore {
    /// Makes a tenant unless it exists.
    ///
    /// # Errors
    /// Storage trouble, or a name that is empty, longer than 64 bytes, or has control characters or
    /// spaces.
    ///
    /// Requirements: AUT-02.
    pub async fn ensure_tenant(&self, name: &str) -> Result<Tenant> {
        let tenant = new_tenant(name)?;
        if self
            .inner
            .tenants
            .number(self.readers(), &tenant)?
            .is_none()
        {
            let (tenant, now) = (tenant.clone(), self.now());
            self.writer()
                .run(None, move |job| Ok(tenants::make(job.file, &tenant, now)?))
                .await?;
        }
        Ok(tenant)
    }

    /// Every tenant, in the order in which they were made.
    ///
    /// # Errors
    /// Storage trouble.
    pub fn tenants(&self) -> Result<Vec<Tenant>> {
        Ok(self.readers().with(|file| Ok(tenants::list(file)?))?)
    }

    /// The number of the tenant that a request works on.
    pub(super) fn tenant(&self, tenant: &Tenant) -> Result<i64> {
        let number = self.inner.tenants.number(self.readers(), tenant)?;
        number.ok_or_else(|| Error::unexpected("this file has no such tenant"))
    }
}

#[async_trait]
impl TenantResolver for SqliteStore {
    async fn tenant_of(&self, container: &RecordAddress) -> Result<Option<Tenant>> {
        Ok(self
            .readers()
            .with(|file| Ok(tenants::owner(file, container)?))?)
    }
}

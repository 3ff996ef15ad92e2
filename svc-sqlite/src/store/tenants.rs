//! Tenants of a store, including the lookup of the tenant for helper requests without a key.
//!
//! Requirements: AUT-02, HLP-07.

use async_trait::async_trait;
use svc_core::{Error, Result, Tenant, auth::TenantResolver, link::RecordAddress};
use svc_store::parse_tenant;

use super::SqliteStore;
use crate::tenants;

impl SqliteStore {
    /// Creates a tenant unless it exists.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage fails. Also returns an error if the name is empty, is longer
    /// than 64 bytes, or has control characters or spaces.
    ///
    /// Requirements: AUT-02.
    pub async fn ensure_tenant(&self, name: &str) -> Result<Tenant> {
        let tenant = parse_tenant(name)?;
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

    /// Returns every tenant in the order of creation.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage fails.
    pub fn tenants(&self) -> Result<Vec<Tenant>> {
        Ok(self.readers().with(|file| Ok(tenants::list(file)?))?)
    }

    /// Returns the number of the tenant of a request.
    pub(super) fn tenant(&self, tenant: &Tenant) -> Result<i64> {
        let number = self.inner.tenants.number(self.readers(), tenant)?;
        number.ok_or_else(|| Error::unexpected("the tenant does not exist in this file"))
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

//! Export of the whole store, for another store.

use async_trait::async_trait;
use svc_core::{Result, Tenant, model::Kind};
use svc_store::{
    compare::{ScanPage, ScanRecords},
    keys::StoredKey,
    transfer::{ExportBatch, ExportPosition},
};

use super::SqliteStore;
use crate::{export, keys, metadata, rows};

impl SqliteStore {
    /// Returns a batch of a tenant's data as changes that another store applies.
    ///
    /// It starts at a position and has up to a number of records, all of one snapshot. Batches with
    /// the same [`clock`](ExportBatch::clock) are of the same snapshot.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage fails, or the tenant is unknown.
    pub fn export(
        &self,
        tenant: &Tenant,
        from: ExportPosition,
        most: usize,
    ) -> Result<ExportBatch> {
        let tenant = self.tenant(tenant)?;
        Ok(self
            .readers()
            .with(|file| export::batch(file, tenant, from, most))?)
    }

    /// Returns the number of records of a tenant, over all kinds.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage fails, or the tenant is unknown.
    pub fn count_records(&self, tenant: &Tenant) -> Result<u64> {
        let tenant = self.tenant(tenant)?;
        Ok(self.readers().with(|file| export::records(file, tenant))?)
    }

    /// Returns every key with its hash in the order of issue, including revoked ones.
    ///
    /// A store that imports them accepts the same tokens.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage fails.
    pub fn export_keys(&self) -> Result<Vec<StoredKey>> {
        Ok(self.readers().with(keys::issued)?)
    }

    /// Returns every mark with its name: see [`SqliteStore::set_metadata`].
    ///
    /// # Errors
    ///
    /// Returns an error if the storage fails.
    pub fn metadata_entries(&self) -> Result<Vec<(String, String)>> {
        Ok(self.readers().with(|file| Ok(metadata::marks(file)?))?)
    }
}

#[async_trait]
impl ScanRecords for SqliteStore {
    async fn scan(&self, tenant: &Tenant, kind: Kind, after: i64, most: u32) -> Result<ScanPage> {
        let tenant = self.tenant(tenant)?;
        Ok(self.readers().with(|file| {
            Ok(rows::records_after(
                file,
                tenant,
                kind,
                after,
                most as usize,
            )?)
        })?)
    }
}

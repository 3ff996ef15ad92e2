//! Everything of the store, for another one.

use async_trait::async_trait;
use svc_core::{Result, Tenant, model::Kind, store::StoredRecord};
use svc_store::{
    compare::ScanRecords,
    keys::StoredKey,
    transfer::{ExportBatch, ExportPosition},
};

use super::SqliteStore;
use crate::{export, keys, metadata, rows};

impl SqliteStore {
    /// A part of everything that a tenant has, as changes that another store applies: beginning at
    /// a position, with so many records at most, all of one moment. Parts whose
    /// [`clock`](ExportBatch::clock) is the same are of one moment together.
    ///
    /// # Errors
    /// Storage trouble, or an unknown tenant.
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

    /// How many records a tenant has, of all kinds.
    ///
    /// # Errors
    /// Storage trouble, or an unknown tenant.
    pub fn count_records(&self, tenant: &Tenant) -> Result<u64> {
        let tenant = self.tenant(tenant)?;
        Ok(self.readers().with(|file| export::records(file, tenant))?)
    }

    /// Every key with its hash, revoked ones too, in the order in which they were issued: the same
    /// tokens open another store that takes them over.
    ///
    /// # Errors
    /// Storage trouble.
    pub fn export_keys(&self) -> Result<Vec<StoredKey>> {
        Ok(self.readers().with(keys::issued)?)
    }

    /// Every mark with its name: see [`SqliteStore::set_metadata`].
    ///
    /// # Errors
    /// Storage trouble.
    pub fn metadata_entries(&self) -> Result<Vec<(String, String)>> {
        Ok(self.readers().with(|file| Ok(metadata::marks(file)?))?)
    }
}

#[async_trait]
impl ScanRecords for SqliteStore {
    async fn scan(
        &self,
        tenant: &Tenant,
        kind: Kind,
        after: i64,
        most: u32,
    ) -> Result<(Vec<StoredRecord>, bool)> {
        let tenant = self.tenant(tenant)?;
        Ok(self
            .readers()
            .with(|file| Ok(rows::records_after(file, tenant, kind, after, most as usize)?))?)
    }
}

//! Import of the data that another store has exported, unchanged and without the rules.

use async_trait::async_trait;
use svc_core::{Result, Tenant, model::Kind};
use svc_store::{
    compare::{ScanPage, ScanRecords},
    keys::{KeyError, KeyWebhooks, StoredKey},
    transfer::ExportBatch,
};

use super::PostgresStore;
use crate::{
    error,
    pipeline::{SqlQuery, values},
    rows::{self, code},
    transaction::restore::{RestorePart, remembered},
};

/// The prefix of the mark with the progress of a copy. The name of the tenant follows.
const COPY: &str = "restored.";

/// The progress of a copy into a tenant, from [`PostgresStore::restore_progress`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoreProgress {
    /// The mark of the last batch.
    pub mark: String,
    /// Whether nothing was written to the tenant since that batch.
    pub is_unchanged: bool,
}

impl PostgresStore {
    /// Writes a batch that another store has exported, completely or not at all, with a mark for
    /// the progress of the copy. An interrupted copy continues after that mark. Later writes get
    /// later dates than everything that was imported, and later than the `clock` of the batch.
    ///
    /// `before` is the mark of the previous batch, and `after` the new one. Before the first batch
    /// there is no mark, and the tenant is empty.
    ///
    /// # Errors
    ///
    /// Returns an error if another writer has written for the tenant, or if the database fails.
    pub async fn restore(
        &self,
        tenant: &Tenant,
        batch: &ExportBatch,
        before: Option<&str>,
        after: &str,
    ) -> Result<()> {
        let part = RestorePart {
            batch,
            name: &super::mark(&format!("{COPY}{}", tenant.as_str())),
            before,
            after,
        };
        Ok(self
            .database()
            .restore(self.tenant(tenant).await?, part)
            .await?)
    }

    /// Returns the progress of a copy. Returns `None` if there was no copy.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails, or the tenant is unknown.
    pub async fn restore_progress(&self, tenant: &Tenant) -> Result<Option<RestoreProgress>> {
        let name = super::mark(&format!("{COPY}{}", tenant.as_str()));
        let (seq, known) = self
            .database()
            .remembered_as(self.tenant(tenant).await?, &name)
            .await?;
        let Some(known) = known else { return Ok(None) };
        let mark = known.split_once(' ').map_or("", |(_, mark)| mark);
        Ok(Some(RestoreProgress {
            mark: mark.to_owned(),
            is_unchanged: remembered(seq, mark) == known,
        }))
    }

    /// Updates the statistics of the tables. After a large import, query plans are bad without it
    /// (a page takes seconds).
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn analyze(&self) -> Result<()> {
        for table in [
            "record",
            "identifier",
            "email",
            "text_key",
            "total",
            "part",
            "holder",
            "alias",
            "person_key",
            "shared_key",
            "apart",
            "merge",
            "outbox",
        ] {
            let text = format!("ANALYZE {}.{table}", self.database().options.schema);
            self.database()
                .query_one(None, SqlQuery::control(text))
                .await?;
        }
        Ok(())
    }

    /// Imports a key unchanged: its token is then valid for this store as well. A key that already
    /// exists is revoked if the imported one is.
    ///
    /// # Errors
    ///
    /// Returns [`KeyError::TokenInUse`] if another key has the same token. Also returns an error if
    /// the database fails, or the tenant is unknown.
    pub async fn restore_key(&self, key: &StoredKey) -> Result<(), KeyError> {
        let Some(known) = self.insert_key(key).await? else {
            return Ok(());
        };
        if key.info.revoked.is_some() && known.revoked.is_none() && known.id == key.info.id {
            self.revoke_key(&known.id, KeyWebhooks::Keep).await?;
        }
        if known.id == key.info.id {
            Ok(())
        } else {
            Err(KeyError::TokenInUse)
        }
    }
}

#[async_trait]
impl ScanRecords for PostgresStore {
    async fn scan(&self, tenant: &Tenant, kind: Kind, after: i64, most: u32) -> Result<ScanPage> {
        let number = self.tenant(tenant).await?;
        let page = values![number, code(kind), after, i64::from(most)];
        let rows = self
            .database()
            .query_one(
                Some(number),
                SqlQuery::new(&*self.database().texts.rows_of_all, page),
            )
            .await?;
        Ok(ScanPage {
            records: rows
                .iter()
                .map(|row| rows::stored(row, 0))
                .collect::<error::Result<_>>()?,
            is_last: rows.len() < most as usize,
        })
    }
}

//! What another store has exported, taken over as it is: no rule is asked.

use async_trait::async_trait;
use svc_core::{Result, Tenant, model::Kind, store::StoredRecord};
use svc_store::{
    compare::ScanRecords,
    keys::{KeyError, KeyWebhooks, StoredKey},
    transfer::ExportBatch,
};

use super::PostgresStore;
use crate::{
    error,
    pipeline::{SqlQuery, values},
    rows::{self, code},
    transaction::restore::remembered,
};

/// The mark that says how far a copy is, with the tenant's name behind it.
const COPY: &str = "restored.";

impl PostgresStore {
    /// Writes a part of what another store has exported, all or nothing of it, with a mark that
    /// says how far the copy is: whoever was interrupted goes on behind it. Later writes get later
    /// dates than anything that was brought, and than its `clock`.
    ///
    /// `marks` are the one that the part before has left, and the new one. Before the first part
    /// there is none, and the tenant is empty.
    ///
    /// # Errors
    ///
    /// Where anybody else has written for the tenant; trouble with the database.
    pub async fn restore(
        &self,
        tenant: &Tenant,
        part: &ExportBatch,
        marks: (Option<&str>, &str),
    ) -> Result<()> {
        let name = super::mark(&format!("{COPY}{}", tenant.as_str()));
        Ok(self
            .database()
            .restore(self.tenant(tenant).await?, (part, &name, marks))
            .await?)
    }

    /// The mark that the last part of a copy has left, and whether nobody has written since; `None`
    /// where there was no copy.
    ///
    /// # Errors
    ///
    /// Trouble with the database, or an unknown tenant.
    pub async fn restore_progress(&self, tenant: &Tenant) -> Result<Option<(String, bool)>> {
        let name = super::mark(&format!("{COPY}{}", tenant.as_str()));
        let (seq, known) = self
            .database()
            .remembered_as(self.tenant(tenant).await?, &name)
            .await?;
        let Some(known) = known else { return Ok(None) };
        let mark = known.split_once(' ').map_or("", |(_, mark)| mark);
        Ok(Some((mark.to_owned(), remembered(seq, mark) == known)))
    }

    /// Lets the database look at its tables: after much was brought at once it plans badly until it
    /// has (a page: seconds).
    ///
    /// # Errors
    ///
    /// Trouble with the database.
    pub async fn analyze(&self) -> Result<()> {
        for table in [
            "record",
            "identifier",
            "email",
            "total",
            "part",
            "holder",
            "outbox",
        ] {
            let text = format!("ANALYZE {}.{table}", self.database().options.schema);
            self.database().query_one(None, SqlQuery::control(text)).await?;
        }
        Ok(())
    }

    /// Takes a key over as it is: its token opens this store, too. One that is here already is
    /// revoked where the other one is.
    ///
    /// # Errors
    ///
    /// [`KeyError::TokenInUse`] where another key has the same token; trouble with the database, or
    /// an unknown tenant.
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
    async fn scan(
        &self,
        tenant: &Tenant,
        kind: Kind,
        after: i64,
        most: u32,
    ) -> Result<(Vec<StoredRecord>, bool)> {
        let number = self.tenant(tenant).await?;
        let page = values![number, code(kind), after, i64::from(most)];
        let rows = self
            .database()
            .query_one(
                Some(number),
                SqlQuery::new(&*self.database().texts.rows_of_all, page),
            )
            .await?;
        let read: Vec<StoredRecord> = rows
            .iter()
            .map(|row| rows::stored(row, 0))
            .collect::<error::Result<_>>()?;
        Ok((read, rows.len() < most as usize))
    }
}

//! What an operation works in: the transaction of its call, or a moment of its own to read.

use std::sync::Arc;

use async_trait::async_trait;
use svc_core::{Context, Result, Transactions, backend::SavepointAction};

use super::client::Transaction;
use super::existing::Crm;

#[async_trait]
impl Transactions for Crm {
    type Open = Transaction;

    /// With the lock that all writers share: keys need no locks of their own.
    async fn begin(&self, _: &Context) -> Result<Transaction> {
        Ok(self.pool.begin().await?)
    }

    async fn savepoint(&self, open: &Transaction, savepoint: SavepointAction) -> Result<()> {
        Ok(open.batch_execute(savepoint.sql()).await?)
    }

    async fn commit(&self, open: Transaction) -> Result<()> {
        Ok(open.commit().await?)
    }
}

impl Crm {
    /// What an operation works in: a read that a client asks for is in no transaction of the
    /// library's.
    pub(super) async fn tx(&self, cx: &Context) -> Result<Arc<Transaction>> {
        match <Self as Transactions>::current(cx) {
            Some(open) => Ok(open),
            None => Ok(Arc::new(self.pool.snapshot().await?)),
        }
    }
}

//! The transactions of operations: that of the request, or a snapshot for reading.

use std::sync::Arc;

use async_trait::async_trait;
use svc_core::{Context, Result, Transactions, backend::SavepointAction};

use super::client::Transaction;
use super::existing::Crm;

#[async_trait]
impl Transactions for Crm {
    type Open = Transaction;

    /// With the lock that all writers share, so that keys need no locks of their own.
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
    /// Returns the transaction of an operation. A read by a client is not in a transaction of the
    /// library.
    pub(super) async fn tx(&self, cx: &Context) -> Result<Arc<Transaction>> {
        match <Self as Transactions>::current(cx) {
            Some(open) => Ok(open),
            None => Ok(Arc::new(self.pool.snapshot().await?)),
        }
    }
}

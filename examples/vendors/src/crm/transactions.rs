//! What an operation works in: the transaction of its helper call, or one of its own.

use std::sync::Arc;

use async_trait::async_trait;
use svc_core::{Context, Result, Transactions};

use super::client::Transaction;
use super::existing::Crm;

#[async_trait]
impl Transactions for Crm {
    type Open = Transaction;

    async fn begin(&self, _: &Context) -> Result<Transaction> {
        Ok(self.pool.begin().await?)
    }

    async fn commit(&self, open: Transaction) -> Result<()> {
        Ok(open.commit().await?)
    }
}

impl Crm {
    /// For an operation that only reads.
    pub(super) async fn reading(&self, cx: &Context) -> Result<Arc<Transaction>> {
        match cx.transaction::<Self>() {
            Some(open) => Ok(open),
            None => Ok(Arc::new(self.pool.snapshot().await?)),
        }
    }

    /// For an operation that writes; without a commit nothing of it stays.
    pub(super) async fn writing(&self, cx: &Context) -> Result<Transaction> {
        match cx.transaction::<Self>() {
            Some(open) => Ok(open.savepoint().await?),
            None => Ok(self.pool.begin().await?),
        }
    }
}

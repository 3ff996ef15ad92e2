//! The outbox of the store.
//!
//! Requirements: HAF-11, SCH-01.

use svc_core::{
    Result,
    backend::Subscription,
    store::{ClaimedEntries, Outbox, OutboxClaim},
    value::Timestamp,
};

use super::SqliteStore;
use crate::outbox;

#[async_trait::async_trait]
impl Outbox for SqliteStore {
    async fn claim_due(
        &self,
        now: Timestamp,
        until: Timestamp,
        most: u32,
    ) -> Result<ClaimedEntries> {
        // If nothing is due, nothing is written and no transaction is needed.
        let next = self.readers().with(outbox::next)?;
        if next.is_none_or(|next| next > now) {
            return Ok(ClaimedEntries::new(Vec::new(), next));
        }
        Ok(self
            .writer()
            .run(None, move |job| outbox::claim(job.file, now, until, most))
            .await?)
    }

    async fn complete(&self, claim: &OutboxClaim) -> Result<()> {
        let row = claim.row;
        Ok(self
            .writer()
            .run(None, move |job| outbox::done(job.file, row))
            .await?)
    }

    async fn reschedule(&self, claim: &OutboxClaim, at: Timestamp) -> Result<()> {
        let (row, attempts) = (claim.row, claim.attempts);
        Ok(self
            .writer()
            .run(None, move |job| {
                outbox::reschedule(job.file, row, attempts, at)
            })
            .await?)
    }

    fn subscribe(&self) -> Subscription {
        self.inner.outgoing.subscribe(())
    }
}

//! The outbox in memory.

use async_trait::async_trait;
use svc_core::{
    backend::{OutboxEntry, Subscription},
    error::Result,
    store::{ClaimedEntries, Outbox, OutboxClaim},
    value::Timestamp,
};

use super::MemoryStore;

/// An outbox entry until it is delivered.
#[derive(Debug, Clone)]
pub(super) struct QueuedEntry {
    pub(super) dispatch: OutboxEntry,
    due: Timestamp,
    attempts: u32,
}

impl QueuedEntry {
    pub(super) fn new(dispatch: OutboxEntry) -> Self {
        Self {
            due: dispatch.due_at(),
            attempts: 0,
            dispatch,
        }
    }
}

#[async_trait]
impl Outbox for MemoryStore {
    async fn claim_due(
        &self,
        now: Timestamp,
        until: Timestamp,
        most: u32,
    ) -> Result<ClaimedEntries> {
        let mut tenants = self.tenants();
        let mut all: Vec<_> = tenants
            .iter_mut()
            .flat_map(|(tenant, tables)| {
                tables
                    .outbox
                    .iter_mut()
                    .map(move |(row, waiting)| (tenant, row, waiting))
            })
            .collect();
        all.sort_by_key(|(_, row, waiting)| (waiting.due, **row));
        let mut claims = Vec::new();
        for (tenant, row, waiting) in all
            .iter_mut()
            .filter(|(.., waiting)| waiting.due <= now)
            .take(most as usize)
        {
            waiting.due = until;
            waiting.attempts = waiting.attempts.saturating_add(1);
            claims.push(OutboxClaim::new(
                tenant.clone(),
                **row,
                waiting.attempts,
                waiting.dispatch.clone(),
            ));
        }
        Ok(ClaimedEntries::new(
            claims,
            all.iter().map(|(.., waiting)| waiting.due).min(),
        ))
    }

    async fn complete(&self, claim: &OutboxClaim) -> Result<()> {
        if let Some(tables) = self.tenants().get_mut(&claim.tenant) {
            tables.outbox.remove(&claim.row);
        }
        Ok(())
    }

    async fn reschedule(&self, claim: &OutboxClaim, at: Timestamp) -> Result<()> {
        let mut tenants = self.tenants();
        let waiting = tenants
            .get_mut(&claim.tenant)
            .and_then(|tables| tables.outbox.get_mut(&claim.row));
        if let Some(waiting) = waiting.filter(|waiting| waiting.attempts == claim.attempts) {
            waiting.due = at;
        }
        Ok(())
    }

    fn subscribe(&self) -> Subscription {
        self.shared.outgoing.subscribe(())
    }
}

//! The webhooks of all tenants.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use svc_core::{
    backend::{StoredWebhook, WebhookStore, WebhookWrite},
    context::Tenant,
    error::Result,
    value::{Id, Timestamp},
    webhooks::MAX_WEBHOOKS,
};

use super::MemoryStore;

/// The webhooks by id, with their tenant.
pub(super) type WebhookMap = Mutex<BTreeMap<Id, (Tenant, StoredWebhook)>>;

impl MemoryStore {
    fn lock_webhooks<T>(
        &self,
        read: impl FnOnce(&mut BTreeMap<Id, (Tenant, StoredWebhook)>) -> T,
    ) -> T {
        // No code panics while it holds the lock.
        read(
            &mut self
                .shared
                .webhooks
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

#[async_trait]
impl WebhookStore for MemoryStore {
    async fn list_webhooks(&self, tenant: &Tenant) -> Result<Vec<StoredWebhook>> {
        Ok(self.lock_webhooks(|kept| {
            kept.values()
                .filter(|(of, _)| of == tenant)
                .map(|(_, webhook)| webhook.clone())
                .collect()
        }))
    }

    async fn get_webhook(&self, tenant: &Tenant, id: &Id) -> Result<Option<StoredWebhook>> {
        Ok(self.lock_webhooks(|kept| {
            kept.get(id)
                .filter(|(of, _)| of == tenant)
                .map(|(_, webhook)| webhook.clone())
        }))
    }

    async fn put_webhook(&self, tenant: &Tenant, webhook: &StoredWebhook) -> Result<WebhookWrite> {
        Ok(self.lock_webhooks(|kept| {
            let before = kept.get(&webhook.id).map_or(Some(0), |(of, known)| {
                (of == tenant).then_some(known.version)
            });
            if before.is_none_or(|before| webhook.version.checked_sub(1) != Some(before)) {
                return WebhookWrite::Conflict;
            }
            if before == Some(0)
                && kept.values().filter(|(of, _)| of == tenant).count() >= MAX_WEBHOOKS
            {
                return WebhookWrite::LimitReached;
            }
            kept.insert(webhook.id.clone(), (tenant.clone(), webhook.clone()));
            WebhookWrite::Written
        }))
    }

    async fn delete(&self, tenant: &Tenant, id: &Id) -> Result<bool> {
        Ok(self.lock_webhooks(|kept| {
            let is_there = kept.get(id).is_some_and(|(of, _)| of == tenant);
            is_there.then(|| kept.remove(id)).is_some()
        }))
    }

    async fn list_due_webhooks(
        &self,
        now: Timestamp,
        after: Option<&Id>,
        most: u32,
    ) -> Result<Vec<(Tenant, StoredWebhook)>> {
        let is_due = |webhook: &StoredWebhook| webhook.due_at.is_some_and(|next| next <= now);
        Ok(self.lock_webhooks(|kept| {
            let behind = kept.iter().filter(|(id, (_, webhook))| {
                after.is_none_or(|after| *id > after) && is_due(webhook)
            });
            behind
                .take(most as usize)
                .map(|(_, found)| found.clone())
                .collect()
        }))
    }
}

//! The storage of webhooks.
//!
//! Requirements: HOOK-01 to HOOK-16.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;

use crate::{
    auth::Tenant,
    error::Result,
    value::{Id, Timestamp},
};

/// A stored webhook: a document, and when it is due.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredWebhook {
    /// The id, a UUID.
    pub id: Id,
    /// The version: 1 for a new webhook, and one more with each write.
    pub version: i64,
    /// When the webhook is due next; `None` if it does not send.
    pub due_at: Option<Timestamp>,
    /// The document: JSON of at most some tens of thousands of bytes. It contains secrets.
    pub document: Bytes,
}

impl StoredWebhook {
    /// Creates the webhook that a store has read.
    #[must_use]
    pub fn new(id: Id, version: i64, next: Option<Timestamp>, body: Bytes) -> Self {
        Self {
            id,
            version,
            due_at: next,
            document: body,
        }
    }
}

impl fmt::Debug for StoredWebhook {
    /// Omits the document, because it contains secrets.
    ///
    /// Requirements: HOOK-02.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            id,
            version,
            due_at: next,
            ..
        } = self;
        f.debug_struct("StoredWebhook")
            .field("id", id)
            .field("version", version)
            .field("next", next)
            .finish_non_exhaustive()
    }
}

/// The result of [`WebhookStore::put_webhook`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum WebhookWrite {
    /// The document is stored.
    Written,
    /// The stored version is not the previous one. Nothing was written.
    Conflict,
    /// The tenant has [`MAX_WEBHOOKS`](crate::webhooks::MAX_WEBHOOKS) webhooks. Nothing was
    /// written.
    LimitReached,
}

/// Stores webhooks. Register it with [`ApiBuilder::webhooks`](crate::ApiBuilder::webhooks).
///
/// # Behaviour
///
/// - A document is read, written and deleted only for the tenant that owns it.
/// - A write whose version does not follow the stored one changes nothing and returns
///   [`WebhookWrite::Conflict`]. So only one of several senders can claim a webhook, and no write
///   overwrites a concurrent one.
/// - A tenant never has more than [`MAX_WEBHOOKS`](crate::webhooks::MAX_WEBHOOKS) webhooks: the
///   store counts them in the transaction that writes version 1.
/// - A table of five columns is sufficient: tenant, id, version, next and body, with an index on
///   `next`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not store webhooks",
    label = "missing `impl WebhookStore for {Self}`",
    note = "implement `svc_core::backend::WebhookStore` for it, or do not call `.webhooks(...)`: the server then offers no webhooks"
)]
#[async_trait]
pub trait WebhookStore: Send + Sync {
    /// Returns all webhooks of a tenant, ordered by id.
    async fn list_webhooks(&self, tenant: &Tenant) -> Result<Vec<StoredWebhook>>;

    /// Returns a webhook of a tenant.
    async fn get_webhook(&self, tenant: &Tenant, id: &Id) -> Result<Option<StoredWebhook>>;

    /// Writes a webhook and replaces its previous version. Version 1 creates it.
    async fn put_webhook(&self, tenant: &Tenant, webhook: &StoredWebhook) -> Result<WebhookWrite>;

    /// Deletes a webhook. Returns `false` if it does not exist.
    async fn delete(&self, tenant: &Tenant, id: &Id) -> Result<bool>;

    /// Returns the webhooks of all tenants that are due at `now`, ordered by id.
    ///
    /// Returns at most `most` webhooks whose id is greater than `after`.
    async fn list_due_webhooks(
        &self,
        now: Timestamp,
        after: Option<&Id>,
        most: u32,
    ) -> Result<Vec<(Tenant, StoredWebhook)>>;
}

#[async_trait]
impl<T: WebhookStore + ?Sized> WebhookStore for Arc<T> {
    async fn list_webhooks(&self, tenant: &Tenant) -> Result<Vec<StoredWebhook>> {
        (**self).list_webhooks(tenant).await
    }

    async fn get_webhook(&self, tenant: &Tenant, id: &Id) -> Result<Option<StoredWebhook>> {
        (**self).get_webhook(tenant, id).await
    }

    async fn put_webhook(&self, tenant: &Tenant, webhook: &StoredWebhook) -> Result<WebhookWrite> {
        (**self).put_webhook(tenant, webhook).await
    }

    async fn delete(&self, tenant: &Tenant, id: &Id) -> Result<bool> {
        (**self).delete(tenant, id).await
    }

    async fn list_due_webhooks(
        &self,
        now: Timestamp,
        after: Option<&Id>,
        most: u32,
    ) -> Result<Vec<(Tenant, StoredWebhook)>> {
        (**self).list_due_webhooks(now, after, most).await
    }
}

//! Where webhooks are kept.
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

/// A webhook as it is kept: a document, and the moment to look after it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredWebhook {
    /// Its id, a UUID.
    pub id: Id,
    /// How often it was written, from 1.
    pub version: i64,
    /// When to look after it next; `None` for one that does not send.
    pub due_at: Option<Timestamp>,
    /// The document: JSON of at most some tens of thousands of bytes. It holds secrets.
    pub document: Bytes,
}

impl StoredWebhook {
    /// What a store has read.
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
    /// Without the document, in which the secrets are.
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
    /// The stored version is not the one before. Nothing was written.
    Conflict,
    /// The tenant has [`MOST_WEBHOOKS`](crate::webhook::MOST_WEBHOOKS) webhooks. Nothing was
    /// written.
    LimitReached,
}

/// Keeps webhooks; [`ApiBuilder::webhooks`](crate::ApiBuilder::webhooks) offers them.
///
/// # Behaviour
///
/// - A document of a tenant is read, written and deleted for that tenant only.
/// - A write whose version does not follow the stored one changes nothing and returns
///   [`WebhookWrite::Conflict`]. Several senders thereby agree which of them has a webhook, and no
///   write undoes a concurrent one.
/// - A tenant never has more than [`MOST_WEBHOOKS`](crate::webhook::MOST_WEBHOOKS) webhooks: the
///   store counts them in the transaction that writes version 1.
/// - A table of five columns does: tenant, id, version, next and body, with an index on `next`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not keep webhooks",
    label = "missing `impl WebhookStore for {Self}`",
    note = "implement `svc_core::ops::Webhooks` for it, or leave `.webhooks(...)` out: there are no webhooks then"
)]
#[async_trait]
pub trait WebhookStore: Send + Sync {
    /// Every webhook of a tenant, in the order of their ids.
    async fn list_webhooks(&self, tenant: &Tenant) -> Result<Vec<StoredWebhook>>;

    /// One of them.
    async fn get_webhook(&self, tenant: &Tenant, id: &Id) -> Result<Option<StoredWebhook>>;

    /// Writes a webhook in place of the version before it. Version 1 creates it.
    async fn put_webhook(&self, tenant: &Tenant, webhook: &StoredWebhook) -> Result<WebhookWrite>;

    /// Deletes a webhook; `false` where there is none.
    async fn delete_webhook(&self, tenant: &Tenant, id: &Id) -> Result<bool>;

    /// Those of all tenants whose moment has come, by their ids: so many behind this one.
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

    async fn delete_webhook(&self, tenant: &Tenant, id: &Id) -> Result<bool> {
        (**self).delete_webhook(tenant, id).await
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

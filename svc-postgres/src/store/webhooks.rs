//! Webhooks in the database.
//!
//! Requirements: HOOK-01 to HOOK-16.

use async_trait::async_trait;
use svc_core::{
    Result, Tenant,
    backend::{StoredWebhook, WebhookStore, WebhookWrite},
    value::{Id, Timestamp},
};
use tokio_postgres::Row;
use uuid::Uuid;

use super::PostgresStore;
use crate::{
    cluster::Topology,
    error::{self, StoreError},
    lease::Look,
    pipeline::{SqlQuery, SqlValue, values},
};

impl PostgresStore {
    /// Returns the result of a statement about the webhooks of a tenant. It never uses a replica,
    /// because the latest writes are needed.
    async fn of_webhooks(
        &self,
        text: &str,
        tenant: i64,
        more: Vec<SqlValue>,
    ) -> error::Result<Vec<Row>> {
        let values = std::iter::once(SqlValue::from(tenant))
            .chain(more)
            .collect();
        Ok(self
            .database()
            .read_first(tenant, vec![SqlQuery::new(text, values)])
            .await?
            .pop()
            .unwrap_or_default())
    }
}

#[async_trait]
impl WebhookStore for PostgresStore {
    async fn list_webhooks(&self, tenant: &Tenant) -> Result<Vec<StoredWebhook>> {
        let (tenant, text) = (self.tenant(tenant).await?, &self.database().texts.webhooks);
        let rows = self.of_webhooks(text, tenant, Vec::new()).await?;
        Ok(rows
            .iter()
            .map(|row| webhook(row, 0))
            .collect::<error::Result<_>>()?)
    }

    async fn get_webhook(&self, tenant: &Tenant, id: &Id) -> Result<Option<StoredWebhook>> {
        let (tenant, text) = (self.tenant(tenant).await?, &self.database().texts.webhook);
        let Some(id) = id.as_uuid() else {
            return Ok(None);
        };
        let rows = self.of_webhooks(text, tenant, values![id]).await?;
        Ok(rows.first().map(|row| webhook(row, 0)).transpose()?)
    }

    async fn put_webhook(&self, tenant: &Tenant, webhook: &StoredWebhook) -> Result<WebhookWrite> {
        let (name, tenant, texts) = (tenant, self.tenant(tenant).await?, &self.database().texts);
        let id = webhook
            .id
            .as_uuid()
            .ok_or_else(|| StoreError::unexpected("the id of a webhook is not a UUID"))?;
        let values = values![
            id,
            webhook.version,
            webhook.due_at.map(Timestamp::as_micros),
            webhook.document.to_vec()
        ];
        if webhook.version != 1 {
            let written = self
                .of_webhooks(&texts.write_webhook, tenant, values)
                .await?;
            self.inner.webhooks.ask_now(self.database()).await;
            return Ok(if written.is_empty() {
                WebhookWrite::Conflict
            } else {
                WebhookWrite::Written
            });
        }
        // The lock comes first: concurrent creations are counted one after another.
        let values = std::iter::once(SqlValue::from(tenant))
            .chain(values)
            .collect();
        let queries = vec![
            SqlQuery::new(&texts.lock, values![tenant]),
            SqlQuery::new(&texts.make_webhook, values),
        ];
        if self
            .database()
            .transaction_of(tenant, queries)
            .await?
            .pop()
            .is_some_and(|created| !created.is_empty())
        {
            self.inner.webhooks.ask_now(self.database()).await;
            return Ok(WebhookWrite::Written);
        }
        Ok(match self.get_webhook(name, &webhook.id).await? {
            // The response to an earlier attempt was lost.
            Some(stored) if stored == *webhook => WebhookWrite::Written,
            Some(_) => WebhookWrite::Conflict,
            None => WebhookWrite::LimitReached,
        })
    }

    async fn delete(&self, tenant: &Tenant, id: &Id) -> Result<bool> {
        let (tenant, text) = (
            self.tenant(tenant).await?,
            &self.database().texts.delete_webhook,
        );
        let Some(id) = id.as_uuid() else {
            return Ok(false);
        };
        Ok(!self
            .of_webhooks(text, tenant, values![id])
            .await?
            .is_empty())
    }

    async fn list_due_webhooks(
        &self,
        now: Timestamp,
        after: Option<&Id>,
        most: u32,
    ) -> Result<Vec<(Tenant, StoredWebhook)>> {
        let lookout = &self.inner.webhooks;
        if after.is_none() && lookout.may_look(self.database(), now).await? != Look::Now {
            return Ok(Vec::new());
        }
        let is_first = after.is_none();
        let after = after.and_then(Id::as_uuid).unwrap_or(Uuid::nil());
        let query = SqlQuery::new(
            &*self.database().texts.due_webhooks,
            values![now.as_micros(), after, i64::from(most)],
        );
        let rows = self.database().query_one(None, query).await?;
        if is_first && rows.is_empty() && self.database().topology == Topology::Cluster {
            let next = SqlQuery::new(
                &*self.database().texts.next_webhook,
                values![now.as_micros()],
            );
            let next = self.database().query_one(None, next).await?;
            let next: Option<i64> = next
                .first()
                .map(|row| row.try_get(0))
                .transpose()
                .map_err(StoreError::from)?
                .flatten();
            lookout
                .found_nothing(now, next.map(Timestamp::from_micros))
                .await;
        }
        let found = |row: &Row| Ok((Tenant::new(row.try_get::<_, String>(0)?), webhook(row, 1)?));
        Ok(rows.iter().map(found).collect::<error::Result<_>>()?)
    }
}

/// Reads a webhook from the columns of a row, starting at a column.
fn webhook(row: &Row, from: usize) -> error::Result<StoredWebhook> {
    let id: Uuid = row.try_get(from)?;
    let next = row
        .try_get::<_, Option<i64>>(from + 2)?
        .map(Timestamp::from_micros);
    Ok(StoredWebhook::new(
        id.into(),
        row.try_get(from + 1)?,
        next,
        row.try_get::<_, Vec<u8>>(from + 3)?.into(),
    ))
}

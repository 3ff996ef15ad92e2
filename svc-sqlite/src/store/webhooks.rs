//! Webhooks in the file.
//!
//! Requirements: HOOK-01 to HOOK-16.

use rusqlite::{Connection, OptionalExtension, Row};
use svc_core::{
    Result, Tenant,
    backend::{StoredWebhook, WebhookStore, WebhookWrite},
    value::{Id, Timestamp},
    webhooks::MAX_WEBHOOKS,
};

use super::SqliteStore;
use crate::{record_id::RecordId, writer::WriteTransaction};

#[async_trait::async_trait]
impl WebhookStore for SqliteStore {
    async fn list_webhooks(&self, tenant: &Tenant) -> Result<Vec<StoredWebhook>> {
        let tenant = self.tenant(tenant)?;
        let sql = "SELECT id, version, next, body FROM webhook WHERE tenant = ?1 ORDER BY id";
        Ok(self.readers().with(|file| {
            let mut statement = file.prepare_cached(sql)?;
            Ok(statement
                .query_map([tenant], |row| webhook(row, 0))?
                .collect::<rusqlite::Result<_>>()?)
        })?)
    }

    async fn get_webhook(&self, tenant: &Tenant, id: &Id) -> Result<Option<StoredWebhook>> {
        let (tenant, Some(id)) = (self.tenant(tenant)?, RecordId::parse(id)) else {
            return Ok(None);
        };
        let sql = "SELECT id, version, next, body FROM webhook WHERE tenant = ?1 AND id = ?2";
        Ok(self.readers().with(|file| {
            Ok(file
                .prepare_cached(sql)?
                .query_row((tenant, id), |row| webhook(row, 0))
                .optional()?)
        })?)
    }

    async fn put_webhook(&self, tenant: &Tenant, webhook: &StoredWebhook) -> Result<WebhookWrite> {
        let (tenant, webhook) = (self.tenant(tenant)?, webhook.clone());
        let id = RecordId::try_parse(&webhook.id)?;
        let write =
            move |job: &mut WriteTransaction<'_>| Ok(write(job.file, tenant, id, &webhook)?);
        Ok(self.writer().run_for(tenant, None, write, true).await?)
    }

    async fn delete(&self, tenant: &Tenant, id: &Id) -> Result<bool> {
        let (tenant, Some(id)) = (self.tenant(tenant)?, RecordId::parse(id)) else {
            return Ok(false);
        };
        let sql = "DELETE FROM webhook WHERE tenant = ?1 AND id = ?2";
        let delete =
            move |file: &Connection| Ok(file.prepare_cached(sql)?.execute((tenant, id))? > 0);
        Ok(self
            .writer()
            .run_for(tenant, None, move |job| delete(job.file), true)
            .await?)
    }

    async fn list_due_webhooks(
        &self,
        now: Timestamp,
        after: Option<&Id>,
        most: u32,
    ) -> Result<Vec<(Tenant, StoredWebhook)>> {
        let after = after.map(RecordId::try_parse).transpose()?;
        // Over all tenants: one sender serves all of them.
        let sql = "SELECT t.name, h.id, h.version, h.next, h.body FROM webhook h JOIN tenant t ON t.id = h.tenant
                   WHERE h.next <= ?1 AND (?2 IS NULL OR h.id > ?2) ORDER BY h.id LIMIT ?3";
        let found = |row: &Row<'_>| Ok((Tenant::new(row.get::<_, String>(0)?), webhook(row, 1)?));
        Ok(self.readers().with(|file| {
            let mut statement = file.prepare_cached(sql)?;
            Ok(statement
                .query_map((now.as_micros(), after, most), found)?
                .collect::<rusqlite::Result<_>>()?)
        })?)
    }
}

fn write(
    file: &Connection,
    tenant: i64,
    id: RecordId,
    webhook: &StoredWebhook,
) -> rusqlite::Result<WebhookWrite> {
    let (version, next) = (webhook.version, webhook.due_at.map(Timestamp::as_micros));
    let sql = if version == 1 {
        "INSERT INTO webhook (tenant, id, version, next, body) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING"
    } else {
        "UPDATE webhook SET version = ?3, next = ?4, body = ?5 WHERE tenant = ?1 AND id = ?2 AND version = ?3 - 1"
    };
    if version == 1 && is_full(file, tenant)? {
        return Ok(WebhookWrite::LimitReached);
    }
    let written =
        file.prepare_cached(sql)?
            .execute((tenant, id, version, next, &*webhook.document))?;
    Ok(if written > 0 {
        WebhookWrite::Written
    } else {
        WebhookWrite::Conflict
    })
}

/// Returns whether a tenant has reached the limit of webhooks.
fn is_full(file: &Connection, tenant: i64) -> rusqlite::Result<bool> {
    let limit = i64::try_from(MAX_WEBHOOKS).unwrap_or(i64::MAX);
    let sql = "SELECT count(*) >= ?2 FROM webhook WHERE tenant = ?1";
    file.prepare_cached(sql)?
        .query_row((tenant, limit), |row| row.get(0))
}

/// Reads a webhook from the columns of a row, starting at a column.
fn webhook(row: &Row<'_>, from: usize) -> rusqlite::Result<StoredWebhook> {
    let id: RecordId = row.get(from)?;
    let next = row
        .get::<_, Option<i64>>(from + 2)?
        .map(Timestamp::from_micros);
    Ok(StoredWebhook::new(
        id.to_id(),
        row.get(from + 1)?,
        next,
        row.get::<_, Vec<u8>>(from + 3)?.into(),
    ))
}

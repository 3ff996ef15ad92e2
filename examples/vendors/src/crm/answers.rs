//! The stored responses of requests with an idempotency key, stored in the transaction of the
//! request. Those of a customer are deleted with the customer.

use std::sync::Arc;

use async_trait::async_trait;
use svc_core::{Context, IdempotencyStore, Result, store::StoredResponse};

use super::existing::Crm;

#[async_trait]
impl IdempotencyStore for Crm {
    async fn load(&self, cx: &Context, key: &Arc<str>) -> Result<Option<Vec<u8>>> {
        let sql = "SELECT answer FROM kept_answers WHERE company_no = ?1 AND key = ?2";
        let rows = self
            .tx(cx)
            .await?
            .query(sql, &[&cx.tenant().as_number(), &&**key])
            .await?;
        Ok(rows.first().map(|row| row.get("answer")).transpose()?)
    }

    async fn save(&self, cx: &Context, kept: StoredResponse) -> Result<()> {
        let (company, customer) = (
            cx.tenant().as_number(),
            kept.people.first().and_then(svc_core::value::Id::as_number),
        );
        let tx = self.tx(cx).await?;
        let old = "DELETE FROM kept_answers WHERE company_no = ?1 AND kept_at < ?2";
        tx.execute(old, &[&company, &kept.expires_before().as_micros()])
            .await?;
        let sql = "INSERT INTO kept_answers (company_no, key, customer_no, answer, kept_at) VALUES (?1, ?2, ?3, ?4, ?5)";
        tx.execute(
            sql,
            &[
                &company,
                &&*kept.key,
                &customer,
                &&*kept.body,
                &kept.created_at.as_micros(),
            ],
        )
        .await?;
        Ok(())
    }
}

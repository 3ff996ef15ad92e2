//! The outbox of the store.
//!
//! Requirements: HAF-11, SCH-01.

use std::collections::BTreeMap;

use async_trait::async_trait;
use svc_core::{
    Result, Tenant,
    backend::Subscription,
    store::{ClaimedEntries, Outbox, OutboxClaim},
    value::Timestamp,
};
use tokio_postgres::Row;

use super::PostgresStore;
use crate::{
    error,
    lease::{Look, next_look},
    pipeline::{SqlQuery, values},
};

#[async_trait]
impl Outbox for PostgresStore {
    /// Finds entries over all tenants without a lock, and claims them tenant by tenant. A row that
    /// another process has claimed in between is no longer due.
    async fn claim_due(
        &self,
        now: Timestamp,
        until: Timestamp,
        most: u32,
    ) -> Result<ClaimedEntries> {
        let (texts, lookout) = (&self.database().texts, &self.inner.outbox);
        match lookout.may_look(self.database(), now).await? {
            Look::Now => {}
            Look::Later => {
                return Ok(ClaimedEntries::new(
                    Vec::new(),
                    next_look(self.database().topology, now, None),
                ));
            }
            Look::Elsewhere => return Ok(ClaimedEntries::new(Vec::new(), None)),
        }
        let found = values![now.as_micros(), i64::from(most)];
        let rows = self
            .database()
            .query_one(None, SqlQuery::new(&*texts.outbox_due, found))
            .await?;
        let mut found = BTreeMap::<(i64, String), Vec<i64>>::new();
        for row in &rows {
            let (tenant, seq, name) = due(row)?;
            found.entry((tenant, name)).or_default().push(seq);
        }
        let mut claims = Vec::with_capacity(rows.len());
        for ((number, name), seqs) in found {
            let values = values![number, seqs, now.as_micros(), until.as_micros()];
            let rows = self
                .database()
                .query_one(Some(number), SqlQuery::new(&*texts.outbox_claim, values))
                .await?;
            for row in &rows {
                claims.extend(claim(Tenant::new(&*name), row)?);
            }
        }
        let next = self
            .database()
            .query_one(None, SqlQuery::new(&*texts.outbox_next, Vec::new()))
            .await?;
        let next = next.first().map(first).transpose()?.flatten();
        if rows.is_empty() {
            lookout.found_nothing(now, next).await;
        }
        Ok(ClaimedEntries::new(
            claims,
            next_look(self.database().topology, now, next),
        ))
    }

    async fn complete(&self, claim: &OutboxClaim) -> Result<()> {
        let number = self.tenant(&claim.tenant).await?;
        let done = SqlQuery::new(
            &*self.database().texts.outbox_done,
            values![number, claim.row],
        );
        self.database().query_one(Some(number), done).await?;
        Ok(())
    }

    async fn reschedule(&self, claim: &OutboxClaim, at: Timestamp) -> Result<()> {
        let number = self.tenant(&claim.tenant).await?;
        let values = values![number, claim.row, i64::from(claim.attempts), at.as_micros()];
        self.database()
            .query_one(
                Some(number),
                SqlQuery::new(&*self.database().texts.outbox_again, values),
            )
            .await?;
        Ok(())
    }

    fn subscribe(&self) -> Subscription {
        self.database().outgoing.subscribe(())
    }
}

/// Returns the tenant, the row, and the name of the tenant.
fn due(row: &Row) -> error::Result<(i64, i64, String)> {
    Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
}

fn claim(tenant: Tenant, row: &Row) -> error::Result<Option<OutboxClaim>> {
    Ok(OutboxClaim::from_stored(
        tenant,
        row.try_get(0)?,
        row.try_get(1)?,
        row.try_get(2)?,
    ))
}

fn first(row: &Row) -> error::Result<Option<Timestamp>> {
    Ok(row
        .try_get::<_, Option<i64>>(0)?
        .map(Timestamp::from_micros))
}

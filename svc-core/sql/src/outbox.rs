//! The outbox in a table of this library.
//!
//! Requirements: HAF-11.

use async_trait::async_trait;
use svc_core::{
    backend::{OutboxEntry, Subscription},
    context::Tenant,
    error::{Error, Result},
    store::{ClaimedEntries, Outbox, OutboxClaim},
    value::Timestamp,
};

use super::{
    MappedStore,
    database::{DatabaseError, TextRow},
    dialect::RowLock,
    lookups::unasked,
    sql::SqlBuilder,
    statement::Statement,
};

/// Returns the statement that adds an outbox entry.
pub(super) fn put(mut sql: SqlBuilder, dispatch: &OutboxEntry) -> Statement {
    sql.push("INSERT INTO svc_dispatches (tenant, person, due, attempts, body) VALUES (")
        .tenant(None)
        .push(", ");
    match dispatch.recipient() {
        Some(person) => _ = sql.text(person.as_str()),
        None => _ = sql.push("NULL"),
    }
    sql.push(", ")
        .number(dispatch.due_at().as_micros())
        .push(", 0, ")
        .text(dispatch.serialize())
        .push(")");
    sql.finish()
}

impl MappedStore {
    fn sql(&self) -> SqlBuilder {
        SqlBuilder::new(self.mapping().dialect, "")
    }

    /// Returns the statement for the time when the next entry is due.
    fn next_due(&self) -> Statement {
        let mut sql = self.sql();
        sql.push("SELECT ")
            .push(&self.mapping().dialect.as_text("min(due)"))
            .push(" FROM svc_dispatches");
        sql.finish()
    }

    /// Executes a statement that changes one row.
    async fn change(&self, sql: SqlBuilder) -> Result<()> {
        let (transaction, _) = self.shared.database.begin(vec![sql.finish()]).await?;
        transaction.commit(Vec::new()).await?;
        Ok(())
    }
}

#[async_trait]
impl Outbox for MappedStore {
    async fn claim_due(
        &self,
        now: Timestamp,
        until: Timestamp,
        most: u32,
    ) -> Result<ClaimedEntries> {
        let dialect = self.mapping().dialect;
        let mut sql = self.sql();
        sql.push("SELECT ")
            .push(&dialect.as_text("id"))
            .push(" FROM svc_dispatches WHERE due <= ");
        sql.number(now.as_micros())
            .push(" ORDER BY due, id LIMIT ")
            .limit(most.into());
        let found = self
            .shared
            .database
            .read(vec![sql.finish(), self.next_due()])
            .await
            .map_err(DatabaseError::of_a_read)?;
        let ids = found
            .first()
            .into_iter()
            .flatten()
            .map(|row| number(row, 0));
        let mut ids: Vec<i64> = ids.collect::<Result<_>>()?;
        if ids.is_empty() {
            return Ok(ClaimedEntries::new(Vec::new(), moment(found.get(1))));
        }
        // The order is always the same, so that two senders do not block each other.
        ids.sort_unstable();
        let entry = |attempts: &str| {
            let [id, attempts] = ["id", attempts].map(|column| dialect.as_text(column));
            format!("tenant, body, {id}, {attempts}")
        };
        let due = |sql: &mut SqlBuilder, id: i64| {
            sql.push(" WHERE id = ")
                .number(id)
                .push(" AND due <= ")
                .number(now.as_micros());
        };
        let claim = |id: &i64| {
            let mut update = self.sql();
            update
                .push("UPDATE svc_dispatches SET attempts = attempts + 1, due = ")
                .number(until.as_micros());
            due(&mut update, *id);
            if dialect.has_returning() {
                update.push(" RETURNING ").push(&entry("attempts"));
                return vec![update.finish()];
            }
            let mut select = self.sql();
            select
                .push("SELECT ")
                .push(&entry("attempts + 1"))
                .push(" FROM svc_dispatches t");
            due(&mut select, *id);
            select.push(dialect.lock(RowLock::Change));
            vec![select.finish(), update.finish()]
        };
        let claims = ids.iter().flat_map(claim).chain([self.next_due()]);
        let claims = claims.collect();
        let (transaction, mut given) = self.shared.database.begin(claims).await?;
        transaction.commit(Vec::new()).await?;
        let next = given.pop();
        let mut claims = Vec::with_capacity(ids.len());
        for row in given.iter().flatten() {
            let tenant = Tenant::new(text(row, 0)?);
            claims.extend(OutboxClaim::from_stored(
                tenant,
                number(row, 2)?,
                number(row, 3)?,
                text(row, 1)?,
            ));
        }
        Ok(ClaimedEntries::new(claims, moment(next.as_ref())))
    }

    async fn complete(&self, claim: &OutboxClaim) -> Result<()> {
        let mut sql = self.sql();
        sql.push("DELETE FROM svc_dispatches WHERE id = ")
            .number(claim.row);
        self.change(sql).await
    }

    async fn reschedule(&self, claim: &OutboxClaim, at: Timestamp) -> Result<()> {
        let mut sql = self.sql();
        sql.push("UPDATE svc_dispatches SET due = ")
            .number(at.as_micros())
            .push(" WHERE id = ")
            .number(claim.row);
        sql.push(" AND attempts = ").number(claim.attempts.into());
        self.change(sql).await
    }

    fn subscribe(&self) -> Subscription {
        self.shared.outgoing.subscribe(())
    }
}

fn text(row: &TextRow, place: usize) -> Result<&str> {
    row.get(place)
        .and_then(Option::as_deref)
        .ok_or_else(unasked)
}

fn number(row: &TextRow, place: usize) -> Result<i64> {
    text(row, place)?.parse().map_err(Error::unexpected)
}

/// Returns the only value of a result as a timestamp.
fn moment(rows: Option<&Vec<TextRow>>) -> Option<Timestamp> {
    Some(Timestamp::from_micros(
        rows?.first()?.first()?.as_deref()?.parse().ok()?,
    ))
}

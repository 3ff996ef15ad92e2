//! A transaction without rules: two people are not the same person.

use std::{sync::Arc, time::Duration, time::Instant};

use svc_core::{
    model::Kind,
    store::{ApartPeople, Change, Lookup, LookupKey, LookupSource as _},
};

use crate::{
    database::DatabaseHandle,
    error::{Result, StoreError},
    pipeline::SqlQuery,
    pool::{ConnectionPool, Lease},
    transaction::MAX_RETRY_TIME,
};

/// Pause before a transaction is retried.
const PAUSE: Duration = Duration::from_millis(50);

impl DatabaseHandle {
    /// Records that two people are not the same person, or deletes this, in one transaction that locks
    /// the tenant. Returns `false` if one of them does not exist.
    ///
    /// It is repeated until the deadline, also if the response to the commit was lost: the second time
    /// changes nothing.
    pub(crate) async fn set_apart(
        &self,
        tenant: i64,
        apart: &ApartPeople,
        deadline: Option<Instant>,
    ) -> Result<bool> {
        let now = Instant::now();
        let deadline = deadline
            .or_else(|| now.checked_add(MAX_RETRY_TIME))
            .unwrap_or(now);
        let mut was_retried = false;
        loop {
            let home = self.home(tenant).await;
            let error = match self.set_apart_at(&home, tenant, apart, deadline).await {
                Ok(is_set) => return Ok(is_set),
                Err(error) => error.of_tenant(Some(tenant)),
            };
            let is_away = self.skip_replica(tenant, &home, &error);
            let is_retried = is_away || error.passes() || error.is_retried_once() && !was_retried;
            was_retried |= error.is_retried_once();
            let wakes = now_after(PAUSE).filter(|wakes| is_retried && *wakes < deadline);
            let Some(wakes) = wakes else {
                return Err(error);
            };
            tokio::time::sleep_until(wakes.into()).await;
        }
    }

    async fn set_apart_at(
        &self,
        home: &Arc<ConnectionPool>,
        tenant: i64,
        apart: &ApartPeople,
        deadline: Instant,
    ) -> Result<bool> {
        let mut lent = self.lent_by(home, tenant).await?;
        match self.apart_in(&mut lent, tenant, apart, deadline).await {
            Ok(seq) => {
                lent.mark_clean();
                if let Some(seq) = seq {
                    self.committed(tenant, seq);
                }
                Ok(seq.is_some())
            }
            Err(error) => {
                self.roll_back(lent, &error).await;
                Err(error)
            }
        }
    }

    /// Returns the new number of the ledger after the commit; `None` if one of the people does not exist.
    async fn apart_in(
        &self,
        lent: &mut Lease,
        tenant: i64,
        apart: &ApartPeople,
        deadline: Instant,
    ) -> Result<Option<i64>> {
        let mut progress = self.open(lent, tenant, &[], deadline).await?;
        let within = self.statement_timeout(deadline);
        let keys = apart
            .people
            .clone()
            .map(|id| LookupKey::Id(Kind::Person, id));
        let lookups = keys.iter().cloned().map(Lookup::Find).collect();
        self.fetch(lent, tenant, lookups, &mut progress).await?;
        for key in &keys {
            let found = progress.fetched.find(key);
            let found = found.map_err(|pause| StoreError::unexpected(pause.to_string()))?;
            if found.is_none() {
                let rollback = [SqlQuery::control("ROLLBACK")];
                lent.run(&rollback, within)
                    .await
                    .map_err(|(_, error)| error)?;
                return Ok(None);
            }
        }
        progress.last = (self.options.now)().at_least_after(progress.last);
        progress.apply.change(&Change::SetApart(apart.clone()))?;
        let (seq, mut queries) = self.writes(tenant, &mut progress);
        queries.push(SqlQuery::control("COMMIT"));
        lent.run(&queries, within)
            .await
            .map_err(|(_, error)| error)?;
        Ok(Some(seq))
    }
}

fn now_after(pause: Duration) -> Option<Instant> {
    Instant::now().checked_add(pause)
}

//! A transaction without rules: two people are not the same person.

use std::{sync::Arc, time::Instant};

use svc_core::{
    model::Kind,
    store::{ApartPeople, Change, Lookup, LookupKey, LookupSource as _},
};

use crate::{
    database::DatabaseHandle,
    error::{Result, StoreError},
    pipeline::SqlQuery,
    pool::{ConnectionPool, Lease},
    transaction::retry::{deadline_or_default, retry},
};

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
        let deadline = deadline_or_default(deadline);
        let attempt = || async {
            let home = self.home(tenant).await;
            match self.set_apart_at(&home, tenant, apart, deadline).await {
                // A worker that does not have the tables yet: the coordinator has them.
                Err(error) if error.is_elsewhere() && !Arc::ptr_eq(&home, &self.pool) => {
                    self.set_apart_at(&self.pool, tenant, apart, deadline).await
                }
                ended => ended,
            }
        };
        retry(deadline, attempt).await
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
                let error = error.of_tenant(Some(tenant));
                self.skip_replica(tenant, home, &error);
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

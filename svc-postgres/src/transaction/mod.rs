//! One transaction of two round trips. The first locks the tenant and executes the lookups of its
//! requests, the second writes their changes and commits.

mod apart;
mod reads;
mod recount;
pub(crate) mod restore;
pub(crate) mod retry;

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use svc_core::{
    rules::{Decision, RuleRunner, decide, initial_lookups, run_rules},
    store::{
        IdSequence, Lookup, LookupCache, PendingChanges, RuleError, TransactionContext,
        WriteOutcome, WriteRequest,
    },
    value::Timestamp,
};
use svc_store::feed::FeedRecorder;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    apply_changes::{ChangeApplier, queries},
    database::DatabaseHandle,
    error::{Result, StoreError},
    lookups::LookupBatch,
    pipeline::{SqlQuery, values},
    pool::{ConnectionPool, Lease, LeasePurpose},
};

/// The result of a transaction.
pub(crate) enum TransactionResult {
    /// Committed, with one outcome per caller, and whether outbox entries were added.
    Committed(Vec<Result<WriteOutcome>>, bool),
    /// Nothing of it is stored.
    RolledBack(StoreError),
}

/// Notes of transactions are retained for this many numbers of the tenant, and deleted in steps.
const NOTES: i64 = 65_536;
const STEP: i64 = 1_024;
/// How often a transaction prefetches: the lookups of a request have no more levels.
const LOOK_AHEAD: u8 = 4;

/// The state of the decisions in a transaction.
struct TransactionState<'a> {
    apply: ChangeApplier<'a>,
    overlay: PendingChanges,
    fetched: LookupCache,
    /// The number of the tenant's ledger, which the guard compares.
    seq: i64,
    /// The time of the last request that changed something.
    last: Timestamp,
    has_changes: bool,
    deadline: Instant,
    /// The requests that are not decided yet, the last one first.
    waiting: Vec<&'a WriteRequest>,
    /// How often missing lookups may still be prefetched for all of them.
    look_ahead: u8,
}

impl DatabaseHandle {
    /// Executes the requests of several callers in one transaction. Those of one caller are written
    /// all or not at all.
    pub(crate) async fn run_transaction(
        &self,
        tenant: i64,
        calls: &[&[WriteRequest]],
        deadline: Instant,
    ) -> Result<TransactionResult> {
        let home = self.home(tenant).await;
        match self.turn_at(&home, tenant, calls, deadline).await {
            // A worker that does not have the tables yet: the coordinator has them.
            Ok(TransactionResult::RolledBack(error))
                if error.is_elsewhere() && !Arc::ptr_eq(&home, &self.pool) =>
            {
                self.turn_at(&self.pool, tenant, calls, deadline).await
            }
            ended => ended,
        }
    }

    async fn turn_at(
        &self,
        home: &Arc<ConnectionPool>,
        tenant: i64,
        calls: &[&[WriteRequest]],
        deadline: Instant,
    ) -> Result<TransactionResult> {
        let mut lent = self.lent_by(home, tenant).await?;
        let id = Uuid::new_v4();
        let mut ends_at = None;
        let error = match self
            .transaction(&mut lent, tenant, calls, id, deadline, &mut ends_at)
            .await
        {
            Ok((outcomes, sends)) => return Ok(TransactionResult::Committed(outcomes, sends)),
            Err(error) => error.of_tenant(Some(tenant)),
        };
        self.skip_replica(tenant, home, &error);
        let Some((seq, outcomes)) = ends_at else {
            self.roll_back(lent, &error).await;
            return Ok(TransactionResult::RolledBack(error));
        };
        // The response to COMMIT was lost. The stored note shows whether it was executed.
        drop(lent);
        let began = Instant::now();
        loop {
            match self.is_committed(tenant, seq, id).await {
                Ok(true) => {
                    self.committed(tenant, seq);
                    return Ok(TransactionResult::Committed(outcomes, true));
                }
                Ok(false) => return Ok(TransactionResult::RolledBack(error)),
                Err(unsettled)
                    if Instant::now() >= deadline
                        || !(unsettled.is_of_the_connection()
                            || unsettled.passes()
                            || unsettled.is_busy()) =>
                {
                    let waited = began.elapsed();
                    tracing::error!(
                        ?waited,
                        "it is unknown whether a transaction was committed; the response is 503"
                    );
                    return Err(StoreError::Busy);
                }
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// Returns a connection for a transaction of a tenant.
    async fn lent_by(&self, home: &Arc<ConnectionPool>, tenant: i64) -> Result<Lease> {
        let mut lent = match home.get(LeasePurpose::Writes).await {
            Err(error) if self.skip_replica(tenant, home, &error) => {
                self.pool.get(LeasePurpose::Writes).await?
            }
            lent => lent?,
        };
        lent.begins();
        Ok(lent)
    }

    /// Rolls back a failed transaction, so that the connection can be reused. The connection is
    /// closed if it caused the failure.
    async fn roll_back(&self, mut lent: Lease, error: &StoreError) {
        if !error.is_of_the_connection()
            && lent
                .run(&[SqlQuery::control("ROLLBACK")], self.options.patience)
                .await
                .is_ok()
        {
            lent.mark_clean();
        }
    }

    /// Returns how long a transaction waits for the server. It leaves enough time to find out
    /// afterwards whether it was committed.
    fn statement_timeout(&self, deadline: Instant) -> Duration {
        let left = deadline.saturating_duration_since(Instant::now());
        left.div_f64(2.0).max(self.options.patience.div_f64(2.0))
    }

    /// Returns whether a transaction is stored. The query runs under its lock, so the transaction
    /// cannot be in progress any longer.
    ///
    /// The query commits a write that changes nothing. When it returns, everything it saw is also
    /// on a synchronous standby.
    async fn is_committed(&self, tenant: i64, seq: i64, id: Uuid) -> Result<bool> {
        let noted = SqlQuery::new(&self.texts.turn_noted, values![tenant, seq]);
        let given = self.query_after_lock(tenant, noted).await?;
        let noted = given
            .get(1)
            .and_then(|rows| rows.first())
            .map(|row| row.try_get::<_, Uuid>(0))
            .transpose()?;
        Ok(noted == Some(id))
    }

    /// Returns the results of a transaction that locks a tenant and executes a query.
    async fn query_after_lock(&self, tenant: i64, asked: SqlQuery<'_>) -> Result<Vec<Vec<Row>>> {
        let home = self.home(tenant).await;
        let mut lent = self.lent_by(&home, tenant).await?;
        let mut queries = self.begin(Some(tenant));
        queries.extend([
            SqlQuery::new(&self.texts.lock, values![tenant]),
            asked,
            SqlQuery::new(&self.texts.touch, values![tenant]),
            SqlQuery::control("COMMIT"),
        ]);
        let given = lent
            .run(&queries, self.options.patience.saturating_mul(2))
            .await
            .map_err(|(_, error)| error)?;
        lent.mark_clean();
        Ok(given)
    }

    /// Runs the transaction. Returns its outcomes, and whether outbox entries were added.
    ///
    /// `ends_at` is set immediately before COMMIT is sent. After that, it is unknown whether a
    /// failed transaction was committed, unless an earlier statement failed.
    async fn transaction(
        &self,
        lent: &mut Lease,
        tenant: i64,
        calls: &[&[WriteRequest]],
        id: Uuid,
        deadline: Instant,
        ends_at: &mut Option<(i64, Vec<Result<WriteOutcome>>)>,
    ) -> Result<(Vec<Result<WriteOutcome>>, bool)> {
        let mut progress = self.open(lent, tenant, calls, deadline).await?;
        let mut outcomes = Vec::with_capacity(calls.len());
        for calls in calls {
            outcomes.push(self.decide(lent, tenant, calls, &mut progress).await?);
        }
        if !progress.has_changes {
            if lent
                .run(&[SqlQuery::control("ROLLBACK")], self.options.patience)
                .await
                .is_ok()
            {
                lent.mark_clean();
            }
            return Ok((outcomes, false));
        }
        let began = Instant::now();
        let (seq, mut queries) = self.writes(tenant, &mut progress);
        queries.push(SqlQuery::new(&self.texts.note_turn, values![tenant, id]));
        if seq / STEP != progress.seq / STEP {
            queries.push(SqlQuery::new(
                &self.texts.forget_turns,
                values![tenant, seq.saturating_sub(NOTES)],
            ));
        }
        if let Some(keep) = self.options.keep_changes {
            let oldest = progress.last.saturating_sub(keep);
            queries.push(SqlQuery::new(
                &self.texts.expire_feed,
                values![tenant, oldest.as_micros()],
            ));
        }
        let commit = queries.len();
        queries.push(SqlQuery::control("COMMIT"));
        match lent
            .run(&queries, self.statement_timeout(progress.deadline))
            .await
        {
            Ok(_) => {
                lent.mark_clean();
                self.commits.record(calls.len(), began.elapsed());
                self.committed(tenant, seq);
                Ok((outcomes, progress.apply.sends))
            }
            Err((place, error)) => {
                // A statement that the server rejected ends the transaction, COMMIT or not.
                if place >= commit || error.is_of_the_connection() {
                    *ends_at = Some((seq, outcomes));
                }
                Err(error)
            }
        }
    }

    /// Executes the first round trip.
    async fn open<'a>(
        &'a self,
        lent: &mut Lease,
        tenant: i64,
        calls: &[&'a [WriteRequest]],
        deadline: Instant,
    ) -> Result<TransactionState<'a>> {
        let mut known = HashSet::new();
        let questions = calls
            .iter()
            .copied()
            .flatten()
            .flat_map(|call| initial_lookups(call, &*self.options.matching));
        let wanted: Vec<Lookup> = questions
            .filter(|question| known.insert(question.clone()))
            .collect();
        let mut fetch = LookupBatch::new(&self.texts, tenant, wanted);
        let mut queries = self.begin(Some(tenant));
        queries.push(SqlQuery::new(&self.texts.lock, values![tenant]));
        queries.extend(fetch.take_queries());
        let mut given = lent
            .run(&queries, self.statement_timeout(deadline))
            .await
            .map_err(|(_, error)| error)?;
        let rest = given.split_off(1.min(given.len()));
        let ledger = given.first().and_then(|rows| rows.first());
        let ledger = ledger.ok_or_else(|| StoreError::unexpected("the tenant has no ledger"))?;
        let (seq, clock): (i64, i64) = (ledger.try_get(0)?, ledger.try_get(1)?);
        let mut fetched = LookupCache::default();
        fetch.store_results(&rest, &mut fetched)?;
        Ok(TransactionState {
            apply: ChangeApplier::new(self, tenant, seq)?,
            overlay: PendingChanges::default(),
            fetched,
            seq,
            last: Timestamp::from_micros(clock),
            has_changes: false,
            deadline,
            waiting: calls
                .iter()
                .rev()
                .flat_map(|calls| calls.iter().rev())
                .collect(),
            look_ahead: LOOK_AHEAD,
        })
    }

    /// Decides the requests of one caller. Their changes are added if all of them succeed.
    async fn decide(
        &self,
        lent: &mut Lease,
        tenant: i64,
        calls: &[WriteRequest],
        progress: &mut TransactionState<'_>,
    ) -> Result<Result<WriteOutcome>> {
        let time = (self.options.now)().at_least_after(progress.last);
        let mut outcome = Err(StoreError::unexpected("a transaction without a request"));
        let is_alone = calls.len() == 1;
        for call in calls {
            progress.waiting.pop();
            let mut runner = PostgresRunner {
                database: self,
                lent: &mut *lent,
                tenant,
                call,
                time,
                ids: IdSequence::default(),
                progress: &mut *progress,
            };
            match run_rules(&mut runner).await? {
                Ok(Decision {
                    changes,
                    outcome: came_to,
                    ..
                }) => {
                    let mut telling = FeedRecorder::default();
                    for change in &changes {
                        if let Some(told) = telling.record(change) {
                            progress.apply.add_feed_entries(&told, time)?;
                        }
                        progress.apply.change(change)?;
                    }
                    progress.overlay.absorb(&changes);
                    if !changes.is_empty() {
                        (progress.has_changes, progress.last) = (true, time);
                    }
                    outcome = Ok(came_to);
                }
                // Several requests of one caller have a transaction of their own, which ends here:
                // see `PostgresStore::import_records`.
                Err(error) if !is_alone => {
                    return Err(StoreError::Rejected(svc_store::with_import_address(
                        call, error,
                    )));
                }
                Err(error) => return Ok(Err(StoreError::Rejected(error))),
            }
        }
        Ok(outcome)
    }

    /// Runs the rules of a request once, with the lookup results so far.
    fn decide_once(
        &self,
        call: &WriteRequest,
        time: Timestamp,
        ids: &IdSequence,
        fetched: &mut LookupCache,
        before: &PendingChanges,
    ) -> std::result::Result<Decision, RuleError> {
        let (names, matching) = (&self.options.share_names, &*self.options.matching);
        let turn = TransactionContext::new(time, ids, names, matching);
        decide(call, &turn, fetched, before)
    }

    /// Also fetches the lookups that the following requests will need, so that a transaction of a
    /// thousand requests has few round trips.
    fn prefetch(
        &self,
        time: Timestamp,
        progress: &mut TransactionState<'_>,
        missing: &mut Vec<Lookup>,
    ) {
        let Some(left) = progress.look_ahead.checked_sub(1) else {
            return;
        };
        progress.look_ahead = left;
        let mut known: HashSet<Lookup> = missing.iter().cloned().collect();
        for call in &progress.waiting {
            let ids = IdSequence::default();
            let (fetched, overlay) = (&mut progress.fetched, &progress.overlay);
            if let Err(RuleError::MissingLookups(more)) =
                self.decide_once(call, time, &ids, fetched, overlay)
            {
                missing.extend(
                    more.into_iter()
                        .filter(|question| known.insert(question.clone())),
                );
            }
        }
    }

    async fn fetch(
        &self,
        lent: &mut Lease,
        tenant: i64,
        asked: Vec<Lookup>,
        progress: &mut TransactionState<'_>,
    ) -> Result<()> {
        let mut fetch = LookupBatch::new(&self.texts, tenant, asked);
        let queries = fetch.take_queries();
        let within = self.statement_timeout(progress.deadline);
        let given: Vec<Vec<Row>> = lent
            .run(&queries, within)
            .await
            .map_err(|(_, error)| error)?;
        fetch.store_results(&given, &mut progress.fetched)
    }

    /// Returns the statements that write the decided changes, and the new number of the ledger. The
    /// guard comes first. It fails if another process has written since the lock.
    fn writes(&self, tenant: i64, progress: &mut TransactionState<'_>) -> (i64, Vec<SqlQuery<'_>>) {
        let (seq, steps) = progress.apply.take();
        let guard = values![tenant, seq, progress.last.as_micros(), progress.seq];
        let mut all = vec![SqlQuery::new(&self.texts.guard, guard)];
        all.extend(queries(steps));
        (seq, all)
    }
}

/// The rules of one request in a transaction.
struct PostgresRunner<'a, 'c> {
    database: &'a DatabaseHandle,
    lent: &'a mut Lease,
    tenant: i64,
    call: &'a WriteRequest,
    time: Timestamp,
    ids: IdSequence,
    progress: &'a mut TransactionState<'c>,
}

#[async_trait]
impl RuleRunner for PostgresRunner<'_, '_> {
    type Error = StoreError;

    fn decide(&mut self) -> std::result::Result<Decision, RuleError> {
        let TransactionState {
            fetched, overlay, ..
        } = &mut *self.progress;
        self.database
            .decide_once(self.call, self.time, &self.ids, fetched, overlay)
    }

    async fn fetch(&mut self, mut missing: Vec<Lookup>) -> Result<()> {
        self.database
            .prefetch(self.time, self.progress, &mut missing);
        self.database
            .fetch(self.lent, self.tenant, missing, self.progress)
            .await
    }

    async fn flush(&mut self) -> Result<()> {
        let (database, progress) = (self.database, &mut *self.progress);
        let (within, (seq, queries)) = (
            database.statement_timeout(progress.deadline),
            database.writes(self.tenant, progress),
        );
        self.lent
            .run(&queries, within)
            .await
            .map_err(|(_, error)| error)?;
        progress.seq = seq;
        (progress.overlay, progress.fetched) = (PendingChanges::default(), LookupCache::default());
        let again = initial_lookups(self.call, &*database.options.matching);
        database
            .fetch(self.lent, self.tenant, again, progress)
            .await
    }
}

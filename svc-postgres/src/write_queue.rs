//! The write queue of each tenant: waiting requests share one transaction.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use futures_util::FutureExt as _;
use svc_core::store::{WriteOutcome, WriteRequest};
use tokio::sync::oneshot;

use crate::{
    database::DatabaseHandle,
    error::{Result, StoreError},
    lease::Lookout,
    transaction::{
        TransactionResult,
        retry::{LONGEST_PAUSE, deadline_or_default, retry},
    },
};

/// Requests that wait for a transaction, and the channel for their outcome. Several requests of one
/// caller are written all or not at all.
struct QueuedWrites {
    calls: Vec<WriteRequest>,
    deadline: Instant,
    tell: oneshot::Sender<Result<WriteOutcome>>,
}

/// The waiting requests by tenant. Each tenant in the map has a task.
pub(crate) struct WriteQueue {
    database: Arc<DatabaseHandle>,
    /// Notified about new outbox entries.
    outbox: Arc<Lookout>,
    waiting: Mutex<HashMap<i64, Vec<QueuedWrites>>>,
    number: AtomicUsize,
}

impl WriteQueue {
    pub(crate) fn new(database: Arc<DatabaseHandle>, outbox: Arc<Lookout>) -> Self {
        Self {
            database,
            outbox,
            waiting: Mutex::default(),
            number: AtomicUsize::default(),
        }
    }

    /// Executes requests: all of them or none. Returns the outcome of the last.
    pub(crate) async fn write(
        self: &Arc<Self>,
        tenant: i64,
        calls: Vec<WriteRequest>,
        deadline: Option<Instant>,
    ) -> Result<WriteOutcome> {
        if self.waiting() >= self.database.options.queue {
            return Err(StoreError::Busy);
        }
        let deadline = deadline_or_default(deadline);
        let (tell, told) = oneshot::channel();
        self.number.fetch_add(1, Ordering::Relaxed);
        let is_first = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let is_first = !waiting.contains_key(&tenant);
            waiting.entry(tenant).or_default().push(QueuedWrites {
                calls,
                deadline,
                tell,
            });
            is_first
        };
        if is_first {
            // A separate task: if the caller no longer waits, work that has started is still
            // finished.
            tokio::spawn(Arc::clone(self).work(tenant));
        }
        told.await
            .unwrap_or_else(|_| Err(StoreError::unexpected("a transaction has no result")))
    }

    /// Returns the number of writes in the queue.
    pub(crate) fn waiting(&self) -> usize {
        self.number.load(Ordering::Relaxed)
    }

    fn next(&self, tenant: i64, most: usize) -> Vec<QueuedWrites> {
        let mut all = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let next = match all.get_mut(&tenant) {
            Some(waiting) if !waiting.is_empty() => {
                // Several requests of one caller have a transaction of their own: none of them is
                // written if one is rejected.
                let together = waiting.iter().position(|one| one.calls.len() != 1);
                let many = together
                    .map_or(waiting.len(), |place| place.max(1))
                    .min(most);
                let rest = waiting.split_off(many);
                std::mem::replace(waiting, rest)
            }
            _ => {
                all.remove(&tenant);
                Vec::new()
            }
        };
        self.number.fetch_sub(next.len(), Ordering::Relaxed);
        next
    }

    /// Executes the requests of a tenant until none is waiting.
    async fn work(self: Arc<Self>, tenant: i64) {
        loop {
            let batch = self.next(tenant, self.database.options.batch);
            if batch.is_empty() {
                return;
            }
            let now = Instant::now();
            let (late, batch): (Vec<_>, Vec<_>) =
                batch.into_iter().partition(|one| one.deadline <= now);
            for one in late {
                _ = one.tell.send(Err(StoreError::Busy));
            }
            self.give(tenant, batch).await;
        }
    }

    /// Executes requests in one transaction, or each in its own if one of them makes the others
    /// fail.
    async fn give(&self, tenant: i64, mut batch: Vec<QueuedWrites>) {
        while !batch.is_empty() {
            match self.tried(tenant, &batch).await {
                Ok(outcomes) => return send_outcomes(batch, outcomes),
                Err(error) if error.is_of_one_call() && batch.len() > 1 => {
                    for one in batch {
                        let alone = vec![one];
                        let outcomes = self
                            .tried(tenant, &alone)
                            .await
                            .unwrap_or_else(|error| vec![Err(error)]);
                        send_outcomes(alone, outcomes);
                    }
                    return;
                }
                Err(error) => {
                    // Requests with more time continue without those whose deadline has passed.
                    let soon = Instant::now()
                        .checked_add(LONGEST_PAUSE)
                        .filter(|_| error.passes());
                    let goes_on = |one: &QueuedWrites| soon.is_some_and(|soon| one.deadline > soon);
                    let (rest, over): (Vec<_>, Vec<_>) = batch.into_iter().partition(goes_on);
                    // If no deadline has passed, the failure is not a timeout.
                    let (rest, over) = if over.is_empty() {
                        (over, rest)
                    } else {
                        (rest, over)
                    };
                    let outcomes = over.iter().map(|_| Err(error.clone_for_caller())).collect();
                    send_outcomes(over, outcomes);
                    batch = rest;
                }
            }
        }
    }

    /// Retries a transaction until it is committed or rejected, at most until the first deadline.
    async fn tried(
        &self,
        tenant: i64,
        batch: &[QueuedWrites],
    ) -> Result<Vec<Result<WriteOutcome>>> {
        let calls: Vec<&[WriteRequest]> = batch.iter().map(|one| one.calls.as_slice()).collect();
        let Some(deadline) = batch.iter().map(|one| one.deadline).min() else {
            return Ok(Vec::new());
        };
        let attempt = || async {
            // A custom matching method may panic. The connection is then closed, and nothing is
            // stored.
            let turn = AssertUnwindSafe(self.database.run_transaction(tenant, &calls, deadline))
                .catch_unwind();
            match turn.await.unwrap_or(Err(StoreError::Panicked))? {
                TransactionResult::Committed(outcomes, sends) => {
                    if sends {
                        self.outbox.ask(&self.database);
                        self.database.outgoing.notify(&());
                    }
                    Ok(outcomes)
                }
                TransactionResult::RolledBack(error) => Err(error),
            }
        };
        retry(deadline, attempt).await
    }
}

fn send_outcomes(batch: Vec<QueuedWrites>, outcomes: Vec<Result<WriteOutcome>>) {
    for (one, outcome) in batch.into_iter().zip(outcomes) {
        // The caller may no longer wait.
        _ = one.tell.send(outcome);
    }
}

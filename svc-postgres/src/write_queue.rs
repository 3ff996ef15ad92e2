//! Turns of a tenant's writes: those that wait have theirs together, in one transaction.

use std::{
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::FutureExt as _;
use svc_core::store::{WriteOutcome, WriteRequest};
use tokio::sync::oneshot;

use crate::{
    database::DatabaseHandle,
    error::{Result, StoreError},
    lease::Lookout,
    transaction::{MAX_RETRY_TIME, TransactionResult},
};

/// Calls that wait for their turn together, and who is told what they came to: several that belong
/// together are written all or not at all.
struct QueuedWrites {
    calls: Vec<WriteRequest>,
    deadline: Instant,
    tell: oneshot::Sender<Result<WriteOutcome>>,
}

/// The calls that wait, by tenant. A tenant that is in the map has somebody at work for it.
pub(crate) struct WriteQueue {
    database: Arc<DatabaseHandle>,
    /// Who is told that something is to be sent.
    outbox: Arc<Lookout>,
    waiting: Mutex<HashMap<i64, Vec<QueuedWrites>>>,
    number: AtomicUsize,
}

/// How long to wait before a turn is tried again: at first, and at most.
const PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

impl WriteQueue {
    pub(crate) fn new(database: Arc<DatabaseHandle>, outbox: Arc<Lookout>) -> Self {
        Self {
            database,
            outbox,
            waiting: Mutex::default(),
            number: AtomicUsize::default(),
        }
    }

    /// Gives calls their turn: all of them or none. The outcome is that of the last.
    pub(crate) async fn write(
        self: &Arc<Self>,
        tenant: i64,
        calls: Vec<WriteRequest>,
        deadline: Option<Instant>,
    ) -> Result<WriteOutcome> {
        if self.waiting() >= self.database.options.queue {
            return Err(StoreError::Busy);
        }
        let now = Instant::now();
        let deadline = deadline.or_else(|| now.checked_add(MAX_RETRY_TIME)).unwrap_or(now);
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
            // On its own: whoever waits for the answer may go away, and what was begun is finished.
            tokio::spawn(Arc::clone(self).work(tenant));
        }
        told.await
            .unwrap_or_else(|_| Err(StoreError::unexpected("a turn ended without an answer")))
    }

    /// Writes in the queue now.
    pub(crate) fn waiting(&self) -> usize {
        self.number.load(Ordering::Relaxed)
    }

    fn next(&self, tenant: i64, most: usize) -> Vec<QueuedWrites> {
        let mut all = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let next = match all.get_mut(&tenant) {
            Some(waiting) if !waiting.is_empty() => {
                // Several calls that belong together have a turn of their own: none of them is
                // written when one is refused.
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

    /// Works for a tenant until nobody waits any more.
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

    /// Gives calls their turn together; alone each, where one of them stands in the way of the
    /// others.
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
                    // Whoever has more time goes on without those whose time is over.
                    let soon = Instant::now()
                        .checked_add(LONGEST_PAUSE)
                        .filter(|_| error.passes());
                    let goes_on = |one: &QueuedWrites| soon.is_some_and(|soon| one.deadline > soon);
                    let (rest, over): (Vec<_>, Vec<_>) = batch.into_iter().partition(goes_on);
                    // Where nobody's time is over, it is no matter of time.
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

    /// Tries a turn until it is committed or refused, at most until the first of its deadlines.
    async fn tried(
        &self,
        tenant: i64,
        batch: &[QueuedWrites],
    ) -> Result<Vec<Result<WriteOutcome>>> {
        let calls: Vec<&[WriteRequest]> = batch.iter().map(|one| one.calls.as_slice()).collect();
        let Some(deadline) = batch.iter().map(|one| one.deadline).min() else {
            return Ok(Vec::new());
        };
        let (mut pause, mut conflicts, mut retried) = (PAUSE, 0_usize, false);
        loop {
            // A matching method of the program's may panic; the connection is closed then, and
            // nothing is stored.
            let turn =
                AssertUnwindSafe(self.database.run_transaction(tenant, &calls, deadline)).catch_unwind();
            let error = match turn.await.unwrap_or(Err(StoreError::Panicked)) {
                Ok(TransactionResult::Committed(outcomes, sends)) => {
                    if sends {
                        self.outbox.ask(&self.database);
                        self.database.outgoing.notify(&());
                    }
                    return Ok(outcomes);
                }
                Ok(TransactionResult::RolledBack(error)) | Err(error) => error,
            };
            conflicts = conflicts.saturating_add(usize::from(error.is_conflict()));
            let goes_on = error.passes() && conflicts < 2 || error.is_retried_once() && !retried;
            retried = error.is_retried_once();
            let wakes = Instant::now()
                .checked_add(pause)
                .filter(|wakes| *wakes < deadline);
            let Some(wakes) = wakes.filter(|_| goes_on) else {
                return Err(error);
            };
            tokio::time::sleep_until(wakes.into()).await;
            pause = with_jitter(pause.saturating_mul(2).min(LONGEST_PAUSE));
        }
    }
}

/// Several processes that met once do not meet again at once.
fn with_jitter(pause: Duration) -> Duration {
    let byte = RandomState::new().hash_one(0).to_le_bytes()[0];
    pause.mul_f64(0.75 + f64::from(byte) / 512.0)
}

fn send_outcomes(batch: Vec<QueuedWrites>, outcomes: Vec<Result<WriteOutcome>>) {
    for (one, outcome) in batch.into_iter().zip(outcomes) {
        // Whoever waited may have gone away.
        _ = one.tell.send(outcome);
    }
}

//! Leases: tasks that one process at a time performs for all processes of a database.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use svc_core::value::Timestamp;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::{
    cluster::Topology,
    database::DatabaseHandle,
    error::Result,
    pipeline::{SqlQuery, values},
};

/// Duration of the lease of the process that searches for due work. The process renews it after
/// half of the time.
const LOOKING: Duration = Duration::from_secs(15);
/// Maximum time between two searches.
const QUIET: Duration = Duration::from_secs(60);
/// Interval at which the process with the lease reads requests of other processes.
const READ: Duration = Duration::from_secs(1);
/// Minimum time between two requests to search.
const GATHER: Duration = Duration::from_millis(200);
/// A lease that ends later than this many times its duration is invalid: the clock of its holder is
/// wrong.
const SKEW: u32 = 4;

impl DatabaseHandle {
    /// Acquires or renews a lease. Returns `false` if another process has it.
    pub(crate) async fn take_lease(
        &self,
        name: &str,
        now: Timestamp,
        time: Duration,
    ) -> Result<bool> {
        let latest = now.saturating_add(time.saturating_mul(SKEW)).as_micros();
        let values = values![
            name.to_owned(),
            self.process,
            now.saturating_add(time).as_micros(),
            now.as_micros(),
            latest
        ];
        Ok(!self
            .query_one(None, SqlQuery::new(&*self.texts.take_lease, values))
            .await?
            .is_empty())
    }

    /// Ends a lease if this process has it.
    pub(crate) async fn end_lease(&self, name: &str) -> Result<()> {
        let values = values![name.to_owned(), self.process];
        self.query_one(None, SqlQuery::new(&*self.texts.end_lease, values))
            .await?;
        Ok(())
    }

    /// Returns holder and end of a lease, and the number of requests to search.
    async fn lease(&self, name: &str) -> Result<Option<(Uuid, i64, i64)>> {
        let rows = self
            .query_one(
                None,
                SqlQuery::new(&*self.texts.lease, values![name.to_owned()]),
            )
            .await?;
        let row = rows.first().map(|row| {
            Ok::<_, tokio_postgres::Error>((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
        });
        Ok(row.transpose()?)
    }
}

/// Searches all tenants for due work.
///
/// On a cluster a search queries every shard. One process at a time searches, and while nothing is
/// due only after a request. On a single server every process searches.
pub(crate) struct Lookout {
    name: &'static str,
    state: Mutex<LeaseState>,
    /// Number of requests of this process.
    asks: AtomicU64,
    /// The state of a request to another process: [`IDLE`], [`ASKING`] or [`AGAIN`].
    asking: AtomicU8,
}

const IDLE: u8 = 0;
const ASKING: u8 = 1;
const AGAIN: u8 = 2;

#[derive(Default)]
struct LeaseState {
    /// The end of the lease of this process, in microseconds as the other times.
    held: i64,
    /// The time until which nothing is due, unless a request arrives.
    quiet: i64,
    /// The numbers of requests, of other processes and of this one, at the last search.
    asked: i64,
    asked_here: u64,
}

/// The decision whether a process searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// It searches now.
    Now,
    /// Nothing is due now. It searches later.
    Later,
    /// Another process searches.
    Elsewhere,
}

impl Lookout {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            state: Mutex::default(),
            asks: AtomicU64::default(),
            asking: AtomicU8::new(IDLE),
        }
    }

    /// Returns whether this process searches now.
    pub(crate) async fn may_look(&self, database: &DatabaseHandle, now: Timestamp) -> Result<Look> {
        if database.topology == Topology::Server {
            return Ok(Look::Now);
        }
        let mut state = self.state.lock().await;
        // The table is on every node, so only the local node is queried.
        let lease = database.lease(self.name).await?;
        let asked = lease.map_or(0, |(.., asked)| asked);
        let valid = now.as_micros()..now.saturating_add(LOOKING.saturating_mul(SKEW)).as_micros();
        let is_others = lease
            .is_some_and(|(holder, until, _)| holder != database.process && valid.contains(&until));
        let renews = state.held <= now.saturating_add(LOOKING.div_f64(2.0)).as_micros();
        if is_others || renews && !database.take_lease(self.name, now, LOOKING).await? {
            // Earlier results are invalid when it takes over again.
            *state = LeaseState::default();
            return Ok(Look::Elsewhere);
        }
        if renews {
            state.held = now.saturating_add(LOOKING).as_micros();
        }
        let asked_here = self.asks.load(Ordering::Acquire);
        if (asked, asked_here) == (state.asked, state.asked_here) && state.quiet > now.as_micros() {
            return Ok(Look::Later);
        }
        (state.asked, state.asked_here, state.quiet) = (asked, asked_here, 0);
        Ok(Look::Now)
    }

    /// Records that nothing is due before `next`, or at all.
    pub(crate) async fn found_nothing(&self, now: Timestamp, next: Option<Timestamp>) {
        let quiet = now.saturating_add(QUIET).as_micros();
        self.state.lock().await.quiet = next.map_or(quiet, |next| quiet.min(next.as_micros()));
    }

    /// Requests a search by the process with the lease, because something new may be due. It
    /// returns before the request is made.
    pub(crate) fn ask(self: &Arc<Self>, database: &Arc<DatabaseHandle>) {
        self.asks.fetch_add(1, Ordering::AcqRel);
        if database.topology == Topology::Server
            || self.is_here(database)
            || self.asking.swap(AGAIN, Ordering::AcqRel) != IDLE
        {
            return;
        }
        let (lookout, database) = (Arc::clone(self), Arc::clone(database));
        tokio::spawn(async move {
            loop {
                lookout.asking.store(ASKING, Ordering::Release);
                lookout.ask_others(&database).await;
                tokio::time::sleep(GATHER).await;
                if lookout
                    .asking
                    .compare_exchange(ASKING, IDLE, Ordering::AcqRel, Ordering::Acquire)
                    .is_ok()
                {
                    return;
                }
            }
        });
    }

    /// Does the same, and returns after the request is made.
    pub(crate) async fn ask_now(&self, database: &DatabaseHandle) {
        self.asks.fetch_add(1, Ordering::AcqRel);
        if database.topology == Topology::Cluster && !self.is_here(database) {
            self.ask_others(database).await;
        }
    }

    /// Returns whether this process has the lease, as far as it knows.
    fn is_here(&self, database: &DatabaseHandle) -> bool {
        self.state
            .try_lock()
            .is_ok_and(|state| state.held > (database.options.now)().as_micros())
    }

    async fn ask_others(&self, database: &DatabaseHandle) {
        let asked = SqlQuery::new(&*database.texts.ask_lease, values![self.name.to_owned()]);
        if let Err(error) = database.query_one(None, asked).await {
            tracing::warn!(
                ?error,
                "the process that searches for due work was not notified; it searches within a minute"
            );
        }
    }
}

/// Returns the time of the next search if the next entry is due then.
pub(crate) fn next_look(
    topology: Topology,
    now: Timestamp,
    next: Option<Timestamp>,
) -> Option<Timestamp> {
    let read = now.saturating_add(READ);
    match topology {
        Topology::Server => next,
        Topology::Cluster => Some(next.map_or(read, |next| next.min(read))),
    }
}

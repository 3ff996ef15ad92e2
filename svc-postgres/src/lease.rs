//! Leases: what one process at a time does for all processes of a database.

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

/// The time of the lease of a process that looks. The process renews it when half of the time has
/// passed.
const LOOKING: Duration = Duration::from_secs(15);
/// The longest time without a look.
const QUIET: Duration = Duration::from_secs(60);
/// How often the process that looks reads whether it was asked.
const READ: Duration = Duration::from_secs(1);
/// The shortest time between two requests to look.
const GATHER: Duration = Duration::from_millis(200);
/// A lease that ends later than this many times its duration is invalid: its holder has another
/// time.
const SKEW: u32 = 4;

impl DatabaseHandle {
    /// Takes or renews a lease. `false` if another process has it.
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

    /// Ends a lease, if this process has it.
    pub(crate) async fn end_lease(&self, name: &str) -> Result<()> {
        let values = values![name.to_owned(), self.process];
        self.query_one(None, SqlQuery::new(&*self.texts.end_lease, values))
            .await?;
        Ok(())
    }

    /// Holder and end of a lease, and the number of requests to look.
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

/// Looks for what is due over all tenants. On a cluster that asks every shard: one process at a
/// time looks, and while nothing is due it looks only if it is asked to. On one server every
/// process looks.
pub(crate) struct Lookout {
    name: &'static str,
    state: Mutex<State>,
    /// How often this process was asked by itself.
    asks: AtomicU64,
    /// Whether another process is being asked: [`IDLE`], [`ASKING`] or [`AGAIN`].
    asking: AtomicU8,
}

const IDLE: u8 = 0;
const ASKING: u8 = 1;
const AGAIN: u8 = 2;

#[derive(Default)]
struct State {
    /// The end of the lease of this process; in microseconds, like the others.
    held: i64,
    /// Until when nothing is due, unless the process is asked.
    quiet: i64,
    /// How often other processes, and this one, had asked when it last looked.
    asked: i64,
    asked_here: u64,
}

/// What a process does when it could look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// It looks.
    Now,
    /// Nothing is due now. It looks later.
    Later,
    /// Another process looks.
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

    /// Whether this process looks now.
    pub(crate) async fn may_look(&self, database: &DatabaseHandle, now: Timestamp) -> Result<Look> {
        if database.topology == Topology::Server {
            return Ok(Look::Now);
        }
        let mut state = self.state.lock().await;
        // The table is on every node: no other node is asked.
        let lease = database.lease(self.name).await?;
        let asked = lease.map_or(0, |(.., asked)| asked);
        let valid = now.as_micros()..now.saturating_add(LOOKING.saturating_mul(SKEW)).as_micros();
        let is_others = lease
            .is_some_and(|(holder, until, _)| holder != database.process && valid.contains(&until));
        let renews = state.held <= now.saturating_add(LOOKING.div_f64(2.0)).as_micros();
        if is_others || renews && !database.take_lease(self.name, now, LOOKING).await? {
            // What it has found is no longer known when it takes over.
            *state = State::default();
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

    /// Nothing is due before `next`, or at all.
    pub(crate) async fn found_nothing(&self, now: Timestamp, next: Option<Timestamp>) {
        let quiet = now.saturating_add(QUIET).as_micros();
        self.state.lock().await.quiet = next.map_or(quiet, |next| quiet.min(next.as_micros()));
    }

    /// Asks the process that looks to do so: something new may be due. Returns before it was asked.
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

    /// The same, and returns when it was asked.
    pub(crate) async fn ask_now(&self, database: &DatabaseHandle) {
        self.asks.fetch_add(1, Ordering::AcqRel);
        if database.topology == Topology::Cluster && !self.is_here(database) {
            self.ask_others(database).await;
        }
    }

    /// Whether this process looks, as far as it knows.
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
                "the process that looks for what is due was not asked; it looks within a minute"
            );
        }
    }
}

/// When the process that looks does so next, if the next entry is due then.
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

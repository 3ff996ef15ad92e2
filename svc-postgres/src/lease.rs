//! Leases: what one process at a time does for all processes of a database.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use svc_core::value::Timestamp;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::{
    cluster::Topology,
    database::Database,
    error::Result,
    pipeline::{Query, values},
};

/// How long a process looks for all, unless it renews its lease. It does so when half of this time is over.
const LOOKING: Duration = Duration::from_secs(15);
/// How long a process that has found nothing relies on being asked.
const QUIET: Duration = Duration::from_secs(60);
/// How long requests to look are collected.
const GATHER: Duration = Duration::from_millis(200);

impl Database {
    /// Takes or renews a lease until a time. `false` if another process has it.
    pub(crate) async fn take_lease(&self, name: &str, now: Timestamp, time: Duration) -> Result<bool> {
        let values = values![name.to_owned(), self.process, now.plus(time).micros(), now.micros()];
        Ok(!self.ask(None, Query::new(&*self.texts.take_lease, values)).await?.is_empty())
    }

    /// Ends a lease, if this process has it.
    pub(crate) async fn end_lease(&self, name: &str) -> Result<()> {
        let values = values![name.to_owned(), self.process];
        self.ask(None, Query::new(&*self.texts.end_lease, values)).await?;
        Ok(())
    }

    /// Who has a lease, until when, and how often it was asked.
    async fn lease(&self, name: &str) -> Result<Option<(Uuid, i64, i64)>> {
        let rows = self.ask(None, Query::new(&*self.texts.lease, values![name.to_owned()])).await?;
        let row =
            rows.first().map(|row| Ok::<_, tokio_postgres::Error>((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)));
        Ok(row.transpose()?)
    }
}

/// Looking for what is due over all tenants. On a cluster that asks every shard: there one process at a time looks, and while
/// nothing is due it looks only if another process asks it to. On one server every process looks.
pub(crate) struct Lookout {
    name: &'static str,
    state: Mutex<State>,
    is_asking: AtomicBool,
}

#[derive(Default)]
struct State {
    /// Until when this process has the lease; in microseconds, like the others.
    held: i64,
    /// Until when nothing is due, unless something is asked.
    quiet: i64,
    /// How often it was asked by other processes, and by this one, when this process last looked.
    asked: i64,
    asked_here: u64,
    /// How often this process has asked itself.
    asks: u64,
}

impl Lookout {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, state: Mutex::default(), is_asking: AtomicBool::default() }
    }

    /// Whether this process looks now.
    pub(crate) async fn may_look(&self, database: &Database, now: Timestamp) -> Result<bool> {
        if database.topology == Topology::Server {
            return Ok(true);
        }
        let mut state = self.state.lock().await;
        // Every node has this table: no other one is asked.
        let lease = database.lease(self.name).await?;
        let asked = lease.map_or(0, |(.., asked)| asked);
        let is_others = lease.is_some_and(|(holder, until, _)| holder != database.process && until > now.micros());
        let renews = state.held <= now.plus(LOOKING.div_f64(2.0)).micros();
        if is_others || renews && !database.take_lease(self.name, now, LOOKING).await? {
            // What it has found is no longer known when it takes over.
            *state = State::default();
            return Ok(false);
        }
        if renews {
            state.held = now.plus(LOOKING).micros();
        }
        if asked == state.asked && state.quiet > now.micros() {
            return Ok(false);
        }
        (state.asked, state.asked_here, state.quiet) = (asked, state.asks, 0);
        Ok(true)
    }

    /// Nothing is due before `next`, or at all.
    pub(crate) async fn found_nothing(&self, now: Timestamp, next: Option<Timestamp>) {
        let quiet = now.plus(QUIET).micros();
        let mut state = self.state.lock().await;
        // What was asked meanwhile may not have been found.
        if state.asked_here == state.asks {
            state.quiet = next.map_or(quiet, |next| quiet.min(next.micros()));
        }
    }

    /// Asks the process that looks to do so: something new may be due.
    pub(crate) fn ask(self: &Arc<Self>, database: &Arc<Database>) {
        if database.topology == Topology::Server {
            return;
        }
        if let Ok(mut state) = self.state.try_lock()
            && state.held > (database.options.now)().micros()
        {
            // It is this process.
            (state.asks, state.quiet) = (state.asks.wrapping_add(1), 0);
            return;
        }
        if self.is_asking.swap(true, Ordering::AcqRel) {
            return;
        }
        let (lookout, database) = (Arc::clone(self), Arc::clone(database));
        tokio::spawn(async move {
            tokio::time::sleep(GATHER).await;
            lookout.is_asking.store(false, Ordering::Release);
            let asked = Query::new(&*database.texts.ask_lease, values![lookout.name.to_owned()]);
            if let Err(error) = database.ask(None, asked).await {
                tracing::warn!(
                    ?error,
                    "the process that looks for what is due could not be asked; it looks within a minute"
                );
            }
        });
    }
}

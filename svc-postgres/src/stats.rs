//! What the store says of its own work, for metrics.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// The work of a store since it was opened, and what it has to do at this moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Writes in the queues of all tenants now.
    pub writes_waiting: usize,
    /// Transactions that were committed: each is one sync, however many writes share it.
    pub batches: u64,
    /// Writes in them.
    pub writes: u64,
    /// Writes in the largest of them.
    pub largest_batch: u64,
    /// Time spent in writing and COMMIT.
    pub commit_time: Duration,
    /// Connections to the first server that are at work now.
    pub connections_busy: usize,
    /// Those that are open and wait for work.
    pub connections_idle: usize,
    /// Calls that wait for a connection now.
    pub connections_wanted: usize,
}

/// Counts transactions; read at any time.
#[derive(Debug, Default)]
pub(crate) struct Commits {
    batches: AtomicU64,
    writes: AtomicU64,
    largest: AtomicU64,
    micros: AtomicU64,
}

impl Commits {
    /// Counts a COMMIT of so many writes.
    pub(crate) fn count(&self, writes: usize, time: Duration) {
        let writes = u64::try_from(writes).unwrap_or(u64::MAX);
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.writes.fetch_add(writes, Ordering::Relaxed);
        self.largest.fetch_max(writes, Ordering::Relaxed);
        self.micros.fetch_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// What was committed so far.
    pub(crate) fn stats(&self) -> Stats {
        Stats {
            batches: self.batches.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            largest_batch: self.largest.load(Ordering::Relaxed),
            commit_time: Duration::from_micros(self.micros.load(Ordering::Relaxed)),
            ..Stats::default()
        }
    }
}

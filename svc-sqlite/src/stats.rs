//! What the store says of its own work, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The work of a store since it was opened, and what it has to do at this moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Writes in the queue of the writer now.
    pub writes_waiting: usize,
    /// Transactions that ended with a COMMIT: each is one sync, however many writes share it.
    pub batches: u64,
    /// Writes in them, also those that were undone alone.
    pub writes: u64,
    /// Writes in the largest of them.
    pub largest_batch: u64,
    /// Time spent in COMMIT, nearly all of it in the sync.
    pub commit_time: Duration,
    /// Reading connections that are open now.
    pub readers_open: usize,
    /// Those at work now.
    pub readers_busy: usize,
    /// Reads that wait for one of them now.
    pub reads_waiting: usize,
}

/// Counts transactions; read at any time without stopping the writer.
#[derive(Debug, Default)]
pub(crate) struct Commits {
    batches: AtomicU64,
    writes: AtomicU64,
    largest: AtomicU64,
    nanos: AtomicU64,
}

impl Commits {
    /// Counts a COMMIT of so many writes.
    pub(crate) fn count(&self, writes: usize, time: Duration) {
        let writes = u64::try_from(writes).unwrap_or(u64::MAX);
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.writes.fetch_add(writes, Ordering::Relaxed);
        self.largest.fetch_max(writes, Ordering::Relaxed);
        self.nanos.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// What was committed so far.
    pub(crate) fn stats(&self) -> Stats {
        Stats {
            batches: self.batches.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            largest_batch: self.largest.load(Ordering::Relaxed),
            commit_time: Duration::from_nanos(self.nanos.load(Ordering::Relaxed)),
            ..Stats::default()
        }
    }
}

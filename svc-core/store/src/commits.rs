//! Counters of the transactions of a store, for metrics.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Counts the transactions of a store. Reading the counters does not block writers.
#[derive(Debug, Default)]
pub struct CommitCounters {
    batches: AtomicU64,
    writes: AtomicU64,
    largest: AtomicU64,
    nanos: AtomicU64,
}

/// The transactions of a store since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitStats {
    /// The number of committed transactions. Each needs one sync to disk, however many writes share
    /// it.
    pub transactions: u64,
    /// The number of writes in them, including writes that were rolled back individually.
    pub writes: u64,
    /// The number of writes in the largest transaction.
    pub largest_transaction: u64,
    /// The time spent in COMMIT, most of it for the sync. If the changes are sent together with
    /// COMMIT, this includes their transfer.
    pub commit_time: Duration,
}

impl CommitCounters {
    /// Counts one COMMIT with this number of writes.
    pub fn record(&self, writes: usize, time: Duration) {
        let writes = u64::try_from(writes).unwrap_or(u64::MAX);
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.writes.fetch_add(writes, Ordering::Relaxed);
        self.largest.fetch_max(writes, Ordering::Relaxed);
        self.nanos.fetch_add(
            u64::try_from(time.as_nanos()).unwrap_or(u64::MAX),
            Ordering::Relaxed,
        );
    }

    /// Returns the current counters.
    #[must_use]
    pub fn snapshot(&self) -> CommitStats {
        CommitStats {
            transactions: self.batches.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            largest_transaction: self.largest.load(Ordering::Relaxed),
            commit_time: Duration::from_nanos(self.nanos.load(Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_counted() {
        let commits = CommitCounters::default();
        assert_eq!(commits.snapshot(), CommitStats::default());
        commits.record(3, Duration::from_millis(2));
        commits.record(1, Duration::from_millis(5));
        let commit_time = Duration::from_millis(7);
        assert_eq!(
            commits.snapshot(),
            CommitStats {
                transactions: 2,
                writes: 4,
                largest_transaction: 3,
                commit_time
            }
        );
    }
}

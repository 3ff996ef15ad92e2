//! What a store counts of its transactions, for metrics.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Counts the transactions of a store; read at any time without stopping a writer.
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
    /// Transactions that ended with a COMMIT: each is one sync, however many writes share it.
    pub transactions: u64,
    /// Writes in them, also those that were undone alone.
    pub writes: u64,
    /// Writes in the largest of them.
    pub largest_transaction: u64,
    /// Time spent in COMMIT, nearly all of it in the sync; where what was changed travels with
    /// COMMIT, that as well.
    pub commit_time: Duration,
}

impl CommitCounters {
    /// Counts a COMMIT of so many writes.
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

    /// What was counted so far.
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
        let time = Duration::from_millis(7);
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

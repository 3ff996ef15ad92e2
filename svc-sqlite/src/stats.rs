//! What the store says of its own work, for metrics.

use svc_store::commits::CommitStats;

/// The work of a store since it was opened, and what it has to do at this moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqliteStats {
    /// Writes in the queue of the writer now.
    pub queued_writes: usize,
    /// Transactions until now.
    pub commits: CommitStats,
    /// Reading connections that are open now.
    pub open_readers: usize,
    /// Those at work now.
    pub busy_readers: usize,
    /// Reads that wait for one of them now.
    pub queued_reads: usize,
}

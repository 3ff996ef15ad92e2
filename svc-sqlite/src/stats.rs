//! Figures about the work of the store, for metrics.

use svc_store::commits::CommitStats;

/// The work of a store since it was opened, and its current work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqliteStats {
    /// Number of writes in the write queue.
    pub queued_writes: usize,
    /// Transactions since the store was opened.
    pub commits: CommitStats,
    /// Number of open reading connections.
    pub open_readers: usize,
    /// Number of reading connections that execute a read.
    pub busy_readers: usize,
    /// Number of reads that wait for a connection.
    pub queued_reads: usize,
}

//! Figures about the work of the store, for metrics.

use svc_store::commits::CommitStats;

/// The work of a store since it was opened, and its current work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqliteStats {
    /// Number of writes in the write queue.
    pub writes_waiting: usize,
    /// Transactions since the store was opened.
    pub commits: CommitStats,
    /// Number of open reading connections.
    pub readers_open: usize,
    /// Number of reading connections that execute a read.
    pub readers_busy: usize,
    /// Number of reads that wait for a connection.
    pub reads_waiting: usize,
}

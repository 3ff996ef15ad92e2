//! Figures about the work of the store, for metrics.

use svc_store::commits::CommitStats;

/// The work of a store since it was opened, and its current work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostgresStats {
    /// Number of writes in the queues of all tenants.
    pub writes_waiting: usize,
    /// Transactions since the store was opened.
    pub commits: CommitStats,
    /// Number of connections to the primary that are in use.
    pub connections_busy: usize,
    /// Number of idle connections.
    pub connections_idle: usize,
    /// Number of callers that wait for a connection.
    pub connections_wanted: usize,
}

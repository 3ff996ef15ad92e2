//! Figures about the work of the store, for metrics.

use svc_store::commits::CommitStats;

/// The work of a store since it was opened, and its current work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostgresStats {
    /// Number of writes in the queues of all tenants.
    pub queued_writes: usize,
    /// Transactions since the store was opened.
    pub commits: CommitStats,
    /// Number of connections to the primary that are in use.
    pub busy_connections: usize,
    /// Number of idle connections.
    pub idle_connections: usize,
    /// Number of callers that wait for a connection.
    pub waiting_for_connection: usize,
}

//! What the store says of its own work, for metrics.

use svc_store::commits::CommitStats;

/// The work of a store since it was opened, and what it has to do at this moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostgresStats {
    /// Writes in the queues of all tenants now.
    pub queued_writes: usize,
    /// Transactions until now.
    pub commits: CommitStats,
    /// Connections to the first server that are at work now.
    pub busy_connections: usize,
    /// Those that are open and wait for work.
    pub idle_connections: usize,
    /// Calls that wait for a connection now.
    pub waiting_for_connection: usize,
}

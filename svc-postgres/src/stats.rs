//! What the store says of its own work, for metrics.

use svc_store::commits::CommitStats;

/// The work of a store since it was opened, and what it has to do at this moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PostgresStats {
    /// Writes in the queues of all tenants now.
    pub writes_waiting: usize,
    /// Transactions until now.
    pub commits: CommitStats,
    /// Connections to the first server that are at work now.
    pub connections_busy: usize,
    /// Those that are open and wait for work.
    pub connections_idle: usize,
    /// Calls that wait for a connection now.
    pub connections_wanted: usize,
}

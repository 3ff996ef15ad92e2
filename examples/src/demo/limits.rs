//! How long and how much the demo's HTTP server waits and takes (UND-17, UND-42).

use std::time::Duration;

/// The limits of the HTTP server. [`Limits::default`] is what the demo runs with.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time for the head of a request to arrive, from its first byte; for the first one, from the connection.
    pub head: Duration,
    /// Time for the body of a request to arrive, from the end of its head.
    pub body: Duration,
    /// Time for which a connection may lie idle, or a client may not read its answer.
    pub idle: Duration,
    /// Connections at a time; more wait until one ends.
    pub connections: u32,
    /// How long a request waits for the data of a new file before it is told to come again.
    pub load: Duration,
    /// After the order to stop: for how long requests that were already on their way are still taken.
    pub stop_grace: Duration,
    /// After the order to stop: for how long accepted requests may go on.
    pub stop: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            idle: Duration::from_secs(75),
            connections: 900,
            load: Duration::from_secs(10),
            stop_grace: Duration::from_millis(100),
            stop: Duration::from_secs(45),
        }
    }
}

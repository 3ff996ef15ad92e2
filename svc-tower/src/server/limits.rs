//! How long and how much the server waits and takes.
//!
//! Requirements: UND-17, UND-42.

use std::time::Duration;

use tokio::time::Instant;

/// The longest time that is waited for anything, which is for ever.
const LONGEST: Duration = Duration::from_secs(24 * 365 * 60 * 60);

/// The least room that hyper needs for a head.
const LEAST_HEAD: usize = 8 * 1024;

/// The limits of a [`Server`](super::Server). [`Duration::MAX`] is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Time for the head of a request to arrive, from its first byte; for the first one, from the
    /// connection. 10 s unless set.
    pub head: Duration,
    /// Bytes of the head of a request, 8 KiB at least; 64 KiB unless set.
    pub head_bytes: usize,
    /// Time for the body of a request to arrive, from the end of its head; of one that is read line
    /// by line, for the next of them to arrive. 30 s unless set.
    pub body: Duration,
    /// Time for which a connection may lie idle, or a client may not read its answer. 75 s unless
    /// set.
    pub idle: Duration,
    /// Time for which a connection that closes before it has read a whole request still reads and
    /// drops what the client sends, so that the client can read the response. 2 s unless set.
    pub linger: Duration,
    /// Connections at a time, one at least. When another one arrives, the connection that has been
    /// idle longest is closed; if none is idle, it waits. 900 unless set, for the usual 1024 file
    /// descriptors of a process.
    pub connections: u32,
    /// Connections of one peer address at a time, one at least; an IPv6 address counts by its first
    /// 64 bits. When another one arrives, the connection of that address that has been idle longest
    /// is closed; if none is idle, it is answered 503 and closed. 256 unless set. [Trusted
    /// proxies](super::Server::trusted_proxies) have no such limit.
    pub connections_per_address: u32,
    /// After the order to stop: for how long requests that were already on their way are still
    /// taken. 100 ms unless set.
    pub stop_grace: Duration,
    /// After the order to stop: for how long accepted requests may go on. 45 s unless set.
    pub stop: Duration,
}

impl ServerLimits {
    /// Time for the head of a request to arrive, from its first byte; for the first one, from the
    /// connection.
    #[must_use]
    pub fn head(self, head: Duration) -> Self {
        Self { head, ..self }
    }

    /// Bytes of the head of a request, 8 KiB at least.
    #[must_use]
    pub fn head_bytes(self, head_bytes: usize) -> Self {
        Self { head_bytes, ..self }
    }

    /// Time for the body of a request to arrive, from the end of its head.
    #[must_use]
    pub fn body(self, body: Duration) -> Self {
        Self { body, ..self }
    }

    /// Time for which a connection may lie idle, or a client may not read its answer.
    #[must_use]
    pub fn idle(self, idle: Duration) -> Self {
        Self { idle, ..self }
    }

    /// Time for which a connection that closes before it has read a whole request still reads and
    /// drops what the client sends.
    #[must_use]
    pub fn linger(self, linger: Duration) -> Self {
        Self { linger, ..self }
    }

    /// Connections at a time, one at least.
    #[must_use]
    pub fn connections(self, connections: u32) -> Self {
        Self {
            connections,
            ..self
        }
    }

    /// Connections of one peer address at a time, one at least.
    #[must_use]
    pub fn connections_per_address(self, connections_per_address: u32) -> Self {
        Self {
            connections_per_address,
            ..self
        }
    }

    /// After the order to stop: for how long requests that were already on their way are still
    /// taken.
    #[must_use]
    pub fn stop_grace(self, stop_grace: Duration) -> Self {
        Self { stop_grace, ..self }
    }

    /// After the order to stop: for how long accepted requests may go on.
    #[must_use]
    pub fn stop(self, stop: Duration) -> Self {
        Self { stop, ..self }
    }

    /// The most connections.
    pub(super) fn slots(&self) -> usize {
        usize::try_from(self.connections)
            .unwrap_or(usize::MAX)
            .max(1)
    }

    /// The most connections of one address.
    pub(super) fn address_slots(&self) -> u32 {
        self.connections_per_address.max(1)
    }

    /// The most bytes of a head, as hyper takes them.
    pub(super) fn head_room(&self) -> usize {
        self.head_bytes.max(LEAST_HEAD)
    }
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            head_bytes: 64 * 1024,
            body: Duration::from_secs(30),
            idle: Duration::from_secs(75),
            linger: Duration::from_secs(2),
            connections: 900,
            connections_per_address: 256,
            stop_grace: Duration::from_millis(100),
            stop: Duration::from_secs(45),
        }
    }
}

/// The instant after a time, however long that is.
pub(super) fn later(from: Instant, time: Duration) -> Instant {
    from.checked_add(time.min(LONGEST)).unwrap_or(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UND-42: no limit that can be set makes the server fail.
    #[test]
    fn und_42_limits_beyond_all_measure_are_taken() {
        let least = ServerLimits::default()
            .connections(0)
            .connections_per_address(0)
            .head_bytes(0);
        assert_eq!(
            (least.head_room(), least.slots(), least.address_slots()),
            (8192, 1, 1)
        );
        let now = Instant::now();
        assert!(later(now, Duration::MAX) > now);
    }

    /// UND-42: what is waited for at most, unless said otherwise.
    #[test]
    fn und_42_the_server_waits_ten_thirty_and_seventy_five_seconds() {
        let limits = ServerLimits::default();
        let seconds = [limits.head, limits.body, limits.idle].map(|limit| limit.as_secs());
        assert_eq!(
            (seconds, limits.connections, limits.connections_per_address),
            ([10, 30, 75], 900, 256)
        );
    }
}

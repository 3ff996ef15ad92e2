//! The limits of the server on time and size.
//!
//! Requirements: UND-17, UND-42.

use std::time::Duration;

use tokio::time::Instant;

/// The longest timeout, which in practice is unlimited.
const LONGEST: Duration = Duration::from_secs(24 * 365 * 60 * 60);

/// The smallest buffer that hyper needs for a head.
const LEAST_HEAD: usize = 8 * 1024;

/// The limits of a [`Server`](super::Server). [`Duration::MAX`] means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Timeout for the head of a request, from its first byte; for the first request, from the
    /// start of the connection. Default: 10 s.
    pub header_timeout: Duration,
    /// Maximum size of the head of a request in bytes, at least 8 KiB. Default: 64 KiB.
    pub max_header_bytes: usize,
    /// Timeout for the body of a request, from the end of its head. For a body that is read line by
    /// line, it is the timeout for the next line. Default: 30 s.
    pub body_timeout: Duration,
    /// Timeout for an idle connection, and for a client that does not read its response. Default:
    /// 75 s.
    pub idle_timeout: Duration,
    /// Time for which a connection that closes before a whole request was read still reads and
    /// drops input. The client can then read the response. Default: 2 s.
    pub linger: Duration,
    /// Maximum number of connections, at least one. When another one arrives, the connection that
    /// has been idle longest is closed. If none is idle, the new one waits. The default is 900, for
    /// the usual 1024 file descriptors of a process.
    pub max_connections: u32,
    /// Maximum number of connections of one peer address, at least one; an IPv6 address counts by
    /// its first 64 bits. When another one arrives, the connection of this address that has been
    /// idle longest is closed. If none is idle, the new one gets 503 and is closed. Default: 256.
    /// [Trusted proxies](super::Server::trusted_proxies) do not have this limit.
    pub connections_per_address: u32,
    /// Time after the order to stop for which requests that are already in transit are accepted.
    /// Default: 100 ms.
    pub shutdown_grace: Duration,
    /// Time after the order to stop for which accepted requests can continue. Default: 45 s.
    pub shutdown_timeout: Duration,
}

impl ServerLimits {
    /// Sets the timeout for the head of a request, from its first byte; for the first request, from
    /// the start of the connection.
    #[must_use]
    pub fn header_timeout(self, head: Duration) -> Self {
        Self {
            header_timeout: head,
            ..self
        }
    }

    /// Sets the maximum size of the head of a request in bytes, at least 8 KiB.
    #[must_use]
    pub fn max_header_bytes(self, head_bytes: usize) -> Self {
        Self {
            max_header_bytes: head_bytes,
            ..self
        }
    }

    /// Sets the timeout for the body of a request, from the end of its head.
    #[must_use]
    pub fn body_timeout(self, body: Duration) -> Self {
        Self {
            body_timeout: body,
            ..self
        }
    }

    /// Sets the timeout for an idle connection, and for a client that does not read its response.
    #[must_use]
    pub fn idle_timeout(self, idle: Duration) -> Self {
        Self {
            idle_timeout: idle,
            ..self
        }
    }

    /// Sets the time for which a connection that closes before a whole request was read still reads
    /// and drops input.
    #[must_use]
    pub fn linger(self, linger: Duration) -> Self {
        Self { linger, ..self }
    }

    /// Sets the maximum number of connections, at least one.
    #[must_use]
    pub fn max_connections(self, connections: u32) -> Self {
        Self {
            max_connections: connections,
            ..self
        }
    }

    /// Sets the maximum number of connections of one peer address, at least one.
    #[must_use]
    pub fn connections_per_address(self, connections_per_address: u32) -> Self {
        Self {
            connections_per_address,
            ..self
        }
    }

    /// Sets the time after the order to stop for which requests that are already in transit are
    /// accepted.
    #[must_use]
    pub fn shutdown_grace(self, stop_grace: Duration) -> Self {
        Self {
            shutdown_grace: stop_grace,
            ..self
        }
    }

    /// Sets the time after the order to stop for which accepted requests can continue.
    #[must_use]
    pub fn shutdown_timeout(self, stop: Duration) -> Self {
        Self {
            shutdown_timeout: stop,
            ..self
        }
    }

    /// Returns the maximum number of connections.
    pub(super) fn slots(&self) -> usize {
        usize::try_from(self.max_connections)
            .unwrap_or(usize::MAX)
            .max(1)
    }

    /// Returns the maximum number of connections of one address.
    pub(super) fn address_slots(&self) -> u32 {
        self.connections_per_address.max(1)
    }

    /// Returns the maximum size of a head for hyper, in bytes.
    pub(super) fn head_room(&self) -> usize {
        self.max_header_bytes.max(LEAST_HEAD)
    }
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(10),
            max_header_bytes: 64 * 1024,
            body_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(75),
            linger: Duration::from_secs(2),
            max_connections: 900,
            connections_per_address: 256,
            shutdown_grace: Duration::from_millis(100),
            shutdown_timeout: Duration::from_secs(45),
        }
    }
}

/// Returns the instant after a duration of any length.
pub(super) fn later(from: Instant, time: Duration) -> Instant {
    from.checked_add(time.min(LONGEST)).unwrap_or(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// UND-42: no value of a limit makes the server fail.
    #[test]
    fn und_42_limits_beyond_all_measure_are_taken() {
        let least = ServerLimits::default()
            .max_connections(0)
            .connections_per_address(0)
            .max_header_bytes(0);
        assert_eq!(
            (least.head_room(), least.slots(), least.address_slots()),
            (8192, 1, 1)
        );
        let now = Instant::now();
        assert!(later(now, Duration::MAX) > now);
    }

    /// UND-42: the default limits.
    #[test]
    fn und_42_the_server_waits_ten_thirty_and_seventy_five_seconds() {
        let limits = ServerLimits::default();
        let seconds = [
            limits.header_timeout,
            limits.body_timeout,
            limits.idle_timeout,
        ]
        .map(|limit| limit.as_secs());
        assert_eq!(
            (
                seconds,
                limits.max_connections,
                limits.connections_per_address
            ),
            ([10, 30, 75], 900, 256)
        );
    }
}

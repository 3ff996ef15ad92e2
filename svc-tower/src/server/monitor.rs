//! The state of one connection, and its deadlines.
//!
//! Requirements: UND-42.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{sync::Notify, time::Instant};

use super::limits::{ServerLimits, later};

/// The state of one connection. Its socket, the bodies of its requests and its task share it.
#[derive(Debug)]
pub(super) struct ConnectionMonitor {
    limits: ServerLimits,
    state: Mutex<ConnectionState>,
    /// Notified when the connection becomes idle.
    changed: Arc<Notify>,
    /// Notified when the connection must make room for another one.
    closing: Notify,
}

#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is observed by itself, in any phase"
)]
struct ConnectionState {
    phase: ConnectionPhase,
    /// Time of the last transferred byte.
    last: Instant,
    /// Whether a response waits for a client that does not read.
    write_blocked: bool,
    /// Whether the body of the last request was not read to its end.
    unread: bool,
    /// Whether a body arrived too slowly.
    too_slow: bool,
    /// Whether the connection must make room for another one.
    ///
    /// Requirements: UND-44.
    is_closing: bool,
    /// When the server closed its half of the connection and started to linger.
    lingers_since: Option<Instant>,
}

impl ConnectionState {
    /// Returns whether the response to the last request is written completely.
    fn is_idle(&self) -> bool {
        self.phase == ConnectionPhase::Idle && !self.write_blocked
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionPhase {
    /// No byte has arrived since the connection was accepted.
    Fresh(Instant),
    /// The head of a request is arriving, since this instant.
    Head(Instant),
    /// The service executes a request.
    Service,
    /// The response is written while it is made.
    Answer,
    /// The response to the last request is complete, or its end is being written.
    Idle,
    /// The connection was upgraded to another protocol, and the server no longer uses it.
    Upgraded,
}

/// How the server closes its half of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CloseMode {
    /// No more input is expected from the client.
    Immediate,
    /// The client may still send: from now on its input is read and dropped.
    StartLingering,
    /// Lingering continues.
    KeepLingering,
}

impl ConnectionMonitor {
    pub(super) fn new(limits: ServerLimits, changed: Arc<Notify>) -> Arc<Self> {
        let now = Instant::now();
        let state = ConnectionState {
            phase: ConnectionPhase::Fresh(now),
            last: now,
            write_blocked: false,
            unread: false,
            too_slow: false,
            is_closing: false,
            lingers_since: None,
        };
        Arc::new(Self {
            limits,
            state: Mutex::new(state),
            changed,
            closing: Notify::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the head of a request is complete. Returns the instant at which its body must
    /// be complete.
    pub(super) fn request_begins(&self) -> Instant {
        let mut state = self.state();
        state.phase = ConnectionPhase::Service;
        state.unread = false;
        self.body_deadline()
    }

    /// Returns when the body, or the awaited part of it, must have arrived.
    pub(super) fn body_deadline(&self) -> Instant {
        later(Instant::now(), self.limits.body_timeout)
    }

    /// Records that the service has returned a response, whose body is made now.
    pub(super) fn answer_begins(&self) {
        self.state().phase = ConnectionPhase::Answer;
    }

    /// Records that the body of the response has ended.
    pub(super) fn answer_ends(&self) {
        let mut state = self.state();
        if state.phase == ConnectionPhase::Answer {
            state.phase = ConnectionPhase::Idle;
            state.last = Instant::now();
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Returns since when the connection has been idle between two requests, if it is.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        state.is_idle().then_some(state.last)
    }

    /// Closes the connection if it is idle between two requests. Returns whether it is.
    pub(super) fn close_if_idle(&self) -> bool {
        let mut state = self.state();
        let is_idle = state.is_idle();
        if is_idle {
            state.is_closing = true;
            self.closing.notify_one();
        }
        is_idle
    }

    /// Waits until the connection must make room for another one.
    pub(super) async fn closing(&self) {
        self.closing.notified().await;
    }

    /// Returns whether the connection must make room for another one and has no request in
    /// progress.
    pub(super) fn closes_now(&self) -> bool {
        let state = self.state();
        state.is_closing && state.is_idle()
    }

    /// Returns whether the connection must make room for another one after its current request.
    pub(super) fn is_closing(&self) -> bool {
        self.state().is_closing
    }

    /// Records that the server no longer uses the connection.
    pub(super) fn upgrades(&self) {
        self.state().phase = ConnectionPhase::Upgraded;
    }

    /// Records that the server closes its half of the connection.
    ///
    /// If a part of a request is still unread, closing the socket immediately resets the
    /// connection, and the response (431, 413, 408) could be lost.
    pub(super) fn closes(&self) -> CloseMode {
        let mut state = self.state();
        let is_unread = state.unread || matches!(state.phase, ConnectionPhase::Head(_));
        match state.lingers_since {
            _ if !is_unread => CloseMode::Immediate,
            Some(_) => CloseMode::KeepLingering,
            None => {
                state.lingers_since = Some(Instant::now());
                CloseMode::StartLingering
            }
        }
    }

    pub(super) fn body_too_slow(&self) {
        self.state().too_slow = true;
    }

    pub(super) fn body_left_unread(&self) {
        self.state().unread = true;
    }

    /// Returns whether a body of this connection arrived too slowly, so that no more input is
    /// expected.
    pub(super) fn was_too_slow(&self) -> bool {
        self.state().too_slow
    }

    /// Returns whether the service executes a request of this connection.
    pub(super) fn in_service(&self) -> bool {
        self.state().phase == ConnectionPhase::Service
    }

    /// Returns whether arriving bytes belong to the body of a request.
    pub(super) fn reads_body(&self) -> bool {
        matches!(
            self.state().phase,
            ConnectionPhase::Service | ConnectionPhase::Answer
        )
    }

    /// Returns when the connection is closed if nothing happens before. `stop` is the time of the
    /// order to stop.
    pub(super) fn deadline(&self, stop: Option<Instant>) -> Option<Instant> {
        let state = self.state();
        let (own, is_quiet) = match state.phase {
            _ if state.lingers_since.is_some() => (
                state
                    .lingers_since
                    .map(|since| later(since, self.limits.linger)),
                false,
            ),
            ConnectionPhase::Service | ConnectionPhase::Upgraded => (None, false),
            ConnectionPhase::Answer => (
                state
                    .write_blocked
                    .then(|| later(state.last, self.limits.idle_timeout)),
                false,
            ),
            ConnectionPhase::Fresh(since) => (Some(later(since, self.limits.header_timeout)), true),
            ConnectionPhase::Head(since) => (Some(later(since, self.limits.header_timeout)), false),
            ConnectionPhase::Idle => (
                Some(later(state.last, self.limits.idle_timeout)),
                !state.write_blocked,
            ),
        };
        let end = stop.map(|stop| {
            let longest = later(stop, self.limits.shutdown_timeout);
            match state.phase {
                _ if !is_quiet => longest,
                // A connection that was accepted after the order to stop may have a request in its
                // socket.
                ConnectionPhase::Fresh(since) => {
                    later(since.max(stop), self.limits.shutdown_grace).min(longest)
                }
                _ => later(stop, self.limits.shutdown_grace).min(longest),
            }
        });
        own.into_iter().chain(end).min()
    }

    /// Records that bytes arrived from the client.
    pub(super) fn on_read(&self) {
        let mut state = self.state();
        let now = Instant::now();
        state.last = now;
        state.phase = match state.phase {
            ConnectionPhase::Fresh(since) => ConnectionPhase::Head(since),
            ConnectionPhase::Idle => ConnectionPhase::Head(now),
            phase @ (ConnectionPhase::Head(_)
            | ConnectionPhase::Service
            | ConnectionPhase::Answer
            | ConnectionPhase::Upgraded) => phase,
        };
    }

    /// Records that bytes were sent to the client, or that it does not read.
    pub(super) fn on_write(&self, blocked: bool) {
        let mut state = self.state();
        state.write_blocked = blocked;
        if !blocked {
            state.last = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// UND-42: the time that a server takes to accept a connection does not count against the grace
    /// period of that connection.
    #[test]
    fn und_42_a_connection_that_is_accepted_late_has_the_whole_grace() {
        const MINUTE: Duration = Duration::from_secs(60);
        let stopped = Instant::now();
        let accepted = later(stopped, MINUTE);
        let deadline = |stop| {
            let limits = ServerLimits::default()
                .header_timeout(Duration::MAX)
                .shutdown_grace(MINUTE)
                .shutdown_timeout(stop);
            let watch = ConnectionMonitor::new(limits, Arc::default());
            watch.state().phase = ConnectionPhase::Fresh(accepted);
            watch.deadline(Some(stopped))
        };
        assert_eq!(deadline(MINUTE * 3), Some(later(accepted, MINUTE)));
        assert_eq!(
            deadline(MINUTE),
            Some(accepted),
            "no grace period is longer than the stop timeout"
        );
    }
}

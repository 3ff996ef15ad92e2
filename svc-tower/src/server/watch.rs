//! What one connection is doing, and until when it may go on doing it.
//!
//! Requirements: UND-42.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{sync::Notify, time::Instant};

use super::limits::{ServerLimits, later};

/// What one connection is doing. Shared by its socket, its requests' bodies and the task that
/// drives it.
#[derive(Debug)]
pub(super) struct ConnectionMonitor {
    limits: ServerLimits,
    state: Mutex<ConnectionState>,
    /// Told when the connection becomes idle.
    changed: Arc<Notify>,
    /// Told when the connection has to make room for another one.
    closing: Notify,
}

#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is observed by itself, in any phase"
)]
struct ConnectionState {
    phase: ConnectionPhase,
    /// When a byte last went through.
    last: Instant,
    /// Whether an answer waits for a client that does not read.
    write_blocked: bool,
    /// Whether the body of the last request was not read to its end.
    unread: bool,
    /// Whether a body came too slowly.
    too_slow: bool,
    /// Whether the connection has to make room for another one.
    ///
    /// Requirements: UND-44.
    is_closing: bool,
    /// When the connection closed its own half and began to linger.
    lingers_since: Option<Instant>,
}

impl ConnectionState {
    /// Whether the last request was answered, and all of the answer was written.
    fn is_idle(&self) -> bool {
        self.phase == ConnectionPhase::Idle && !self.write_blocked
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionPhase {
    /// Nothing came yet since the connection was made.
    Fresh(Instant),
    /// The head of a request is coming, since this instant.
    Head(Instant),
    /// The service works on a request.
    Service,
    /// The answer is being made while it is written.
    Answer,
    /// The last request was answered, or the end of its answer is being written.
    Idle,
    /// The connection is not the server's any more: it speaks another protocol now.
    Upgraded,
}

/// How a connection closes its own half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CloseMode {
    /// Nothing more is expected from the client.
    AtOnce,
    /// The client may still be sending: from now on that is taken and dropped.
    Lingering,
    /// This goes on.
    StillLingering,
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

    /// A request's head is complete and goes to the service; its body has to be complete at the
    /// instant returned.
    pub(super) fn request_begins(&self) -> Instant {
        let mut state = self.state();
        state.phase = ConnectionPhase::Service;
        state.unread = false;
        self.body_deadline()
    }

    /// When a body, or the part of it that is waited for, has to be there.
    pub(super) fn body_deadline(&self) -> Instant {
        later(Instant::now(), self.limits.body)
    }

    /// The service has answered, and makes the body of its answer.
    pub(super) fn answer_begins(&self) {
        self.state().phase = ConnectionPhase::Answer;
    }

    /// The body of the answer has ended.
    pub(super) fn answer_ends(&self) {
        let mut state = self.state();
        if state.phase == ConnectionPhase::Answer {
            state.phase = ConnectionPhase::Idle;
            state.last = Instant::now();
            drop(state);
            self.changed.notify_one();
        }
    }

    /// Since when the connection has been idle between two requests, if it is.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        state.is_idle().then_some(state.last)
    }

    /// Orders the connection to close if it is idle between two requests. Whether it is.
    pub(super) fn close_if_idle(&self) -> bool {
        let mut state = self.state();
        let is_idle = state.is_idle();
        if is_idle {
            state.is_closing = true;
            self.closing.notify_one();
        }
        is_idle
    }

    /// Waits until the connection has to make room for another one.
    pub(super) async fn closing(&self) {
        self.closing.notified().await;
    }

    /// Whether the connection has to make room for another one, and nothing is under way on it.
    pub(super) fn closes_now(&self) -> bool {
        let state = self.state();
        state.is_closing && state.is_idle()
    }

    /// Whether the connection has to make room for another one once its request is answered.
    pub(super) fn is_closing(&self) -> bool {
        self.state().is_closing
    }

    /// The server has no more to do with the connection.
    pub(super) fn upgrades(&self) {
        self.state().phase = ConnectionPhase::Upgraded;
    }

    /// The connection closes its own half.
    ///
    /// Where a part of a request is still to come, a socket that is closed at once resets the
    /// connection, and the answer (431, 413, 408) could be lost.
    pub(super) fn closes(&self) -> CloseMode {
        let mut state = self.state();
        let is_unread = state.unread || matches!(state.phase, ConnectionPhase::Head(_));
        match state.lingers_since {
            _ if !is_unread => CloseMode::AtOnce,
            Some(_) => CloseMode::StillLingering,
            None => {
                state.lingers_since = Some(Instant::now());
                CloseMode::Lingering
            }
        }
    }

    pub(super) fn body_too_slow(&self) {
        self.state().too_slow = true;
    }

    pub(super) fn body_left_unread(&self) {
        self.state().unread = true;
    }

    /// Whether a body of this connection came too slowly, so that nothing more is expected of it.
    pub(super) fn was_too_slow(&self) -> bool {
        self.state().too_slow
    }

    /// Whether the service works on a request of this connection.
    pub(super) fn in_service(&self) -> bool {
        self.state().phase == ConnectionPhase::Service
    }

    /// Whether bytes that arrive now belong to the body of a request.
    pub(super) fn reads_body(&self) -> bool {
        matches!(
            self.state().phase,
            ConnectionPhase::Service | ConnectionPhase::Answer
        )
    }

    /// When the connection is to be closed if nothing more happens; `stop` is when the server began
    /// to stop.
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
                    .then(|| later(state.last, self.limits.idle)),
                false,
            ),
            ConnectionPhase::Fresh(since) => (Some(later(since, self.limits.head)), true),
            ConnectionPhase::Head(since) => (Some(later(since, self.limits.head)), false),
            ConnectionPhase::Idle => (
                Some(later(state.last, self.limits.idle)),
                !state.write_blocked,
            ),
        };
        let end = stop.map(|stop| {
            let longest = later(stop, self.limits.stop);
            match state.phase {
                _ if !is_quiet => longest,
                // A connection that was accepted after the order to stop may have a request in its
                // socket.
                ConnectionPhase::Fresh(since) => {
                    later(since.max(stop), self.limits.stop_grace).min(longest)
                }
                _ => later(stop, self.limits.stop_grace).min(longest),
            }
        });
        own.into_iter().chain(end).min()
    }

    /// Bytes came from the client.
    pub(super) fn bytes_came(&self) {
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

    /// Bytes went to the client, or it does not take them.
    pub(super) fn bytes_went(&self, blocked: bool) {
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
    /// of that connection.
    #[test]
    fn und_42_a_connection_that_is_accepted_late_has_the_whole_grace() {
        const MINUTE: Duration = Duration::from_secs(60);
        let stopped = Instant::now();
        let accepted = later(stopped, MINUTE);
        let deadline = |stop| {
            let limits = ServerLimits::default()
                .head(Duration::MAX)
                .stop_grace(MINUTE)
                .stop(stop);
            let watch = ConnectionMonitor::new(limits, Arc::default());
            watch.state().phase = ConnectionPhase::Fresh(accepted);
            watch.deadline(Some(stopped))
        };
        assert_eq!(deadline(MINUTE * 3), Some(later(accepted, MINUTE)));
        assert_eq!(
            deadline(MINUTE),
            Some(accepted),
            "no grace is longer than the stop"
        );
    }
}

//! What one connection is doing, and until when it may go on doing it (UND-42).

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::limits::Limits;

/// For how long a connection that closes early still takes (and drops) what the client is sending.
///
/// Without it the answer (413, 408) could be lost: a socket closed with unread bytes resets the connection.
const LINGER: Duration = Duration::from_secs(2);

/// How many bytes a connection that closes early still takes.
const LINGER_BYTES: usize = 8 * 1024 * 1024;

/// What one connection is doing. Shared by its socket, its requests' bodies and the task that drives it.
#[derive(Debug)]
pub(super) struct Watch {
    limits: Limits,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// When a byte last went through.
    last: Instant,
    /// Whether an answer waits for a client that does not read.
    write_blocked: bool,
    /// Whether the body of the last request was not read to its end.
    unread: bool,
    /// Whether a body came too slowly.
    too_slow: bool,
    /// When the connection closed its own half and began to linger.
    lingers_since: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing came yet since the connection was made.
    Fresh(Instant),
    /// The head of a request is coming, since this instant.
    Head(Instant),
    /// The service works on a request.
    Service,
    /// The last request was answered, or its answer is being written.
    Idle,
}

impl Watch {
    pub(super) fn new(limits: Limits) -> Arc<Self> {
        let now = Instant::now();
        let state = State {
            phase: Phase::Fresh(now),
            last: now,
            write_blocked: false,
            unread: false,
            too_slow: false,
            lingers_since: None,
        };
        Arc::new(Self { limits, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request's head is complete and goes to the service; its body has to be complete at the instant returned.
    pub(super) fn request_begins(&self) -> Instant {
        let mut state = self.state();
        state.phase = Phase::Service;
        state.unread = false;
        Instant::now() + self.limits.body
    }

    /// The service has answered.
    pub(super) fn request_ends(&self) {
        let mut state = self.state();
        state.phase = Phase::Idle;
        state.last = Instant::now();
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
        self.state().phase == Phase::Service
    }

    /// When the connection is to be closed if nothing more happens; `stop` is when the server began to stop.
    pub(super) fn deadline(&self, stop: Option<Instant>) -> Option<Instant> {
        let state = self.state();
        if let Some(since) = state.lingers_since {
            return Some(since + LINGER);
        }
        let limit = match state.phase {
            Phase::Service => return None,
            Phase::Fresh(since) | Phase::Head(since) => since + self.limits.head,
            Phase::Idle => state.last + self.limits.idle,
        };
        let quiet = !matches!(state.phase, Phase::Head(_)) && !state.write_blocked;
        match stop {
            Some(stop) if quiet => Some(limit.min(stop + self.limits.stop_grace)),
            _ => Some(limit),
        }
    }

    fn bytes_came(&self) {
        let mut state = self.state();
        let now = Instant::now();
        state.last = now;
        state.phase = match state.phase {
            Phase::Fresh(since) => Phase::Head(since),
            Phase::Idle => Phase::Head(now),
            phase @ (Phase::Head(_) | Phase::Service) => phase,
        };
    }

    fn bytes_went(&self, blocked: bool) {
        let mut state = self.state();
        state.write_blocked = blocked;
        if !blocked {
            state.last = Instant::now();
        }
    }
}

/// A client's socket that tells its [`Watch`] what happens.
#[derive(Debug)]
pub(super) struct WatchedStream {
    stream: TcpStream,
    watch: Arc<Watch>,
    dropped: usize,
}

impl WatchedStream {
    pub(super) fn new(stream: TcpStream, watch: Arc<Watch>) -> Self {
        Self { stream, watch, dropped: 0 }
    }

    /// Takes and drops what the client still sends, until it stops or has sent too much.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut room = [0_u8; 16 * 1024];
        loop {
            let mut buffer = ReadBuf::new(&mut room);
            std::task::ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
            let taken = buffer.filled().len();
            self.dropped = self.dropped.saturating_add(taken);
            if taken == 0 || self.dropped > LINGER_BYTES {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncRead for WatchedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if result.is_ready() && buffer.filled().len() > before {
            self.watch.bytes_came();
        }
        result
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch.bytes_went(result.is_pending());
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.watch.bytes_went(result.is_pending());
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let begins = {
            let mut state = self.watch.state();
            if !state.unread {
                None
            } else if state.lingers_since.is_some() {
                Some(false)
            } else {
                state.lingers_since = Some(Instant::now());
                Some(true)
            }
        };
        match begins {
            None => Pin::new(&mut self.stream).poll_shutdown(cx),
            Some(begins) => {
                if begins {
                    std::task::ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
                }
                self.poll_linger(cx)
            }
        }
    }
}

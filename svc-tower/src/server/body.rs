//! The body of a request with a time limit, in which all of it must arrive.
//!
//! Requirements: UND-17.

use std::{
    error::Error,
    fmt,
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};

use super::monitor::ConnectionMonitor;
use crate::body::BodyProgress;

/// Error of a body that cannot be read to its end.
#[derive(Debug)]
pub struct BodyError(BodyErrorCause);

#[derive(Debug)]
enum BodyErrorCause {
    /// The service recognises it by its source.
    TooSlow(io::Error),
    Broken(hyper::Error),
}

impl BodyError {
    /// Returns whether the body arrived too slowly: 408 `REQUEST_TIMEOUT`. Its
    /// [`source`](Error::source) is then an [`io::Error`] of the kind
    /// [`TimedOut`](io::ErrorKind::TimedOut).
    ///
    /// Otherwise the connection failed, or the body does not match its headers.
    ///
    /// Requirements: UND-17.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.0, BodyErrorCause::TooSlow(_))
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            BodyErrorCause::TooSlow(_) => "the body arrived too slowly",
            BodyErrorCause::Broken(_) => "the body ended early or is malformed",
        })
    }
}

impl Error for BodyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            BodyErrorCause::TooSlow(source) => Some(source),
            BodyErrorCause::Broken(source) => Some(source),
        }
    }
}

/// The body of a request. It ends with a [`BodyError`] if it is not complete in time, see
/// [`ServerLimits::body_timeout`](super::ServerLimits::body_timeout).
pub struct RequestBody {
    inner: Incoming,
    deadline: Instant,
    /// The wait that the time limit applies to, if the body is read in parts.
    wait: u64,
    streamed: BodyProgress,
    alarm: Option<Pin<Box<Sleep>>>,
    watch: Arc<ConnectionMonitor>,
    complete: bool,
}

impl RequestBody {
    /// Wraps the body, which must be complete at `deadline`.
    pub(super) fn new(
        inner: Incoming,
        deadline: Instant,
        streamed: BodyProgress,
        watch: Arc<ConnectionMonitor>,
    ) -> Self {
        let complete = inner.is_end_stream();
        Self {
            inner,
            deadline,
            wait: 0,
            streamed,
            alarm: None,
            watch,
            complete,
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match Pin::new(&mut self.inner).poll_frame(cx) {
            Poll::Ready(frame) => {
                self.complete = frame.is_none() || self.inner.is_end_stream();
                Poll::Ready(
                    frame.map(|frame| {
                        frame.map_err(|error| BodyError(BodyErrorCause::Broken(error)))
                    }),
                )
            }
            Poll::Pending => {
                let wait = self.streamed.wait();
                if wait != self.wait {
                    self.wait = wait;
                    self.deadline = self.watch.body_deadline();
                    self.alarm = None;
                }
                let deadline = self.deadline;
                let alarm = self
                    .alarm
                    .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
                ready!(alarm.as_mut().poll(cx));
                self.watch.body_too_slow();
                Poll::Ready(Some(Err(BodyError(BodyErrorCause::TooSlow(
                    io::ErrorKind::TimedOut.into(),
                )))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.complete {
            self.watch.body_left_unread();
        }
    }
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestBody")
            .field("complete", &self.complete)
            .finish_non_exhaustive()
    }
}

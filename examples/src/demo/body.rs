//! The body of a request with a time limit: all of it has to arrive in time (UND-17).

use std::error::Error;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep_until};

use super::watch::Watch;

/// What a body that cannot be read to its end ends with.
#[derive(Debug)]
#[non_exhaustive]
pub enum BodyError {
    /// It came too slowly: 408 `REQUEST_TIMEOUT` (UND-17).
    ///
    /// Its source is an [`io::Error`] of kind [`TimedOut`](io::ErrorKind::TimedOut); that is how the service knows it.
    TooSlow(io::Error),
    /// The connection broke, or the body is not what its headers announced.
    Broken(hyper::Error),
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSlow(_) => f.write_str("the body came too slowly"),
            Self::Broken(_) => f.write_str("the body broke off or is malformed"),
        }
    }
}

impl Error for BodyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::TooSlow(source) => Some(source),
            Self::Broken(source) => Some(source),
        }
    }
}

/// A request's body that ends with [`BodyError::TooSlow`] when it is not complete at its deadline.
pub struct TimedBody {
    inner: Incoming,
    deadline: Instant,
    alarm: Option<Pin<Box<Sleep>>>,
    watch: Arc<Watch>,
    complete: bool,
}

impl TimedBody {
    /// The body, which has to be complete at `deadline`.
    pub(super) fn new(inner: Incoming, deadline: Instant, watch: Arc<Watch>) -> Self {
        let complete = inner.is_end_stream();
        Self { inner, deadline, alarm: None, watch, complete }
    }
}

impl Body for TimedBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match Pin::new(&mut self.inner).poll_frame(cx) {
            Poll::Ready(frame) => {
                self.complete = frame.is_none() || self.inner.is_end_stream();
                Poll::Ready(frame.map(|frame| frame.map_err(BodyError::Broken)))
            }
            Poll::Pending => {
                let deadline = self.deadline;
                let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
                std::task::ready!(alarm.as_mut().poll(cx));
                self.watch.body_too_slow();
                Poll::Ready(Some(Err(BodyError::TooSlow(io::ErrorKind::TimedOut.into()))))
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

impl Drop for TimedBody {
    fn drop(&mut self) {
        if !self.complete {
            self.watch.body_left_unread();
        }
    }
}

impl fmt::Debug for TimedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimedBody").field("complete", &self.complete).finish_non_exhaustive()
    }
}

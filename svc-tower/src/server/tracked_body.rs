//! The body of a response, which reports its end.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::monitor::ConnectionMonitor;

pin_project! {
    /// The body of a response that is being written.
    pub(super) struct TrackedBody<B> {
        #[pin]
        inner: B,
        end: ResponseEnd,
    }
}

/// Reports the end of a response when it is dropped. hyper drops a body that has ended, or that is
/// not sent (HEAD).
struct ResponseEnd(Arc<ConnectionMonitor>);

impl Drop for ResponseEnd {
    fn drop(&mut self) {
        self.0.answer_ends();
    }
}

impl<B> TrackedBody<B> {
    /// Wraps the body of a response that starts.
    pub(super) fn new(inner: B, watch: Arc<ConnectionMonitor>) -> Self {
        watch.answer_begins();
        Self {
            inner,
            end: ResponseEnd(watch),
        }
    }
}

impl<B: Body> Body for TrackedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().inner.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

//! The response body: bytes, or parts that are made while the client reads.

use std::{
    convert::Infallible,
    fmt,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tracing::{Instrument, Span};

use crate::catch_panic::catch_panic;

/// The body of a response. It never returns an error. A body in parts ends early if the server
/// fails, so its format must mark the end.
#[derive(Default)]
pub struct ResponseBody(BodyInner);

enum BodyInner {
    /// The remaining bytes.
    Whole(Bytes),
    /// The source of the next parts.
    Parts(Pin<Box<dyn Body<Data = Bytes, Error = Infallible> + Send>>),
}

impl Default for BodyInner {
    fn default() -> Self {
        Self::Whole(Bytes::new())
    }
}

impl ResponseBody {
    /// Creates a body in parts. `next` makes the next part from the state that the previous call
    /// returned, until it returns `None`.
    ///
    /// No part is made before the client has read the previous one, and none after the client has
    /// disconnected. A panic in `next` ends the body.
    ///
    /// Requirements: ERR-05.
    #[must_use]
    pub fn unfold<S, F>(state: S, next: impl FnMut(S) -> F + Send + 'static) -> Self
    where
        S: Send + 'static,
        F: Future<Output = Option<(Bytes, S)>> + Send + 'static,
    {
        Self(BodyInner::Parts(Box::pin(PartStream {
            state: Some(state),
            next,
            making: None,
            span: Span::current(),
        })))
    }

    /// Returns the bytes of the body, or `None` for a body in parts.
    pub(crate) fn bytes(&self) -> Option<&Bytes> {
        match &self.0 {
            BodyInner::Whole(bytes) => Some(bytes),
            BodyInner::Parts(_) => None,
        }
    }
}

impl<T: Into<Bytes>> From<T> for ResponseBody {
    fn from(bytes: T) -> Self {
        Self(BodyInner::Whole(bytes.into()))
    }
}

impl fmt::Debug for ResponseBody {
    /// Shows no content.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResponseBody")
            .field(&self.bytes().map(Bytes::len))
            .finish()
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            BodyInner::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            BodyInner::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            BodyInner::Parts(parts) => parts.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.bytes().is_some_and(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        // A length that does not fit cannot occur.
        self.bytes().map_or_else(SizeHint::default, |bytes| {
            SizeHint::with_exact(bytes.len() as u64)
        })
    }
}

/// A part that is being made, or the message of its panic.
type PendingPart<S> = Pin<Box<dyn Future<Output = Result<Option<(Bytes, S)>, String>> + Send>>;

/// Makes one part after the client has read the previous one.
struct PartStream<S, N> {
    /// The state for the next part; `None` while one is being made, and at the end.
    state: Option<S>,
    next: N,
    making: Option<PendingPart<S>>,
    /// The span of the request, for log entries.
    span: Span,
}

// Nothing is pinned in place: the future of a part is boxed.
impl<S, N> Unpin for PartStream<S, N> {}

impl<S, F, N> Body for PartStream<S, N>
where
    S: Send + 'static,
    F: Future<Output = Option<(Bytes, S)>> + Send + 'static,
    N: FnMut(S) -> F,
{
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        if let Some(state) = this.state.take() {
            let part = (this.next)(state);
            let making = async move { catch_panic(pin!(part)).await };
            this.making = Some(Box::pin(making.instrument(this.span.clone())));
        }
        let Some(making) = &mut this.making else {
            return Poll::Ready(None);
        };
        let Poll::Ready(made) = making.as_mut().poll(cx) else {
            return Poll::Pending;
        };
        this.making = None;
        let made = made.unwrap_or_else(|said| {
            this.span
                .in_scope(|| tracing::error!(said, "a panic ended a response"));
            None
        });
        let Some((part, state)) = made else {
            return Poll::Ready(None);
        };
        this.state = Some(state);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    /// SYN-12: parts are in order, and the body ends with the last of them.
    #[tokio::test]
    async fn a_body_in_parts_is_read_to_its_end() {
        let body = ResponseBody::unfold(1_u8, |nth| async move {
            tokio::task::yield_now().await;
            (nth <= 3).then(|| (Bytes::from(format!("{nth};")), nth + 1))
        });
        assert!(!body.is_end_stream() && body.size_hint().exact().is_none());
        assert_eq!(body.collect().await.unwrap().to_bytes(), "1;2;3;");
    }

    /// ERR-05: a panic while a part is made ends the body after the previous parts.
    #[tokio::test]
    async fn a_panic_ends_a_body_in_parts() {
        let body = ResponseBody::unfold(0_u8, |nth| async move {
            assert!(nth < 2, "no third part");
            Some((Bytes::from_static(b"."), nth + 1))
        });
        assert_eq!(body.collect().await.unwrap().to_bytes(), "..");
    }

    /// HAL-01: available bytes are sent in one piece, with their length.
    #[tokio::test]
    async fn whole_bytes_have_a_length() {
        let body = ResponseBody::from("four");
        assert_eq!(
            (body.size_hint().exact(), body.is_end_stream()),
            (Some(4), false)
        );
        assert_eq!(body.collect().await.unwrap().to_bytes(), "four");
        assert!(ResponseBody::default().is_end_stream());
    }
}

//! The body of the request.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame};
use svc_import::RequestLines;

/// Bytes of lines that are prepared in one part.
const PART: usize = 32 * 1024;

/// The rows of a table as lines, which are made while the connection sends them.
#[derive(Debug)]
pub(in crate::demo) struct RequestBody(pub(in crate::demo) RequestLines);

impl Body for RequestBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut part = Vec::with_capacity(PART);
        match self.0.add_to(&mut part, PART) {
            Err(error) => Poll::Ready(Some(Err(error))),
            Ok(true) if part.is_empty() => {
                // Many rows are not sent. Other tasks can continue before the next ones.
                task.waker().wake_by_ref();
                Poll::Pending
            }
            Ok(false) if part.is_empty() => Poll::Ready(None),
            Ok(_) => Poll::Ready(Some(Ok(Frame::data(part.into())))),
        }
    }
}

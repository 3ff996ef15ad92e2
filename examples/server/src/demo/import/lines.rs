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
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let mut part = Vec::with_capacity(PART);
        Poll::Ready(match self.0.add_to(&mut part, PART) {
            Err(error) => Some(Err(error)),
            Ok(()) if part.is_empty() => None,
            Ok(()) => Some(Ok(Frame::data(part.into()))),
        })
    }
}

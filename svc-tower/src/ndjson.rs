//! Executes batches of lines as a stream. The service reads only as much of the request as the
//! client reads of the response, and stores nothing of either.
//!
//! Requirements: BAT-08.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, header::CONTENT_TYPE};
use http_body::Body;
use svc_core::{
    ErrorCode,
    api::{BatchEntry, BatchRun},
};

use crate::{
    body::{AnyBody, BodyProgress, BodyRejection, refusal_of},
    budget::{BodyBudget, PartialBody},
    response_body::ResponseBody,
    settings::ClockFn,
    timer::RuntimeTimer,
};

/// The media types of JSON lines.
const LINES: [&str; 2] = ["application/x-ndjson", "application/jsonl"];

/// Returns the media type of a body of lines, or `None` for other bodies.
pub(crate) fn media_type(headers: &HeaderMap) -> Option<&'static str> {
    let mut labels = headers.get_all(CONTENT_TYPE).iter();
    let (Some(label), None) = (labels.next(), labels.next()) else {
        return None;
    };
    let essence = label
        .as_bytes()
        .split(|&byte| byte == b';')
        .next()?
        .trim_ascii();
    LINES
        .into_iter()
        .find(|media| essence.eq_ignore_ascii_case(media.as_bytes()))
}

/// A batch and the source of its entries.
pub(crate) struct BatchStream {
    batch: BatchRun,
    lines: NdjsonReader,
    clock: ClockFn,
    timer: RuntimeTimer,
    /// Whether the last line of the response is complete.
    is_over: bool,
}

impl BatchStream {
    pub(crate) fn new(
        batch: BatchRun,
        lines: NdjsonReader,
        clock: ClockFn,
        timer: RuntimeTimer,
    ) -> Self {
        Self {
            batch,
            lines,
            clock,
            timer,
            is_over: false,
        }
    }

    /// Returns the response body, which is made while the client sends and reads.
    pub(crate) fn into_answer(self) -> ResponseBody {
        ResponseBody::unfold(self, Self::part)
    }

    /// Returns the result lines of one window of entries.
    async fn part(mut self) -> Option<(Bytes, Self)> {
        if self.is_over {
            return None;
        }
        let mut out = Vec::new();
        while out.is_empty() {
            let (window, end) = self.lines.window(self.batch.window_size()).await;
            let limit = self.lines.limit;
            let mut entries: Vec<BatchEntry> = Vec::with_capacity(window.len());
            for line in window {
                entries.push(match line {
                    NdjsonLine::Entry(body) => Ok(body),
                    NdjsonLine::TooLong => Err(self.batch.entry_error(
                        ErrorCode::BodyTooLarge,
                        &BodyRejection::TooLarge.description(limit),
                    )),
                });
            }
            out = self
                .batch
                .run_entries(entries, self.clock.now(), &self.timer)
                .await;
            match end {
                None => {}
                Some(Ok(())) => out.extend(self.batch.totals_line()),
                Some(Err(refusal)) => {
                    let reply = self
                        .batch
                        .entry_error(refusal.code(), &refusal.description(limit));
                    out.extend(self.batch.aborted_line(&reply));
                }
            }
            self.is_over = end.is_some();
        }
        Some((out.into(), self))
    }
}

/// One line that is not empty.
#[derive(Debug, PartialEq, Eq)]
enum NdjsonLine {
    Entry(Bytes),
    TooLong,
}

/// The end of a body: complete, or rejected.
type BodyEnd = Result<(), BodyRejection>;

/// The lines of a body.
pub(crate) struct NdjsonReader {
    body: AnyBody,
    /// Maximum number of bytes of a line.
    limit: usize,
    /// Received bytes that are not parsed yet.
    chunk: Bytes,
    /// The start of a line whose end has not arrived.
    begun: Option<PartialBody>,
    budget: BodyBudget,
    /// Whether this line is already too long, so that nothing of it is stored.
    is_too_long: bool,
    /// Whether the body has ended.
    is_ended: bool,
    streamed: BodyProgress,
}

impl NdjsonReader {
    pub(crate) fn new(
        body: AnyBody,
        limit: usize,
        budget: BodyBudget,
        streamed: BodyProgress,
    ) -> Self {
        let chunk = Bytes::new();
        Self {
            body,
            limit,
            chunk,
            begun: None,
            budget,
            is_too_long: false,
            is_ended: false,
            streamed,
        }
    }

    /// Returns the next lines: at most `most`, and not many more bytes than one line may have.
    /// Waits for the first line, and adds others that have already arrived.
    ///
    /// Also returns how the body ended, if it ended after these lines.
    async fn window(&mut self, most: usize) -> (Vec<NdjsonLine>, Option<BodyEnd>) {
        self.streamed.restart_timeout();
        let (mut lines, mut bytes) = (Vec::new(), 0_usize);
        while lines.len() < most && bytes < self.limit {
            let next = poll_fn(|cx| match self.poll_line(cx) {
                Poll::Pending if !lines.is_empty() => Poll::Ready(None),
                next => next.map(Some),
            });
            match next.await {
                Some(Ok(Some(line))) => {
                    bytes = bytes.saturating_add(if let NdjsonLine::Entry(body) = &line {
                        body.len()
                    } else {
                        0
                    });
                    lines.push(line);
                }
                Some(Ok(None)) => return (lines, Some(Ok(()))),
                Some(Err(refusal)) => return (lines, Some(Err(refusal))),
                None => break,
            }
        }
        (lines, None)
    }

    /// Returns the next line that is not empty, or `None` at the end of the body.
    fn poll_line(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<NdjsonLine>, BodyRejection>> {
        loop {
            if let Some(end) = self.chunk.iter().position(|&byte| byte == b'\n') {
                let rest = self.chunk.split_off(end.saturating_add(1));
                let mut line = std::mem::replace(&mut self.chunk, rest);
                line.truncate(end);
                if let Some(line) = self.complete_line(line)? {
                    return Poll::Ready(Ok(Some(line)));
                }
                continue;
            }
            let begun = std::mem::take(&mut self.chunk);
            if self.is_too_long || begun.len() > self.room() {
                self.is_too_long = true;
                self.begun = None;
            } else if !begun.is_empty() {
                self.begin(&begun)?;
            }
            if self.is_ended {
                return Poll::Ready(Ok(None));
            }
            match (Pin::new(&mut self.body).poll_frame(cx), &self.begun) {
                (Poll::Ready(Some(Ok(frame))), _) => {
                    self.chunk = frame.into_data().unwrap_or_default();
                }
                (Poll::Ready(Some(Err(error))), _) => {
                    return Poll::Ready(Err(refusal_of(error.as_ref())));
                }
                // The last line needs no line break.
                (Poll::Ready(None), _) => {
                    self.is_ended = true;
                    return Poll::Ready(self.complete_line(Bytes::new()));
                }
                (Poll::Pending, Some(begun)) => {
                    return begun.poll_cut(cx).map(|cut| Err(cut.into()));
                }
                (Poll::Pending, None) => return Poll::Pending,
            }
        }
    }

    /// Returns the number of bytes that the current line may still have.
    fn room(&self) -> usize {
        self.limit
            .saturating_sub(self.begun.as_ref().map_or(0, PartialBody::len))
    }

    /// Stores a part of a line whose end has not arrived.
    fn begin(&mut self, part: &[u8]) -> Result<(), BodyRejection> {
        let begun = self
            .begun
            .get_or_insert_with(|| PartialBody::new(self.budget.clone(), self.limit));
        Ok(begun.extend(part)?)
    }

    /// Returns the line that ends with `end`, or `None` for an empty line.
    fn complete_line(&mut self, end: Bytes) -> Result<Option<NdjsonLine>, BodyRejection> {
        let is_too_long = std::mem::take(&mut self.is_too_long) || end.len() > self.room();
        let line = match self.begun.take() {
            _ if is_too_long => return Ok(Some(NdjsonLine::TooLong)),
            Some(mut begun) => {
                begun.extend(&end)?;
                begun.finish()?
            }
            None => end,
        };
        Ok(if line.iter().all(u8::is_ascii_whitespace) {
            None
        } else {
            Some(NdjsonLine::Entry(line))
        })
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;
    use crate::body::erase;

    /// Returns the lines of a body with these parts, all of which are available immediately.
    async fn lines(parts: Vec<Vec<u8>>, limit: usize) -> Vec<NdjsonLine> {
        let body = ResponseBody::unfold(parts.into_iter(), |mut parts| async move {
            parts.next().map(|part| (Bytes::from(part), parts))
        });
        let mut lines = NdjsonReader::new(
            erase(body),
            limit,
            BodyBudget::default(),
            BodyProgress::default(),
        );
        let mut all = Vec::new();
        loop {
            let (window, end) = lines.window(3).await;
            all.extend(window);
            if let Some(end) = end {
                assert_eq!(end, Ok(()));
                return all;
            }
        }
    }

    fn entry(text: &str) -> NdjsonLine {
        NdjsonLine::Entry(Bytes::copy_from_slice(text.as_bytes()))
    }

    #[tokio::test]
    async fn bat_08_empty_lines_are_none_and_the_last_needs_no_end() {
        let body = b"\n{1}\r\n \t\n{2}\n\n{3}".to_vec();
        assert_eq!(
            lines(vec![body], 9).await,
            [entry("{1}\r"), entry("{2}"), entry("{3}")]
        );
        assert_eq!(lines(vec![], 9).await, []);
        assert_eq!(lines(vec![b"\n\n ".to_vec()], 9).await, []);
    }

    #[tokio::test]
    async fn bat_08_a_line_that_is_too_long_is_one_and_no_more() {
        let long = [
            b"12345\n1234\n".to_vec(),
            b"1".repeat(5),
            b"2".repeat(90),
            b"\nlast5".to_vec(),
        ];
        let all = [
            NdjsonLine::TooLong,
            entry("1234"),
            NdjsonLine::TooLong,
            NdjsonLine::TooLong,
        ];
        assert_eq!(lines(long.to_vec(), 4).await, all);
    }

    /// UND-43: a line whose end has not arrived counts, and is cut when another body needs its
    /// memory.
    #[tokio::test]
    async fn und_43_a_line_without_an_end_gives_its_memory_to_others() {
        let budget = BodyBudget::new(100);
        let started = |part: &'static [u8]| {
            // The rest of this body never arrives.
            let body = ResponseBody::unfold(Some(part), |part| async move {
                match part {
                    Some(part) => Some((Bytes::from_static(part), None)),
                    None => std::future::pending().await,
                }
            });
            NdjsonReader::new(erase(body), 100, budget.clone(), BodyProgress::default())
        };
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let (mut hanging, mut other) = (started(&[b'x'; 90]), started(b"one\ntwenty"));
        assert!(hanging.poll_line(&mut cx).is_pending());
        assert_eq!(budget.usage().held, 100);
        assert_eq!(
            other.poll_line(&mut cx),
            Poll::Ready(Ok(Some(entry("one"))))
        );
        assert!(other.poll_line(&mut cx).is_pending());
        assert_eq!((budget.usage().held, budget.usage().cut), (100, 1));
        assert_eq!(
            hanging.poll_line(&mut cx),
            Poll::Ready(Err(BodyRejection::OverBudget))
        );
        drop(other);
        assert_eq!(budget.usage().held, 0);
    }

    #[test]
    fn bat_08_lines_are_known_by_their_label() {
        let media = |label: &'static str| {
            media_type(&HeaderMap::from_iter([(
                CONTENT_TYPE,
                HeaderValue::from_static(label),
            )]))
        };
        assert_eq!(
            media("Application/X-NDJSON; charset=utf-8"),
            Some("application/x-ndjson")
        );
        assert_eq!(media("application/jsonl"), Some("application/jsonl"));
        assert_eq!(
            (media("application/json"), media_type(&HeaderMap::new())),
            (None, None)
        );
    }

    proptest! {
        #![proptest_config(crate::testing::config())]

        /// BAT-08: the lines do not depend on where the network splits a body.
        #[test]
        fn bat_08_lines_are_the_same_however_they_come(body in "[ab\n ]{0,60}", cuts in proptest::collection::vec(0..60_usize, 0..9)) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let whole = runtime.block_on(lines(vec![body.clone().into_bytes()], 5));
            let expected: Vec<NdjsonLine> = body
                .split('\n')
                .filter(|line| !line.trim().is_empty() || line.len() > 5)
                .map(|line| if line.len() > 5 { NdjsonLine::TooLong } else { entry(line) })
                .collect();
            prop_assert_eq!(&whole, &expected);
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < body.len()).chain([0, body.len()]).collect();
            cuts.sort_unstable();
            let parts = cuts.windows(2).map(|cut| body.as_bytes()[cut[0]..cut[1]].to_vec()).collect();
            prop_assert_eq!(runtime.block_on(lines(parts, 5)), expected);
        }
    }
}

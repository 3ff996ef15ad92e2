//! Many calls of a helper in one request: each entry is answered as the single call would be.
//!
//! Requirements: BAT-01 to BAT-11.

use std::{
    collections::VecDeque,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::hal::{self, BatchResultView};
use crate::{
    api::{
        Api, AuthorizedRequest, HelperRunner, Response, Timer,
        admitted::AuthorizedParts,
        extensions::idempotency::{ResponseStorage, key_of_entry},
        handling::{HandlingPreference, PREFER, PREFERENCE_APPLIED, ReturnPreference},
    },
    context::Context,
    error::{Error, ErrorCode, Problem},
    helper::HelperName,
    link::Target,
    value::Timestamp,
};

/// Entries of a body that is one document, at most.
///
/// Requirements: BAT-05.
pub const MAX_BATCH_ENTRIES: usize = 1_000;

/// Entries that are asked of a store at once.
const WINDOW: usize = 512;

/// When a client may try again what took too long.
const SOON: Duration = Duration::from_secs(1);

/// An entry: its body, or the answer to what could not be read of it.
pub type BatchEntry = std::result::Result<Bytes, Response>;

/// A batch that may go on. Its entries are given [window](Self::window_size) by window, in order,
/// and what became of them is written as it is sent; the batch holds nothing of what was answered.
///
/// Made by [`AuthorizedRequest::into_batch_run`].
pub struct BatchRun {
    api: Api,
    helper: HelperName,
    /// What a single call would address.
    call: Target,
    context: Context,
    /// How long those that are asked for together may take, from the last answer on.
    timeout: Option<Duration>,
    /// What the request prefers.
    headers: HeaderMap,
    /// The key under which the request may come again.
    key: Option<Arc<str>>,
    /// Whether the answers to what succeeded are shown whole.
    shows_records: bool,
    /// Whether entries of a window may have their turns together.
    together: bool,
    succeeded: u64,
    failed: u64,
}

impl Api {
    /// Whether turns of a helper may be asked for together, and are had in the order in which they
    /// were asked for: only those of a store are.
    fn has_turns_together(&self, helper: HelperName) -> bool {
        let settings = &self.inner.settings;
        let is_native = matches!(
            self.inner.helpers.get(&helper),
            Some(HelperRunner::Native(_))
        );
        let is_kept_elsewhere = matches!(
            settings.extensions.idempotency,
            Some(ResponseStorage::Vendor(_))
        );
        settings.store.is_some()
            && is_native
            && settings.transactions.is_none()
            && !is_kept_elsewhere
    }
}

impl AuthorizedRequest<'_> {
    /// The batch that this is, where [it is one](crate::operation::TargetShape::Batch): for whoever
    /// gives it the entries as they come. `streamed` are those that are answered line by line.
    ///
    /// # Errors
    ///
    /// The answer to the whole of it: 404 where the helper's container does not exist, 400 for a
    /// header that is no key.
    pub async fn into_batch_run(self, streamed: bool) -> std::result::Result<BatchRun, Response> {
        self.0.batch(streamed).await
    }
}

impl AuthorizedParts<'_> {
    async fn batch(&self, streamed: bool) -> std::result::Result<BatchRun, Response> {
        let (api, headers) = (self.api, self.request.headers);
        let Target::Batch { helper, container } = &self.target else {
            return Err(api.backend_error_response(Some(&self.target), Error::not_implemented()));
        };
        let key = api
            .idempotency_key(helper.records(), headers)?
            .map(Arc::from);
        let there = api
            .container_exists(&self.context, container.as_ref())
            .await;
        there.map_err(|error| api.backend_error_response(Some(&self.target), error))?;
        let prefers = headers
            .get_all(PREFER)
            .iter()
            .map(|value| (PREFER, value.clone()));
        let unsaid = if streamed {
            ReturnPreference::Minimal
        } else {
            ReturnPreference::Representation
        };
        Ok(BatchRun {
            api: api.clone(),
            helper: *helper,
            call: Target::Helper {
                helper: *helper,
                container: container.clone(),
            },
            context: self.context.clone(),
            timeout: self.request.timeout,
            headers: prefers.collect(),
            key,
            shows_records: ReturnPreference::of(headers).unwrap_or(unsaid)
                == ReturnPreference::Representation,
            together: api.has_turns_together(*helper),
            succeeded: 0,
            failed: 0,
        })
    }

    /// Answers a batch whose entries came in one document.
    pub(super) async fn batched(&self) -> Response {
        let Self { api, request, .. } = self;
        let mut batch = match self.batch(false).await {
            Ok(batch) => batch,
            Err(reply) => return reply,
        };
        let entries = match batch.entries(&request.body) {
            Ok(entries) => entries,
            Err(reply) => return reply,
        };
        let mut results = Vec::with_capacity(request.body.len());
        let entries = entries.into_iter().map(Ok).collect();
        let mut room = api.limits().batch_response;
        batch
            .answer(
                entries,
                batch.context.received_at,
                request.timer,
                (&mut room, b','),
                &mut results,
            )
            .await;
        // Nothing follows the last one.
        results.pop();
        let mut body = Vec::with_capacity(results.len().saturating_add(512));
        let hal = api.hal(&batch.context.base);
        hal::batch(
            &hal,
            &self.target,
            (batch.succeeded, batch.failed),
            &results,
            &mut body,
        );
        let mut reply = Response::hal(StatusCode::OK, body);
        reply.insert(PREFERENCE_APPLIED, batch.preference_applied());
        reply
    }
}

impl BatchRun {
    /// Entries that are best given at once: all have an answer before any of them is sent.
    #[must_use]
    pub fn window_size(&self) -> usize {
        if self.together { WINDOW } else { 1 }
    }

    /// The preferences that count, for the header `Preference-Applied`.
    #[must_use]
    pub fn preference_applied(&self) -> Option<HeaderValue> {
        let handling = HandlingPreference::of(&self.headers).applied();
        let returned = ReturnPreference::of(&self.headers).map(ReturnPreference::applied);
        let applied: Vec<&str> = handling.into_iter().chain(returned).collect();
        (!applied.is_empty())
            .then(|| HeaderValue::try_from(applied.join(", ")).ok())
            .flatten()
    }

    /// Answers entries, in order, and writes a line for each.
    ///
    /// Entries of one call see what those before them did. An entry that takes too long is answered
    /// 503, as are those behind it; `timer` is what tells the time.
    ///
    /// Requirements: BAT-08, UND-36.
    pub async fn run_entries(
        &mut self,
        entries: Vec<BatchEntry>,
        received: Timestamp,
        timer: &dyn Timer,
    ) -> Vec<u8> {
        let mut out = Vec::with_capacity(entries.len().saturating_mul(160));
        let mut room = usize::MAX;
        self.answer(entries, received, Some(timer), (&mut room, b'\n'), &mut out)
            .await;
        out
    }

    /// The line behind the last one, by which a whole stream is told from a broken one.
    #[must_use]
    pub fn totals_line(&self) -> Vec<u8> {
        let mut out = Vec::new();
        hal::totals(self.succeeded, self.failed, &mut out);
        out.push(b'\n');
        out
    }

    /// The line that ends a stream that cannot go on; no totals follow it.
    pub fn aborted_line(&mut self, reply: &Response) -> Vec<u8> {
        let mut out = Vec::new();
        let mut room = usize::MAX;
        let result = self.result(reply, &mut room);
        self.tell(&result, &mut out);
        out.push(b'\n');
        out
    }

    /// An answer about an entry that could not be read.
    #[must_use]
    pub fn entry_error(&self, code: ErrorCode, description: &str) -> Response {
        self.api.error_response(Some(&self.call), code, description)
    }

    /// The entries of a document; the answer to one that is no batch.
    ///
    /// Requirements: BAT-05.
    #[expect(
        clippy::result_large_err,
        reason = "a reply is as large as its headers, and made once for a request"
    )]
    fn entries(&self, body: &Bytes) -> std::result::Result<Vec<Bytes>, Response> {
        let kind = self.helper.records();
        // For its mistakes only: an empty body, or a text that is no JSON.
        let wrong = |code, text: &str| {
            self.api
                .invalid(Some(kind), &[Problem::general(code, text.to_owned())])
        };
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(wrong(
                ErrorCode::BodyMissing,
                "The request has no body. A batch is a JSON array of entries.",
            ));
        }
        let entries: Vec<&RawValue> = serde_json::from_slice(body).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let text = if error.is_data() {
                "The body must be a JSON array of entries, each of which is the body of a single call.".to_owned()
            } else {
                format!("The body is no JSON array: it cannot be read from line {line}, column {column}.")
            };
            wrong(ErrorCode::JsonInvalid, &text)
        })?;
        if entries.len() > MAX_BATCH_ENTRIES {
            let text = format!(
                "The batch has {} entries, and a JSON array may have {MAX_BATCH_ENTRIES}. Send several, or any number of entries as \
                 application/x-ndjson, one on each line.",
                entries.len()
            );
            return Err(self
                .api
                .error_response(Some(&self.call), ErrorCode::BodyTooLarge, &text));
        }
        Ok(entries
            .iter()
            .map(|entry| body.slice_ref(entry.get().as_bytes()))
            .collect())
    }

    /// Answers entries, and writes what became of each, with a byte behind it, as long as there is
    /// room for bodies.
    async fn answer(
        &mut self,
        entries: Vec<BatchEntry>,
        received: Timestamp,
        timer: Option<&dyn Timer>,
        (room, behind): (&mut usize, u8),
        out: &mut Vec<u8>,
    ) {
        let mut entries = entries.into_iter();
        // The first of all goes alone: what a store has to look up for a tenant is at hand for the
        // others.
        let first = entries
            .by_ref()
            .take(usize::from(self.is_fresh()))
            .collect::<Vec<_>>();
        for entries in [first, entries.collect()] {
            for result in self.results(entries, received, timer, room).await {
                self.tell(&result, out);
                out.push(behind);
            }
        }
    }

    fn is_fresh(&self) -> bool {
        self.done() == 0
    }

    fn done(&self) -> u64 {
        self.succeeded.saturating_add(self.failed)
    }

    /// The part of an entry's reply that the response has. After the first body for which there is
    /// no room, none is kept.
    fn result(&self, reply: &Response, room: &mut usize) -> EntryResult {
        let is_success = reply.status.is_success();
        let href = if is_success {
            href_of(&reply.body)
        } else {
            None
        };
        let is_shown = (self.shows_records || !is_success) && !reply.body.is_empty();
        let left = if is_shown {
            room.checked_sub(reply.body.len())
        } else {
            Some(*room)
        };
        *room = left.unwrap_or_default();
        let (body, code) = match left {
            Some(_) => (is_shown.then(|| reply.body.clone()), None),
            None => (None, reply.code),
        };
        EntryResult {
            status: reply.status,
            href,
            body,
            code,
        }
    }

    /// Writes what became of an entry, and counts it.
    fn tell(&mut self, result: &EntryResult, out: &mut Vec<u8>) {
        let index = self.done();
        let count = if result.status.is_success() {
            &mut self.succeeded
        } else {
            &mut self.failed
        };
        *count = count.saturating_add(1);
        let EntryResult {
            status,
            href,
            body,
            code,
        } = result;
        let (status, href, body) = (status.as_u16(), href.as_deref(), body.as_deref());
        hal::entry_result(
            &BatchResultView {
                index,
                status,
                href,
                body,
                code: *code,
            },
            out,
        );
    }

    /// What becomes of entries: so many are asked for together, and the next as soon as the first
    /// of them has its answer, so that a store never waits for what could be read meanwhile. Where
    /// none is answered in time, all that were asked for are late.
    ///
    /// Requirements: BAT-07.
    async fn results(
        &self,
        entries: Vec<BatchEntry>,
        received: Timestamp,
        timer: Option<&dyn Timer>,
        room: &mut usize,
    ) -> Vec<EntryResult> {
        let has_company = entries.len() > 1 && self.together;
        let mut results = Vec::with_capacity(entries.len());
        let mut waiting = entries.into_iter().enumerate();
        let mut begun: VecDeque<EntryState<'_>> = VecDeque::with_capacity(self.window_size());
        let alarm = || {
            self.timeout
                .zip(timer)
                .and_then(|(timeout, timer)| timer.sleep(timeout))
        };
        let mut late = alarm();
        std::future::poll_fn(|task| {
            loop {
                while begun.len() < self.window_size()
                    && let Some((place, entry)) = waiting.next()
                {
                    let index = self.done().saturating_add(place as u64);
                    begun.push_back(match entry {
                        Ok(body) => EntryState::Asked(Box::pin(self.reply(
                            index,
                            body,
                            received,
                            has_company,
                        ))),
                        Err(reply) => EntryState::Done(reply),
                    });
                }
                for doing in &mut begun {
                    let EntryState::Asked(asked) = doing else {
                        continue;
                    };
                    match catch_unwind(AssertUnwindSafe(|| asked.as_mut().poll(task))) {
                        Ok(Poll::Ready(reply)) => *doing = EntryState::Done(reply),
                        Ok(Poll::Pending) => {}
                        Err(_) => *doing = EntryState::Done(self.panicked()),
                    }
                }
                let before = results.len();
                while matches!(begun.front(), Some(EntryState::Done(_))) {
                    results.extend(
                        begun
                            .pop_front()
                            .map(|done| self.result(&done.reply(self), room)),
                    );
                }
                if begun.is_empty() && waiting.len() == 0 {
                    return Poll::Ready(());
                }
                if results.len() == before {
                    if !late
                        .as_mut()
                        .is_some_and(|late| late.as_mut().poll(task).is_ready())
                    {
                        return Poll::Pending;
                    }
                    results.extend(
                        begun
                            .drain(..)
                            .map(|doing| self.result(&doing.reply(self), room)),
                    );
                }
                late = alarm();
            }
        })
        .await;
        results
    }

    /// What a single call with this body would be answered.
    async fn reply(
        &self,
        index: u64,
        body: Bytes,
        received: Timestamp,
        has_company: bool,
    ) -> Response {
        let deadline = self
            .timeout
            .and_then(|timeout| Instant::now().checked_add(timeout));
        let mut cx = self.context.clone();
        cx.received_at = received;
        cx.started_at = Instant::now();
        cx.deadline = deadline;
        cx.in_batch = has_company;
        let key = self.key.as_ref().map(|key| key_of_entry(key, index));
        self.api
            .write_keyed(&cx, &self.call, &body, (&self.headers, Ok(key.as_deref())))
            .await
    }

    fn late(&self) -> Response {
        let late = Error::unavailable(SOON).caused_by("the backend took longer than a request may");
        self.api.backend_error_response(Some(&self.call), late)
    }

    /// A panic ends one entry, as it ends one request.
    fn panicked(&self) -> Response {
        let reply = self.api.panic_response(Some(&self.call));
        tracing::error!(
            reference_code = reply.reference_code,
            "a panic ended an entry of a batch"
        );
        reply
    }
}

/// The result of an entry, as the response has it.
struct EntryResult {
    status: StatusCode,
    href: Option<String>,
    body: Option<Bytes>,
    code: Option<ErrorCode>,
}

/// An entry on its way.
enum EntryState<'b> {
    Asked(Pin<Box<dyn Future<Output = Response> + Send + 'b>>),
    Done(Response),
}

impl EntryState<'_> {
    /// Its answer; of what is on its way yet, that it takes too long.
    fn reply(self, batch: &BatchRun) -> Response {
        match self {
            Self::Done(reply) => reply,
            Self::Asked(_) => batch.late(),
        }
    }
}

/// Where the record is that a body shows.
fn href_of(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct SelfLinkDocument {
        #[serde(rename = "_links")]
        links: SelfLinks,
    }
    #[derive(Deserialize)]
    struct SelfLinks {
        #[serde(rename = "self")]
        own: SelfLink,
    }
    #[derive(Deserialize)]
    struct SelfLink {
        href: String,
    }
    serde_json::from_slice::<SelfLinkDocument>(body)
        .ok()
        .map(|shown| shown.links.own.href)
}

impl fmt::Debug for BatchRun {
    /// Without ids.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("helper", &self.helper)
            .field("succeeded", &self.succeeded)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

//! Executes several requests of one helper, or several merges into one person, that a client sent as
//! one request.
//!
//! Each entry has the same result as a single request.
//!
//! Requirements: BAT-01 to BAT-11, MRG-24.

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
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{ETAG, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE},
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    PREVIEW,
    hal::{self, BatchResultView},
};
use crate::{
    api::{
        Api, AuthorizedRequest, HelperBackend, Response, Timer,
        admitted::AuthorizedParts,
        extensions::idempotency::{IDEMPOTENCY_REPLAYED, ResponseStorage, key_of_entry},
        preferences::{HandlingPreference, PREFER, PREFERENCE_APPLIED, ReturnPreference},
        response::kind_of,
    },
    context::Context,
    error::{Error, ErrorCode, Problem},
    helper::WriteEffect,
    link::Target,
    model::Kind,
    page::PageRequest,
    value::Timestamp,
};

/// The maximum number of entries of a body that is one document.
///
/// Requirements: BAT-05.
pub const MAX_BATCH_ENTRIES: usize = 1_000;

/// The number of entries that a store processes together.
const WINDOW: usize = 512;

/// The value of `Retry-After` for an entry that took too long.
const SOON: Duration = Duration::from_secs(1);

/// The headers with conditions, which apply to merges.
const CONDITIONS: [HeaderName; 3] = [IF_MATCH, IF_UNMODIFIED_SINCE, IF_NONE_MATCH];

/// An entry: its body, or the error response if it could not be read.
pub type BatchEntry = std::result::Result<Bytes, Response>;

/// A batch that may be executed.
///
/// Pass its entries in order, one [window](Self::window_size) at a time. Each result is written
/// immediately; the batch stores no responses.
///
/// [`AuthorizedRequest::into_batch_run`] creates it.
pub struct BatchRun {
    api: Api,
    /// The kind that errors name.
    kind: Kind,
    /// The target of a single request.
    call: Target,
    context: Context,
    /// The timeout of the entries that are processed together, counted from the last result.
    timeout: Option<Duration>,
    /// The `Prefer` headers of the request, and for merges the conditions of the next entry.
    headers: HeaderMap,
    /// The idempotency key of the request.
    key: Option<Arc<str>>,
    /// Whether the bodies of successful results are included.
    shows_records: bool,
    /// Whether the entries of a window can be processed together.
    together: bool,
    succeeded: u64,
    failed: u64,
}

impl Api {
    /// Returns whether entries can be processed together and complete in order. Only a store can do
    /// this, and only for helpers: a merge can require the state that the merge before it left.
    fn can_group_entries(&self, call: &Target) -> bool {
        let settings = &self.inner.settings;
        let Target::Helper { helper, .. } = call else {
            return false;
        };
        let is_in_store = matches!(
            self.inner.helpers.get(helper),
            Some(HelperBackend::Store(_))
        );
        let is_kept_elsewhere = matches!(
            settings.extensions.idempotency,
            Some(ResponseStorage::Vendor(_))
        );
        is_in_store && settings.transactions.is_none() && !is_kept_elsewhere
    }
}

impl AuthorizedRequest<'_> {
    /// Turns the request into a batch, if [it is one](crate::operation::TargetShape::Batch), for an
    /// HTTP layer that passes the entries as they arrive.
    ///
    /// `streamed` is `true` if the results are sent line by line.
    ///
    /// # Errors
    ///
    /// Returns the response to the whole batch: 404 if the container of the helper or the remaining
    /// person does not exist, 410 if that person was merged, 428 if a required `If-Match` is missing,
    /// 400 if the idempotency key is invalid.
    pub async fn into_batch_run(self, streamed: bool) -> std::result::Result<BatchRun, Response> {
        self.0.batch(streamed).await
    }
}

impl AuthorizedParts<'_> {
    async fn batch(&self, streamed: bool) -> std::result::Result<BatchRun, Response> {
        let (api, headers) = (self.api, self.request.headers);
        let failed = |error| api.backend_error_response(Some(&self.target), error);
        let call = match &*self.target {
            Target::Batch { helper, container } => Target::Helper {
                helper: *helper,
                container: container.clone(),
            },
            Target::MergeBatch(person) => Target::Merge(person.clone()),
            _ => return Err(failed(Error::not_implemented())),
        };
        let Some(kind) = kind_of(&call) else {
            return Err(failed(Error::not_implemented()));
        };
        let is_preview = self.is_preview(&call, kind)?;
        // Nothing of a preview is stored, and neither is its response.
        let key = api.idempotency_key(kind, headers)?;
        let key = key.filter(|_| !is_preview).map(Arc::from);
        match &call {
            Target::Helper { container, .. } => {
                let there = api
                    .container_exists(&self.context, container.as_ref())
                    .await;
                there.map_err(failed)?;
            }
            _ => Box::pin(self.accepts_merges(&call, key.is_some())).await?,
        }
        let is_conditional = matches!(call, Target::Merge(_));
        let conditions = CONDITIONS.into_iter().filter(|_| is_conditional);
        let sent = std::iter::once(PREFER).chain(conditions).flat_map(|name| {
            let values = headers.get_all(&name).iter();
            values.map(move |value| (name.clone(), value.clone()))
        });
        let unsaid = if streamed {
            ReturnPreference::Minimal
        } else {
            ReturnPreference::Representation
        };
        let returned = ReturnPreference::of(headers).unwrap_or(unsaid);
        let shows_records = returned == ReturnPreference::Representation;
        let cx = self.context.clone().with_preview(is_preview);
        Ok(BatchRun {
            api: api.clone(),
            kind,
            together: api.can_group_entries(&call),
            call,
            // The condition of the next merge depends on the whole response.
            context: cx.with_minimal(!shows_records && !is_conditional),
            timeout: self.request.timeout,
            headers: sent.collect(),
            key,
            shows_records,
            succeeded: 0,
            failed: 0,
        })
    }

    /// Returns whether the query asks for a preview, or the response if this batch has none. The entries of a
    /// batch of merges are previews themselves.
    ///
    /// Requirements: BAT-13.
    #[expect(
        clippy::result_large_err,
        reason = "a response is as large as its headers, and is created once for each request"
    )]
    fn is_preview(&self, call: &Target, kind: Kind) -> std::result::Result<bool, Response> {
        let text = match PageRequest::parameter(self.request.query, PREVIEW).as_deref() {
            None | Some("false") => return Ok(false),
            Some("true")
                if self.api.previews_batches() && matches!(call, Target::Helper { .. }) =>
            {
                return Ok(true);
            }
            Some("true") => "{property} must not be `true`. This batch cannot be previewed.",
            Some(_) => "{property} must be `true` or `false`.",
        };
        let problem = Problem::new(ErrorCode::FieldInvalid, PREVIEW, text);
        Err(self.api.invalid(Some(kind), &[problem]))
    }

    /// Returns the response to a whole batch of merges, none of which can be executed: a required
    /// `If-Match` is missing, or there is no person at the address.
    ///
    /// A batch with an idempotency key can have stored responses, also after the person was merged or deleted.
    async fn accepts_merges(
        &self,
        call: &Target,
        has_key: bool,
    ) -> std::result::Result<(), Response> {
        let (api, cx) = (self.api, &self.context);
        if let Some(reply) = api.require_if_match(call, self.request.headers) {
            return Err(reply);
        }
        let failed = |error| api.backend_error_response(Some(call), error);
        let Target::Merge(person) = call else {
            return Ok(());
        };
        if has_key {
            return Ok(());
        }
        if api.get(cx, person).await.map_err(failed)?.is_some() {
            return Ok(());
        }
        let merged = api.merged_away(cx, call).await.map_err(failed)?;
        Err(merged.unwrap_or_else(|| failed(Error::not_found())))
    }

    /// Executes a batch whose entries are in one document.
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
                batch.context.received_at(),
                request.timer,
                &mut room,
                b',',
                &mut results,
            )
            .await;
        // Remove the comma after the last result.
        results.pop();
        let mut body = Vec::with_capacity(results.len().saturating_add(512));
        let hal = api.hal(batch.context.base());
        hal::batch(
            &hal,
            &self.target,
            batch.succeeded,
            batch.failed,
            &results,
            &mut body,
        );
        let mut reply = Response::hal(StatusCode::OK, body);
        reply.insert(PREFERENCE_APPLIED, batch.preference_applied());
        reply
    }
}

impl BatchRun {
    /// Returns how many entries should be passed together. All of them have a result before any
    /// result is sent.
    #[must_use]
    pub fn window_size(&self) -> usize {
        if self.together { WINDOW } else { 1 }
    }

    /// Returns the applied preferences, for the header `Preference-Applied`.
    #[must_use]
    pub fn preference_applied(&self) -> Option<HeaderValue> {
        let handling = HandlingPreference::of(&self.headers).as_applied();
        let returned = ReturnPreference::of(&self.headers).map(ReturnPreference::applied);
        let applied: Vec<&str> = handling.into_iter().chain(returned).collect();
        (!applied.is_empty())
            .then(|| HeaderValue::try_from(applied.join(", ")).ok())
            .flatten()
    }

    /// Executes entries in order and writes a line for each.
    ///
    /// An entry sees the changes of the entries before it. An entry that takes too long gets a 503
    /// result, as do the entries after it. `timer` measures the time.
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
        self.answer(entries, received, Some(timer), &mut room, b'\n', &mut out)
            .await;
        out
    }

    /// Returns the last line of a complete stream. Without it the stream was interrupted.
    #[must_use]
    pub fn totals_line(&self) -> Vec<u8> {
        let mut out = Vec::new();
        hal::totals(self.succeeded, self.failed, &mut out);
        out.push(b'\n');
        out
    }

    /// Returns the line that ends a stream that cannot continue. No totals follow it.
    pub fn aborted_line(&mut self, reply: &Response) -> Vec<u8> {
        let mut out = Vec::new();
        let mut room = usize::MAX;
        let result = self.result(reply, &mut room);
        self.write_result(&result, &mut out);
        out.push(b'\n');
        out
    }

    /// Returns the error response for an entry that could not be read.
    #[must_use]
    pub fn entry_error(&self, code: ErrorCode, description: &str) -> Response {
        self.api.error_response(Some(&self.call), code, description)
    }

    /// Returns the entries of a document, or the response to a body that is not a batch.
    ///
    /// Requirements: BAT-05.
    #[expect(
        clippy::result_large_err,
        reason = "a response is as large as its headers, and is created once for each request"
    )]
    fn entries(&self, body: &Bytes) -> std::result::Result<Vec<Bytes>, Response> {
        let kind = self.kind;
        // Only for errors: an empty body, or a body that is not JSON.
        let wrong = |code, text: &str| {
            self.api
                .invalid(Some(kind), &[Problem::for_request(code, text.to_owned())])
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
                "The body must be a JSON array. Each entry is the body of a single request.".to_owned()
            } else {
                format!("The body is not valid JSON at line {line}, column {column}. It must be a JSON array.")
            };
            wrong(ErrorCode::JsonInvalid, &text)
        })?;
        if entries.len() > MAX_BATCH_ENTRIES {
            let text = format!(
                "The batch has {} entries; the maximum for a JSON array is {MAX_BATCH_ENTRIES}. Split the batch, or send any number of entries as \
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

    /// Executes entries and writes the result of each, followed by the byte `terminator`. Bodies
    /// are included while `room` is left.
    async fn answer(
        &mut self,
        entries: Vec<BatchEntry>,
        received: Timestamp,
        timer: Option<&dyn Timer>,
        room: &mut usize,
        terminator: u8,
        out: &mut Vec<u8>,
    ) {
        let mut entries = entries.into_iter();
        loop {
            // The first entry of all is executed alone, so that the store has loaded the data of the
            // tenant for the others.
            let is_alone = self.is_fresh() || !self.together;
            let most = if is_alone { 1 } else { usize::MAX };
            let entries: Vec<_> = entries.by_ref().take(most).collect();
            if entries.is_empty() {
                return;
            }
            for result in self.results(entries, received, timer, room).await {
                self.write_result(&result, out);
                out.push(terminator);
            }
        }
    }

    fn is_fresh(&self) -> bool {
        self.done() == 0
    }

    fn done(&self) -> u64 {
        self.succeeded.saturating_add(self.failed)
    }

    /// Returns the part of an entry's response that is sent. After the first body that does not fit
    /// into `room`, bodies are omitted.
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
            effect: effect_of(reply),
            state: StateAfter::of(reply),
        }
    }

    /// Makes the state of the person after a merge the condition of the next one, if the batch has
    /// conditions: then only the batch itself may change the person.
    ///
    /// Requirements: MRG-24.
    fn continue_conditions(&mut self, state: &StateAfter) {
        let accepts_all = self.headers.get(IF_MATCH).is_some_and(|it| it == "*");
        match state {
            StateAfter::Unknown => {}
            StateAfter::Known(_) if accepts_all => {}
            StateAfter::Known(tag) => {
                let mut is_conditional = false;
                for name in CONDITIONS {
                    is_conditional |= self.headers.remove(name).is_some();
                }
                if is_conditional {
                    self.headers.insert(IF_MATCH, tag.clone());
                }
            }
            // The client can have sent the state after this merge, or a later one.
            StateAfter::Former(tag) => {
                if self.headers.contains_key(IF_MATCH) && !accepts_all {
                    self.headers.append(IF_MATCH, tag.clone());
                }
            }
        }
    }

    /// Writes the result of an entry and counts it.
    fn write_result(&mut self, result: &EntryResult, out: &mut Vec<u8>) {
        self.continue_conditions(&result.state);
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
            effect,
            ..
        } = result;
        let (status, href, body) = (status.as_u16(), href.as_deref(), body.as_deref());
        hal::entry_result(
            &BatchResultView {
                index,
                status,
                href,
                body,
                code: *code,
                effect: *effect,
            },
            out,
        );
    }

    /// Executes entries and returns their results.
    ///
    /// A window of entries is processed together. The next entry starts as soon as the first one is
    /// done, so that a store never waits for reads. If no entry is done within the timeout, all
    /// started entries get a 503 result.
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

    /// Returns the response that a single request with this body would get.
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
        let cx = self.context.clone();
        let mut cx = cx
            .starting(received, Instant::now())
            .with_in_batch(has_company);
        cx.set_deadline(deadline);
        let key = self.key.as_ref().map(|key| key_of_entry(key, index));
        let (call, key) = (&self.call, Ok(key.as_deref()));
        let reply = self.api.write_keyed(&cx, call, &body, &self.headers, key);
        let reply = reply.await;
        if reply.status != StatusCode::NOT_FOUND {
            return reply;
        }
        match Box::pin(self.api.merged_away(&cx, call)).await {
            Ok(merged) => merged.unwrap_or(reply),
            Err(error) => self.api.backend_error_response(Some(call), error),
        }
    }

    fn deadline_response(&self) -> Response {
        let late =
            Error::unavailable(SOON).with_source("the backend exceeded the timeout of the request");
        self.api.backend_error_response(Some(&self.call), late)
    }

    /// Returns the result of an entry that panicked. The panic ends only this entry.
    fn panicked(&self) -> Response {
        let reply = self.api.panic_response(Some(&self.call));
        tracing::error!(
            reference_code = reply.reference_code,
            "an entry of a batch panicked"
        );
        reply
    }
}

/// The state of the person after an entry of a batch of merges.
enum StateAfter {
    /// The entry was executed, and the person has this entity tag.
    Known(HeaderValue),
    /// The entry was executed in an earlier batch, after which the person had this entity tag.
    Former(HeaderValue),
    /// The entry changed nothing.
    Unknown,
}

impl StateAfter {
    fn of(reply: &Response) -> Self {
        let is_executed = reply.status.is_success() && reply.effect != Some(WriteEffect::Unchanged);
        match reply.headers.get(ETAG).filter(|_| is_executed) {
            Some(tag) if reply.headers.contains_key(IDEMPOTENCY_REPLAYED) => {
                Self::Former(tag.clone())
            }
            Some(tag) => Self::Known(tag.clone()),
            None => Self::Unknown,
        }
    }
}

/// The result of an entry, as the response contains it.
struct EntryResult {
    status: StatusCode,
    href: Option<String>,
    body: Option<Bytes>,
    code: Option<ErrorCode>,
    effect: Option<WriteEffect>,
    state: StateAfter,
}

/// An entry that is executed or done.
enum EntryState<'b> {
    Asked(Pin<Box<dyn Future<Output = Response> + Send + 'b>>),
    Done(Response),
}

impl EntryState<'_> {
    /// Returns its response, or the 503 response if it is not done.
    fn reply(self, batch: &BatchRun) -> Response {
        match self {
            Self::Done(reply) => reply,
            Self::Asked(_) => batch.deadline_response(),
        }
    }
}

/// Returns what an entry has changed, if it is known. A repeated entry changes nothing.
///
/// Requirements: BAT-12.
fn effect_of(reply: &Response) -> Option<WriteEffect> {
    if !reply.status.is_success() {
        return None;
    }
    let is_repeated = reply.headers.contains_key(IDEMPOTENCY_REPLAYED);
    reply
        .effect
        .or(is_repeated.then_some(WriteEffect::Unchanged))
}

/// Returns the URL of the record in a body.
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
    /// Omits ids.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchRun")
            .field("kind", &self.kind)
            .field("succeeded", &self.succeeded)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

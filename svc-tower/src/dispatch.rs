//! Processes a request from its head to its response. The order of the checks is that of UND-39.

use std::{
    hash::{BuildHasher, RandomState},
    pin::{Pin, pin},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Extensions, HeaderName, Method, StatusCode, header::ACCEPT, request::Parts};
use http_body_util::Empty;
use svc_core::{
    BaseUrl, Error, ErrorCode, Tenant,
    api::{Api, AuthorizedRequest, EventStream, Request, ResolvedRequest, Response},
    auth::Identity,
    link::Target,
    operation::{KeyRequirement, RequestBodyKind},
};
use tracing::{Span, field};
use uuid::Uuid;

use crate::{
    body::{self, AnyBody, BodyProgress, BodyRejection},
    cors::Cors,
    documentation::DocsRequest,
    forwarded::{PeerAddr, base},
    minimal,
    ndjson::{self, BatchStream, NdjsonReader},
    request_head,
    response::OutgoingResponse,
    response_body::ResponseBody,
    route::{RouteTemplate, method_name},
    settings::ServiceSettings,
};

const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

/// Returns the description of a rejected body, given the limit.
type RejectionMessageFn = fn(BodyRejection, usize) -> String;

/// Value of `Retry-After` after a timeout.
const SOON: Duration = Duration::from_secs(1);

/// A request and what is known about it before the response.
#[derive(Debug)]
pub(crate) struct IncomingRequest<'a> {
    pub(crate) api: &'a Api,
    pub(crate) settings: &'a ServiceSettings,
    pub(crate) parts: &'a Parts,
    /// The target; `None` if the URL has no target in the API.
    pub(crate) target: Option<Arc<Target>>,
    /// The request as the API resolved it, until its execution starts.
    call: Option<ResolvedRequest<'a>>,
    /// Whether the path is below the mount.
    in_mount: bool,
    /// The base URL of the links of the response.
    base: BaseUrl,
    /// Informs the code that enforces the body timeout that the body is read in parts.
    streamed: BodyProgress,
    /// The log span of the request.
    ///
    /// Requirements: UND-42.
    pub(crate) span: Span,
}

/// Returns a new UUID of version 4, made from a secret of this process and a counter. Random bytes
/// from the system for each request would cost more than all other processing of a head.
fn request_id() -> Uuid {
    static SECRET: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let [first, second] = [0_u8, 1].map(|half| u128::from(SECRET.hash_one((number, half))));
    uuid::Builder::from_u128((first << 64) | second)
        .with_version(uuid::Version::Random)
        .with_variant(uuid::Variant::RFC4122)
        .into_uuid()
}

impl<'a> IncomingRequest<'a> {
    /// Resolves the target of a request. No check is done yet.
    pub(crate) fn new(
        api: &'a Api,
        settings: &'a ServiceSettings,
        parts: &'a Parts,
        extensions: Extensions,
    ) -> Self {
        let path = settings.mount.strip(parts.uri.path());
        let peer = extensions.get::<PeerAddr>().copied();
        let streamed = extensions
            .get::<BodyProgress>()
            .cloned()
            .unwrap_or_default();
        let base = base(
            api.base_url(),
            &settings.trusted_proxies,
            peer,
            &parts.headers,
        );
        let request_id = request_id();
        let request = Request::new(&parts.method, path)
            .with_query(parts.uri.query())
            .with_headers(&parts.headers)
            .with_extensions(extensions)
            .with_base_url(base.clone())
            .with_received_at(settings.clock.now())
            .with_id(request_id)
            .with_timeout(settings.request_timeout)
            .with_timer(&settings.timer);
        let call = api.resolve(request);
        let target = call.target().cloned();
        let span = tracing::info_span!(
            "request",
            method = %method_name(&parts.method),
            route = %RouteTemplate(target.as_deref()),
            request_id = %request_id,
            tenant = field::Empty,
            status = field::Empty,
            reference_code = field::Empty,
        );
        Self {
            api,
            settings,
            parts,
            target,
            call: Some(call),
            in_mount: path.is_some(),
            base,
            streamed,
            span,
        }
    }

    /// Returns a rejection if the head of the request is ambiguous or its path is outside the
    /// mount.
    ///
    /// Requirements: UND-34, UND-35.
    pub(crate) fn reject_head(&self) -> Option<OutgoingResponse> {
        let is_tunnel = self.parts.method == Method::CONNECT;
        if !self.in_mount && !is_tunnel {
            return Some(self.not_found());
        }
        let key_header = self.api.dialect().key_header();
        if let Err(why) = request_head::check(
            self.parts,
            key_header,
            &self.base,
            self.settings.require_host_header,
        ) {
            return Some(self.failure(ErrorCode::RequestInvalid, why));
        }
        None
    }

    /// Returns the 404 response for a URL without a target, as an HTML page if the client asks for
    /// one.
    fn not_found(&self) -> OutgoingResponse {
        let is_read = matches!(self.parts.method, Method::GET | Method::HEAD);
        let Some(docs) = self.settings.docs.as_deref().filter(|_| is_read) else {
            return self.api.not_found_response().into();
        };
        let answer = match docs.missing_page(self.docs_request(), self.parts.uri.path()) {
            Some(page) => {
                let mut answer = OutgoingResponse::from(page);
                answer.status = StatusCode::NOT_FOUND;
                answer.code = Some(ErrorCode::ResourceNotFound);
                answer
            }
            None => self.api.not_found_response().into(),
        };
        answer.varying_by(ACCEPT)
    }

    fn docs_request(&self) -> DocsRequest<'_> {
        DocsRequest {
            api: self.api,
            base: &self.base,
            headers: &self.parts.headers,
            body_limit: self.settings.body_limit,
            anonymous_body_limit: self.anonymous_body_limit(),
        }
    }

    /// Returns the error object of a code.
    fn failure(&self, code: ErrorCode, description: &str) -> OutgoingResponse {
        self.api
            .error_response(self.target.as_deref(), code, description)
            .into()
    }

    /// Returns the cross-origin settings for the target, and the method that they apply to. Only
    /// record helpers that can be called without a key have any.
    pub(crate) fn cors(&self) -> Option<(&'a Cors, &'static Method)> {
        let cors = self.settings.cors.as_ref()?;
        let open = self
            .api
            .operations(self.target.as_deref()?)
            .find(|offered| offered.key_requirement() == KeyRequirement::Optional)?;
        Some((cors, &open.spec().method))
    }

    /// Returns the response to a request whose head is valid. Takes the body if it reads it.
    pub(crate) async fn answer(&mut self, body: &mut Option<AnyBody>) -> OutgoingResponse {
        let Some(call) = self.call.take() else {
            return self.not_found();
        };
        if let Some(reply) = call.immediate_response() {
            return if self.target.is_none() {
                self.not_found()
            } else {
                reply.into()
            };
        }
        let admitted = self
            .in_time(Duration::ZERO, pin!(self.admission(call)))
            .await;
        match admitted {
            Ok(Ok(admitted)) => self
                .admitted(admitted, body)
                .await
                .unwrap_or_else(|refusal| refusal),
            Ok(Err(reply)) => reply.into(),
            Err(late) => late,
        }
    }

    /// Returns the result of the backend, or a 503 response after the timeout. `waits` extends the
    /// timeout by the time that the client asked to wait.
    ///
    /// Requirements: UND-36.
    async fn in_time<F: Future>(
        &self,
        waits: Duration,
        work: Pin<&mut F>,
    ) -> Result<F::Output, OutgoingResponse> {
        // A request that waits without a limit has its own limits elsewhere.
        let limit = self
            .settings
            .request_timeout
            .and_then(|limit| limit.checked_add(waits));
        let done = self.settings.timer.within(limit, work).await;
        done.ok_or_else(|| self.unavailable("the backend exceeded the timeout of requests"))
    }

    /// Returns a 503 response, and logs the cause.
    ///
    /// Requirements: UND-36.
    fn unavailable(&self, cause: &'static str) -> OutgoingResponse {
        let error = Error::unavailable(SOON).with_source(cause);
        self.api
            .backend_error_response(self.target.as_deref(), error)
            .into()
    }

    /// Checks the key and the rights of a request.
    async fn admission(
        &self,
        mut call: ResolvedRequest<'a>,
    ) -> Result<AuthorizedRequest<'a>, Response> {
        let identity = call.authenticate().await?;
        let known = match &identity {
            Identity::Authenticated(principal) => Some(principal.tenant.clone()),
            _ => None,
        };
        let admitted = call.authorize(identity).await;
        let tenant = known.as_ref().or(admitted
            .as_ref()
            .ok()
            .map(|admitted| admitted.context().tenant()));
        self.span.record("tenant", tenant.map(Tenant::as_str));
        admitted
    }

    async fn admitted(
        &self,
        admitted: AuthorizedRequest<'a>,
        body: &mut Option<AnyBody>,
    ) -> Result<OutgoingResponse, OutgoingResponse> {
        let limits = match admitted.operation().input {
            RequestBodyKind::Nothing => None,
            RequestBodyKind::Batch => match ndjson::media_type(&self.parts.headers) {
                // Inline, its future would enlarge the future of every request.
                Some(media) => return Box::pin(self.lines(admitted, body, media)).await,
                None => Some((
                    self.settings.batch_limit,
                    BodyRejection::of_batch as RejectionMessageFn,
                )),
            },
            _ if admitted.context().is_anonymous() => Some((
                self.anonymous_body_limit(),
                BodyRejection::description as RejectionMessageFn,
            )),
            _ => Some((
                self.settings.body_limit,
                BodyRejection::description as RejectionMessageFn,
            )),
        };
        let admitted = match limits {
            Some((limit, described)) => {
                admitted.with_body(self.body(body, limit, described).await?)
            }
            None => admitted,
        };
        let even =
            self.settings.response_time_quantum.as_ref().filter(|_| {
                admitted.context().is_anonymous() && admitted.operation().accepts_body()
            });
        let begun = Instant::now();
        let answer = self
            .in_time(admitted.max_wait(), pin!(self.respond(admitted)))
            .await
            .unwrap_or_else(|late| late);
        if let Some(even) = even {
            even.wait(begun).await;
        }
        Ok(answer)
    }

    /// Executes a batch of lines. The response starts before the request has ended.
    ///
    /// Requirements: BAT-08.
    async fn lines(
        &self,
        admitted: AuthorizedRequest<'a>,
        body: &mut Option<AnyBody>,
        media: &'static str,
    ) -> Result<OutgoingResponse, OutgoingResponse> {
        let ServiceSettings {
            body_limit,
            body_budget,
            clock,
            timer,
            ..
        } = self.settings;
        let limit = (*body_limit).min(body_budget.limit());
        body::check_coding(&self.parts.headers)
            .map_err(|refusal| self.failure(refusal.code(), &refusal.description(limit)))?;
        let batch = self
            .in_time(Duration::ZERO, pin!(admitted.into_batch_run(true)))
            .await??;
        let applied = batch.preference_applied();
        let body = body
            .take()
            .unwrap_or_else(|| body::erase(Empty::<Bytes>::new()));
        let lines = NdjsonReader::new(body, limit, body_budget.clone(), self.streamed.clone());
        let stream = BatchStream::new(batch, lines, clock.clone(), timer.clone());
        let mut answer = OutgoingResponse::lines(media, stream.into_answer());
        answer
            .extra_headers
            .extend(applied.map(|applied| (PREFERENCE_APPLIED, applied)));
        Ok(answer)
    }

    /// Returns the maximum body size of an anonymous request.
    ///
    /// Requirements: UND-43.
    fn anonymous_body_limit(&self) -> usize {
        self.settings
            .anonymous_body_limit
            .min(self.settings.body_limit)
    }

    /// Reads the body, or returns a rejection.
    ///
    /// Requirements: UND-17, UND-27.
    async fn body(
        &self,
        body: &mut Option<AnyBody>,
        limit: usize,
        described: RejectionMessageFn,
    ) -> Result<Bytes, OutgoingResponse> {
        let budget = &self.settings.body_budget;
        let limit = limit.min(budget.limit());
        let refused = |refusal: BodyRejection| {
            let mut answer = match refusal {
                BodyRejection::OverBudget => {
                    self.unavailable("the budget for incomplete bodies is used up")
                }
                _ => self.failure(refusal.code(), &described(refusal, limit)),
            };
            answer.close = refusal.has_unread_body();
            answer
        };
        body::check_head(&self.parts.headers).map_err(refused)?;
        let Some(body) = body.take() else {
            return Ok(Bytes::new());
        };
        body::read(&self.parts.headers, body, limit, budget)
            .await
            .map_err(refused)
    }

    /// Returns a response that continues with the entries of an event stream.
    ///
    /// Requirements: SYN-12.
    fn streamed(&self, mut answer: OutgoingResponse, following: EventStream) -> OutgoingResponse {
        let begun = answer.body.bytes().cloned();
        let (timer, limit) = (self.settings.timer.clone(), self.settings.request_timeout);
        let limit = limit.map(|limit| limit.saturating_add(EventStream::KEEP_ALIVE_INTERVAL));
        answer.body = ResponseBody::unfold((begun, following), move |(begun, mut following)| {
            let timer = timer.clone();
            async move {
                let part = match begun {
                    Some(begun) => begun,
                    None => timer.within(limit, pin!(following.next(&timer))).await??,
                };
                Some((part, (None, following)))
            }
        });
        answer
    }

    async fn respond(&self, admitted: AuthorizedRequest<'a>) -> OutgoingResponse {
        let docs = self.settings.docs.as_deref();
        let entry_docs = docs.filter(|_| *admitted.target() == Target::EntryPoint);
        if let Some(page) = entry_docs.and_then(|docs| docs.entry_page(self.docs_request())) {
            return OutgoingResponse::from(page.await).varying_by(ACCEPT);
        }
        if !admitted.operation().is_document() {
            let mut reply = admitted.execute().await;
            let following = reply.event_stream.take();
            let mut answer = OutgoingResponse::from(reply);
            if entry_docs.is_some() {
                answer = answer.varying_by(ACCEPT);
            }
            return match following {
                Some(following) => self.streamed(answer, *following),
                None => answer,
            };
        }
        let target = admitted.target();
        let document = match docs.map(|docs| docs.document(self.docs_request(), target)) {
            // Programs need the capability document even if the documentation has none.
            Some(None) if *target != Target::Capabilities => None,
            Some(Some(document)) => Some(document),
            _ => minimal::document(self.docs_request(), target, &self.settings.capability_cache),
        };
        document.map_or_else(|| self.not_found(), OutgoingResponse::from)
    }
}

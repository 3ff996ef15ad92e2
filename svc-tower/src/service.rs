//! The service, its settings and its one entry.

use std::{
    convert::Infallible,
    future::Future,
    net::IpAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::{Method, Request, Response, Version};
use http_body::Body;
use svc_core::{Error, api::Api, value::Timestamp};
use tower_service::Service;
use tracing::Instrument;

use crate::{
    body::{self, AnyBody, BoxError, erase},
    budget::BodyBudget,
    cors::Cors,
    dispatch::IncomingRequest,
    documentation::Documentation,
    even::ResponseTimeQuantum,
    guard::caught,
    observe::{ObservedResponse, Observer, ResponseTiming},
    response::{OutgoingResponse, ResponseContext, response},
    response_body::ResponseBody,
    route::Mount,
    settings::{ClockFn, ServiceSettings},
    timer::RuntimeTimer,
};

/// An answer on its way.
type ResponseFuture =
    Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

/// The interface as a `tower::Service`: any body goes in, one body comes out, and it never fails.
///
/// Cheap to clone. See the [crate's first page](crate) for an example.
///
/// Requirements: HAL-01, ERR-01.
#[derive(Debug, Clone)]
pub struct SvcService {
    api: Api,
    settings: Arc<ServiceSettings>,
}

impl SvcService {
    /// A service that answers for `api`, mounted where it sees the paths below its entry point.
    #[must_use]
    pub fn new(api: Api) -> Self {
        Self {
            api,
            settings: Arc::default(),
        }
    }

    /// Adds documentation, such as `svc_docs::Docs`, and links its `OpenAPI` document on the entry
    /// point.
    ///
    /// Without it, the capability document answers at its address, and `docs/` and the addresses of
    /// relations answer with a short HAL document. The other addresses below `docs/` are 404, and
    /// no link leads to them.
    ///
    /// # Examples
    ///
    /// ```
    /// # fn about(api: svc_core::Api) {
    /// let service = svc_tower::SvcService::new(api).with_docs(svc_docs::Docs::new());
    /// # }
    /// ```
    ///
    /// Requirements: ENT-22, UND-40.
    #[must_use]
    pub fn with_docs(mut self, docs: impl Documentation + 'static) -> Self {
        if docs.has_openapi() {
            self.api = self.api.with_openapi();
        }
        self.with(|settings| {
            settings.docs = Some(Arc::new(docs));
            // The API has changed, and clones of the service still have the other one.
            settings.capability_cache = Arc::default();
        })
    }

    /// Below this path, such as `/api/v1`: it is taken off every path, and paths outside are 404.
    ///
    /// Not for routers that take it off themselves, as axum's `nest_service` does.
    ///
    /// Requirements: HAL-01.
    #[must_use]
    pub fn under(self, path: &str) -> Self {
        self.with(|settings| settings.mount = Mount::under(path))
    }

    /// The largest body in bytes; 1 MiB unless set. A larger one is 413, announced or not.
    ///
    /// Requirements: UND-17.
    #[must_use]
    pub fn body_limit(self, bytes: usize) -> Self {
        self.with(|settings| settings.body_limit = bytes)
    }

    /// Sets the largest body of an anonymous call in bytes. Default: 64 KiB. A larger one is 413.
    ///
    /// [`body_limit`](Self::body_limit) also applies. Requirements: UND-43.
    #[must_use]
    pub fn anonymous_body_limit(self, bytes: usize) -> Self {
        self.with(|settings| settings.anonymous_body_limit = bytes)
    }

    /// Sets the budget for the memory that incomplete request bodies hold together. Default: 64
    /// MiB.
    ///
    /// A body that is cut because the budget is used up is answered 503 with `Retry-After`. No body
    /// can be larger than the budget. Requirements: UND-43.
    #[must_use]
    pub fn body_budget(self, budget: BodyBudget) -> Self {
        self.with(|settings| settings.body_budget = budget)
    }

    /// The largest batch that comes as one JSON array, in bytes; 8 MiB unless set. Lines of NDJSON
    /// have no such limit together, and [`body_limit`](Self::body_limit) each.
    ///
    /// Requirements: BAT-05.
    #[must_use]
    pub fn batch_limit(self, bytes: usize) -> Self {
        self.with(|settings| settings.batch_limit = bytes)
    }

    /// How long a backend may take, first to find out whose key it is, then for an answer once the
    /// body is there; 30 seconds unless set, `None` for ever. The backend sees the end of it as
    /// [`Context::deadline`](svc_core::Context::deadline). What takes longer is dropped where it
    /// waits, as if the client had gone away, and answered 503.
    ///
    /// The time is taken by [`timer`](Self::timer), and else by tokio's, with the feature `tokio`,
    /// which is on unless default features are off. Where a runtime has neither, nothing is
    /// dropped.
    ///
    /// Requirements: UND-36.
    #[must_use]
    pub fn request_timeout(self, timeout: Option<Duration>) -> Self {
        self.with(|settings| settings.request_timeout = timeout)
    }

    /// What [`request_timeout`](Self::request_timeout) waits with, in place of tokio's timer.
    #[must_use]
    pub fn timer<F>(self, sleep: impl Fn(Duration) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.with(|settings| settings.timer = RuntimeTimer::new(sleep))
    }

    /// The proxies whose `Forwarded`, or `X-Forwarded-Proto` and `X-Forwarded-Host`, decide the
    /// scheme and host of links.
    ///
    /// It takes effect where the server inserts [`PeerAddr`](crate::PeerAddr) into each request's
    /// extensions. Without it links begin with the base URL of the [`Api`]; they never follow the
    /// `Host` header.
    ///
    /// Requirements: UND-34.
    #[must_use]
    pub fn trusted_proxies(self, proxies: impl IntoIterator<Item = IpAddr>) -> Self {
        let proxies = proxies
            .into_iter()
            .map(|proxy| proxy.to_canonical())
            .collect();
        self.with(|settings| settings.trusted_proxies = proxies)
    }

    /// Lets browser code of other sites call the record helpers that may be called without a key;
    /// off unless set.
    ///
    /// Requirements: HLP-08.
    #[must_use]
    pub fn cors(self, cors: Cors) -> Self {
        self.with(|settings| settings.cors = Some(cors))
    }

    /// Whether an HTTP/1.1 request without `Host` is refused; off unless set.
    ///
    /// Requirements: UND-34.
    #[must_use]
    pub fn require_host(self, needed: bool) -> Self {
        self.with(|settings| settings.host_needed = needed)
    }

    /// Where the time of receipt comes from; the system's clock unless set.
    #[must_use]
    pub fn clock(self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.clock = ClockFn(Arc::new(now)))
    }

    /// Answers a call without a key only when a whole number of these times has passed since its
    /// body was there, so that the time of an answer does not tell whether somebody is known: a
    /// store has more to write for somebody new. Off unless set; a time should be longer than such
    /// a call takes, 10 ms with a store on a disk.
    ///
    /// `sleep` has to be exact to some microseconds: one that waits whole milliseconds from the
    /// moment when it is called, as `tokio::time::sleep` does, passes the difference on. A blocking
    /// thread that sleeps will do.
    ///
    /// Requirements: HLP-07.
    #[must_use]
    pub fn even_times<F>(
        self,
        every: Duration,
        sleep: impl Fn(Duration) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.with(|settings| settings.even = Some(ResponseTimeQuantum::new(every, sleep)))
    }

    /// Tells `watch` of each answer, for metrics; it must be quick and must not panic. Off unless
    /// set.
    #[must_use]
    pub fn observe(self, watch: impl Fn(&ObservedResponse<'_>) + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.observer = Some(Observer(Arc::new(watch))))
    }

    /// The answer to a request that what stands before the service cannot let through now, such as
    /// a limit on load: 503 with the error object, and `Retry-After` in whole seconds, rounded up.
    ///
    /// Requirements: UND-36.
    #[must_use]
    pub fn unavailable<B>(
        &self,
        request: &Request<B>,
        retry_after: Duration,
    ) -> Response<ResponseBody> {
        let target = self
            .settings
            .mount
            .strip(request.uri().path())
            .and_then(|path| self.api.route(path));
        let reply = self
            .api
            .backend_error_response(target.as_ref(), Error::unavailable(retry_after));
        let is_head = request.method() == Method::HEAD;
        let mut answer = OutgoingResponse::from(reply);
        // Nobody here reads the body.
        answer.close = body::is_announced(request.headers());
        response(
            answer,
            ResponseContext {
                dialect: self.api.dialect(),
                version: request.version(),
                is_head,
            },
        )
    }

    /// What drives the deliveries of the API, by the timer and the clock of this service; `None`
    /// where nobody [delivers](svc_core::ApiBuilder::delivery). Until it
    /// [runs](crate::DeliveryWorker::run), in this process or in another one over the same store,
    /// nothing is sent.
    #[cfg(feature = "tokio")]
    #[must_use]
    pub fn deliveries(&self) -> Option<crate::DeliveryWorker> {
        let ServiceSettings { timer, clock, .. } = &*self.settings;
        Some(crate::DeliveryWorker::new(
            self.api.outbox()?,
            timer.clone(),
            clock.clone(),
        ))
    }

    /// The API that it answers for.
    #[must_use]
    pub fn api(&self) -> &Api {
        &self.api
    }

    fn with(mut self, change: impl FnOnce(&mut ServiceSettings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    /// The answer, on its way. It is boxed here, where no type is open, so that no other crate
    /// compiles it again.
    fn answering(&self, request: Request<AnyBody>) -> ResponseFuture {
        Box::pin(self.clone().answer(request))
    }

    /// Answers a request whose body has lost its type.
    async fn answer(self, request: Request<AnyBody>) -> Result<Response<ResponseBody>, Infallible> {
        let watching = ResponseTiming::begin(self.settings.observer.as_ref());
        let (mut parts, body) = request.into_parts();
        let extensions = std::mem::take(&mut parts.extensions);
        let mut incoming = IncomingRequest::new(&self.api, &self.settings, &parts, extensions);
        let span = incoming.span.clone();
        let mut body = Some(body);
        let mut answer = self
            .find_answer(&mut incoming, &mut body)
            .instrument(span.clone())
            .await;
        // A connection on which a part of a request is still to come would be closed without a word
        // (UND-17); other versions of HTTP have a stream for each request.
        if let Some(unread) = body.filter(|_| parts.version < Version::HTTP_2) {
            answer.close |= !body::dropped(&parts.headers, unread).await;
        }
        span.record("status", answer.status.as_u16());
        if let Some(code) = &answer.reference_code {
            span.record("reference_code", code.as_str());
        }
        span.in_scope(|| tracing::debug!("answered"));
        if let Some((cors, open)) = incoming.cors() {
            cors.mark(
                self.api.dialect(),
                open,
                &parts.method,
                &parts.headers,
                &mut answer.more,
            );
        }
        if let Some(watching) = watching {
            watching.end(incoming.target.as_ref(), &parts.method, &answer);
        }
        let is_head = parts.method == Method::HEAD;
        Ok(response(
            answer,
            ResponseContext {
                dialect: self.api.dialect(),
                version: parts.version,
                is_head,
            },
        ))
    }

    /// The answer, whatever happens in the backend.
    async fn find_answer(
        &self,
        incoming: &mut IncomingRequest<'_>,
        body: &mut Option<AnyBody>,
    ) -> OutgoingResponse {
        let found = async {
            match incoming.refused_by_head() {
                Some(refusal) => refusal,
                None => incoming.answer(body).await,
            }
        };
        let said = match caught(pin!(found)).await {
            Ok(answer) => return answer,
            Err(said) => said,
        };
        let reply = self.api.panic_response(incoming.target.as_ref());
        tracing::error!(
            reference_code = reply.reference_code,
            said,
            "a panic ended a request"
        );
        reply.into()
    }
}

impl<B> Service<Request<B>> for SvcService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.answering(request.map(erase))
    }
}

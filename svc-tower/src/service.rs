//! The service and its settings.

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
    catch_panic::catch_panic,
    cors::Cors,
    dispatch::IncomingRequest,
    documentation::Documentation,
    observe::{ObservedResponse, Observer, ResponseTiming},
    response::{OutgoingResponse, ResponseContext, response},
    response_body::ResponseBody,
    response_time::ResponseTimeQuantum,
    route::Mount,
    settings::{ClockFn, ServiceSettings},
    timer::RuntimeTimer,
};

/// The future of a response.
type ResponseFuture =
    Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>;

/// The API as a `tower::Service`, with any request body type and the error type `Infallible`.
///
/// It is cheap to clone. See the [first page of the crate](crate) for an example.
///
/// Requirements: HAL-01, ERR-01.
#[derive(Debug, Clone)]
pub struct SvcService {
    api: Api,
    settings: Arc<ServiceSettings>,
}

impl SvcService {
    /// Creates a service for `api`. It expects paths below its entry point; see
    /// [`mounted_at`](Self::mounted_at).
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
    /// Without it, the service has the capability document, and short HAL documents at `docs/` and
    /// for each relation. The other URLs below `docs/` are 404 and are not linked.
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
            // The API has changed, and clones of the service still have the previous one.
            settings.capability_cache = Arc::default();
        })
    }

    /// Mounts the service below this path, such as `/api/v1`. It is removed from every path, and
    /// paths outside are 404.
    ///
    /// Do not use it in routers that remove the path themselves, such as `nest_service` of axum.
    ///
    /// Requirements: HAL-01.
    #[must_use]
    pub fn mounted_at(self, path: &str) -> Self {
        self.with(|settings| settings.mount = Mount::under(path))
    }

    /// Sets the largest body in bytes. Default: 1 MiB. A larger body is 413, with or without an
    /// announced length.
    ///
    /// Requirements: UND-17.
    #[must_use]
    pub fn body_limit(self, bytes: usize) -> Self {
        self.with(|settings| settings.body_limit = bytes)
    }

    /// Sets the largest body of an anonymous request in bytes. Default: 64 KiB. A larger one is
    /// 413.
    ///
    /// [`body_limit`](Self::body_limit) also applies.
    ///
    /// Requirements: UND-43.
    #[must_use]
    pub fn anonymous_body_limit(self, bytes: usize) -> Self {
        self.with(|settings| settings.anonymous_body_limit = bytes)
    }

    /// Sets the budget for the memory that all incomplete request bodies use together. Default: 64
    /// MiB.
    ///
    /// A request whose body is cut because the budget is used up gets 503 with `Retry-After`. No
    /// body can be larger than the budget.
    ///
    /// Requirements: UND-43.
    #[must_use]
    pub fn body_budget(self, budget: BodyBudget) -> Self {
        self.with(|settings| settings.body_budget = budget)
    }

    /// Sets the largest batch as one JSON array, in bytes. Default: 8 MiB. A batch of NDJSON lines
    /// has no limit in total; [`body_limit`](Self::body_limit) applies to each line.
    ///
    /// Requirements: BAT-05.
    #[must_use]
    pub fn batch_limit(self, bytes: usize) -> Self {
        self.with(|settings| settings.batch_limit = bytes)
    }

    /// Sets the timeout of the backend. Default: 30 seconds; `None` means no timeout. It applies to
    /// the authentication of a key, and then again from the end of the body to the response.
    ///
    /// The backend gets the end of the timeout as
    /// [`Context::deadline`](svc_core::Context::deadline). At this time its future is dropped, as
    /// if the client had disconnected, and the response is 503.
    ///
    /// The timeout uses [`timer`](Self::timer) if it is set. Otherwise it uses the timer of tokio
    /// (feature `tokio`, a default feature). If the runtime has neither, there is no timeout.
    ///
    /// Requirements: UND-36.
    #[must_use]
    pub fn request_timeout(self, timeout: Option<Duration>) -> Self {
        self.with(|settings| settings.request_timeout = timeout)
    }

    /// Sets the timer of [`request_timeout`](Self::request_timeout), instead of that of tokio.
    #[must_use]
    pub fn timer<F>(self, sleep: impl Fn(Duration) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.with(|settings| settings.timer = RuntimeTimer::new(sleep))
    }

    /// Sets the trusted proxies. Their `Forwarded`, or `X-Forwarded-Proto` and `X-Forwarded-Host`,
    /// determine the scheme and host of links.
    ///
    /// The server must insert [`PeerAddr`](crate::PeerAddr) into the extensions of each request.
    /// Otherwise links start with the base URL of the [`Api`]. They never depend on the `Host`
    /// header.
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

    /// Allows browser code of other origins to call the record helpers that can be called without a
    /// key. Default: off.
    ///
    /// Requirements: HLP-08.
    #[must_use]
    pub fn cors(self, cors: Cors) -> Self {
        self.with(|settings| settings.cors = Some(cors))
    }

    /// Sets whether an HTTP/1.1 request without `Host` is rejected. Default: off.
    ///
    /// Requirements: UND-34.
    #[must_use]
    pub fn require_host_header(self, needed: bool) -> Self {
        self.with(|settings| settings.require_host_header = needed)
    }

    /// Sets the clock for the time of receipt. Default: the clock of the system.
    #[must_use]
    pub fn clock(self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.clock = ClockFn(Arc::new(now)))
    }

    /// Delays the response to a request without a key until the time since its body arrived is a
    /// multiple of a duration. Default: off.
    ///
    /// The store writes more for a new person than for a known one. With this setting, the response
    /// time does not reveal whether a person is known. The duration should be longer than such a
    /// request takes, for example 10 ms with a store on a disk.
    ///
    /// `sleep` must be accurate to a few microseconds. `tokio::time::sleep` is not suitable: it
    /// waits whole milliseconds from the time of the call, so that the difference remains. A
    /// blocking thread that sleeps is suitable.
    ///
    /// Requirements: HLP-07.
    #[must_use]
    pub fn response_time_quantum<F>(
        self,
        every: Duration,
        sleep: impl Fn(Duration) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.with(|settings| {
            settings.response_time_quantum = Some(ResponseTimeQuantum::new(every, sleep));
        })
    }

    /// Sets a callback that receives each response, for metrics. It must be quick and must not
    /// panic. Default: none.
    #[must_use]
    pub fn on_response(
        self,
        watch: impl Fn(&ObservedResponse<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.with(|settings| settings.observer = Some(Observer(Arc::new(watch))))
    }

    /// Returns the response to a request that a layer in front of the service rejects temporarily,
    /// such as a load limit. It is 503 with the error object, and with `Retry-After` in whole
    /// seconds, rounded up.
    ///
    /// Requirements: UND-36.
    #[must_use]
    pub fn unavailable_response<B>(
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
        // No code reads the body.
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

    /// Returns the worker that executes the deliveries of the API, with the timer and the clock of
    /// this service. Returns `None` if the API has no [delivery](svc_core::ApiBuilder::delivery).
    ///
    /// Nothing is sent until the worker [runs](crate::DeliveryWorker::run), in this process or in
    /// another one with the same store.
    #[cfg(feature = "tokio")]
    #[must_use]
    pub fn delivery_worker(&self) -> Option<crate::DeliveryWorker> {
        let ServiceSettings { timer, clock, .. } = &*self.settings;
        Some(crate::DeliveryWorker::new(
            self.api.outbox()?,
            timer.clone(),
            clock.clone(),
        ))
    }

    /// Returns the API of the service.
    #[must_use]
    pub fn api(&self) -> &Api {
        &self.api
    }

    fn with(mut self, change: impl FnOnce(&mut ServiceSettings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    /// Returns the future of the response. It is boxed here, without generic types, so that other
    /// crates do not compile it again.
    fn answering(&self, request: Request<AnyBody>) -> ResponseFuture {
        Box::pin(self.clone().answer(request))
    }

    /// Executes a request with a type-erased body.
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
        // Otherwise a connection with unread input would be closed without an announcement in the
        // response (UND-17). Other versions of HTTP have a stream for each request.
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
                &mut answer.extra_headers,
            );
        }
        if let Some(watching) = watching {
            watching.end(incoming.target.as_deref(), &parts.method, &answer);
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

    /// Returns the response, even if the backend fails or panics.
    async fn find_answer(
        &self,
        incoming: &mut IncomingRequest<'_>,
        body: &mut Option<AnyBody>,
    ) -> OutgoingResponse {
        let found = async {
            match incoming.reject_head() {
                Some(refusal) => refusal,
                None => incoming.answer(body).await,
            }
        };
        let said = match catch_panic(pin!(found)).await {
            Ok(answer) => return answer,
            Err(said) => said,
        };
        let reply = self.api.panic_response(incoming.target.as_deref());
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

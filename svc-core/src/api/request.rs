//! Requests, before they are resolved.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Extensions, HeaderMap, Method};
use uuid::Uuid;

use super::Api;
use crate::{
    auth::{Identity, Principal},
    context::{BaseUrl, Context},
    link::Target,
    value::Timestamp,
};

/// The target of a request, or the path of the target.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RequestTarget<'a> {
    /// A path relative to the base URL, without a leading slash and without a query.
    Path(&'a str),
    /// A resolved target.
    Target(Target),
    /// A URL that is not part of the API, such as a path outside its mount point.
    ///
    /// Requirements: UND-35.
    Unknown,
}

impl<'a> From<&'a str> for RequestTarget<'a> {
    fn from(path: &'a str) -> Self {
        Self::Path(path)
    }
}

impl From<Target> for RequestTarget<'_> {
    fn from(target: Target) -> Self {
        Self::Target(target)
    }
}

impl<'a> From<Option<&'a str>> for RequestTarget<'a> {
    /// Converts `None` to `Unknown`.
    fn from(path: Option<&'a str>) -> Self {
        path.map_or(Self::Unknown, Self::Path)
    }
}

/// A request: method, target, headers and body, with its receipt time and other details.
///
/// # Examples
///
/// ```
/// use http::Method;
/// use svc_core::api::Request;
///
/// let read = Request::new(&Method::GET, "people").with_query(Some("page=2"));
/// let create = Request::new(&Method::POST, "people").with_body(r#"{"given_name": "Ada"}"#);
/// # let _ = (read, create);
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The method.
    pub method: &'a Method,
    /// The target.
    pub target: RequestTarget<'a>,
    /// The query string, without its question mark.
    pub query: Option<&'a str>,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The body; empty if there is none. It can also be [set
    /// later](super::AuthorizedRequest::with_body), after the request is authorized.
    pub body: Bytes,
    /// The request extensions of the vendor's own layers.
    pub extensions: Extensions,
    /// The base URL of the request. By default this is the base URL of the [`Api`].
    ///
    /// Requirements: HAL-01.
    pub base_url: Option<BaseUrl>,
    /// The time of receipt. By default this is the system time.
    pub received_at: Option<Timestamp>,
    /// When processing began, by a monotonic clock. By default this is when the request was
    /// created.
    pub started_at: Instant,
    /// The id of the request in logs. By default it is random.
    pub id: Option<Uuid>,
    /// The timeout of backend calls. By default there is none.
    ///
    /// Requirements: UND-36.
    pub timeout: Option<Duration>,
    /// The timer of the async runtime. Without it, no request waits for changes.
    ///
    /// Requirements: SYN-11.
    pub timer: Option<&'a dyn Timer>,
    /// The identity of the caller, if the authenticator determined it and may be called again.
    pub(super) identified_as: Option<Box<Identity>>,
}

/// The timer of an async runtime.
pub trait Timer: Send + Sync {
    /// Returns a future that completes after this time, or `None` if there is no timer.
    fn sleep(&self, time: Duration) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>>;
}

impl<'a> Request<'a> {
    /// Creates a request without query, headers and body.
    #[must_use]
    pub fn new(method: &'a Method, target: impl Into<RequestTarget<'a>>) -> Self {
        static NO_HEADERS: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);
        Self {
            method,
            target: target.into(),
            query: None,
            headers: &NO_HEADERS,
            body: Bytes::new(),
            extensions: Extensions::new(),
            base_url: None,
            received_at: None,
            started_at: Instant::now(),
            id: None,
            timeout: None,
            timer: None,
            identified_as: None,
        }
    }

    /// Sets the query string.
    #[must_use]
    pub fn with_query(mut self, query: Option<&'a str>) -> Self {
        self.query = query;
        self
    }

    /// Sets the headers.
    #[must_use]
    pub fn with_headers(mut self, headers: &'a HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the request extensions of the vendor's own layers.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// Sets the base URL.
    #[must_use]
    pub fn with_base_url(mut self, base: BaseUrl) -> Self {
        self.base_url = Some(base);
        self
    }

    /// Sets the time of receipt.
    #[must_use]
    pub fn with_received_at(mut self, received: Timestamp) -> Self {
        self.received_at = Some(received);
        self
    }

    /// Sets the id in logs.
    #[must_use]
    pub fn with_id(mut self, id: Uuid) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets the timeout of backend calls, counted from the start of the call; `None` for no
    /// timeout.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the timer of the async runtime.
    #[must_use]
    pub fn with_timer(mut self, timer: &'a dyn Timer) -> Self {
        self.timer = Some(timer);
        self
    }

    /// Returns the deadline of an operation that begins now.
    ///
    /// Returns `None` if there is no timeout, or if the deadline is too far in the future.
    pub(super) fn deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(self.timeout?)
    }

    /// Returns the context for the backend. Takes the extensions and the base URL out of the
    /// request.
    pub(super) fn context(&mut self, api: &Api, principal: Principal) -> Context {
        let sizes = api.limits();
        let now = self.received_at.unwrap_or_else(Timestamp::now);
        let id = self.id.unwrap_or_else(Uuid::new_v4);
        let limits = if principal.caller.is_anonymous() {
            sizes.anonymous_content
        } else {
            sizes.content
        };
        let base = self.base_url.take();
        let mut cx = Context::of_request(principal, now, id, self.started_at)
            .with_limits(limits)
            .with_base(base.unwrap_or_else(|| api.base_url().clone()))
            .with_namespace(Arc::clone(&api.inner.relations.namespace))
            .with_person_constraints(Arc::clone(&api.inner.person_constraints));
        cx.set_deadline(self.deadline());
        *cx.extensions_mut() = std::mem::take(&mut self.extensions);
        cx
    }
}

impl fmt::Debug for Request<'_> {
    /// Omits ids, query, headers and body, because they contain keys and personal data.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", self.method)
            .finish_non_exhaustive()
    }
}

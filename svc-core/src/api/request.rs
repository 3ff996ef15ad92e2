//! A request, after its HTTP has been read and before anything is known of it.

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
    auth::{Caller, Identity},
    context::{BaseUrl, Context, Tenant},
    link::Target,
    value::Timestamp,
};

/// What a request is about.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RequestTarget<'a> {
    /// Whatever a path leads to: without a slash in front, without a query.
    Path(&'a str),
    /// This.
    Target(Target),
    /// Nothing of the interface, such as a path outside its mount.
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
    /// `None` is nothing of the interface.
    fn from(path: Option<&'a str>) -> Self {
        path.map_or(Self::Unknown, Self::Path)
    }
}

/// A request: method, address, headers and body, and the circumstances under which it came.
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
    /// What it is about.
    pub target: RequestTarget<'a>,
    /// The query string, without its question mark.
    pub query: Option<&'a str>,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The body; empty for none. It may also come [later](super::AuthorizedRequest::with_body),
    /// once the request is admitted.
    pub body: Bytes,
    /// What the vendor's own layers attached to it.
    pub extensions: Extensions,
    /// The address of the entry point under which it came; that of the [`Api`] unless set.
    ///
    /// Requirements: HAL-01.
    pub base_url: Option<BaseUrl>,
    /// The time of receipt; the system's time unless set.
    pub received_at: Option<Timestamp>,
    /// When it began, by the clock that never goes back; when it was made unless set.
    pub started_at: Instant,
    /// Its name in logs; a random one unless set.
    pub id: Option<Uuid>,
    /// How long a backend may take for it; for ever unless set.
    ///
    /// Requirements: UND-36.
    pub timeout: Option<Duration>,
    /// The timer of the program's runtime; without one nothing waits for changes.
    ///
    /// Requirements: SYN-11.
    pub timer: Option<&'a dyn Timer>,
    /// Who sends it, where the authenticator was asked and may be asked again.
    pub(super) identified_as: Option<Box<Identity>>,
}

/// The timer of a program's runtime.
pub trait Timer: Send + Sync {
    /// Passes a time; `None` where there is no timer at hand.
    fn sleep(&self, time: Duration) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>>;
}

impl<'a> Request<'a> {
    /// A request without query, headers and body.
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

    /// With this query string.
    #[must_use]
    pub fn with_query(mut self, query: Option<&'a str>) -> Self {
        self.query = query;
        self
    }

    /// With these headers.
    #[must_use]
    pub fn with_headers(mut self, headers: &'a HeaderMap) -> Self {
        self.headers = headers;
        self
    }

    /// With this body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// With what the vendor's own layers attached to it.
    #[must_use]
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// Under this address of the entry point.
    #[must_use]
    pub fn with_base_url(mut self, base: BaseUrl) -> Self {
        self.base_url = Some(base);
        self
    }

    /// Received at this time.
    #[must_use]
    pub fn with_received_at(mut self, received: Timestamp) -> Self {
        self.received_at = Some(received);
        self
    }

    /// Under this name in logs.
    #[must_use]
    pub fn with_id(mut self, id: Uuid) -> Self {
        self.id = Some(id);
        self
    }

    /// With so much time for the backend, counted from when it is asked; `None` for ever.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// With the timer of the program's runtime.
    #[must_use]
    pub fn with_timer(mut self, timer: &'a dyn Timer) -> Self {
        self.timer = Some(timer);
        self
    }

    /// When an operation that begins now is no longer waited for; `None` also where that lies
    /// beyond all clocks.
    pub(super) fn deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(self.timeout?)
    }

    /// What the backend is told of it. Extensions and base are taken out.
    pub(super) fn context(&mut self, api: &Api, tenant: Tenant, caller: Caller) -> Context {
        let sizes = api.limits();
        let now = self.received_at.unwrap_or_else(Timestamp::now);
        let id = self.id.unwrap_or_else(Uuid::new_v4);
        let mut cx = Context::of_request(tenant, caller, now, id, self.started_at);
        cx.limits = if cx.is_anonymous() {
            sizes.anonymous_content
        } else {
            sizes.content
        };
        cx.deadline = self.deadline();
        cx.extensions = std::mem::take(&mut self.extensions);
        cx.base = self
            .base_url
            .take()
            .unwrap_or_else(|| api.base_url().clone());
        cx.namespace = Arc::clone(&api.inner.relations.namespace);
        cx
    }
}

impl fmt::Debug for Request<'_> {
    /// Without ids, query, headers and body: they hold keys and personal data.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", self.method)
            .finish_non_exhaustive()
    }
}

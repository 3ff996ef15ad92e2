//! The documentation of a service: the trait that it implements, its requests and its responses.

use std::{fmt, pin::Pin};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use svc_core::{BaseUrl, api::Api, link::Target};

/// A future that returns a page of the documentation.
pub type DocsFuture<'a> = Pin<Box<dyn Future<Output = DocsAnswer> + Send + 'a>>;

/// The documentation of an API.
///
/// [`SvcService::with_docs`](crate::SvcService::with_docs) adds it to a service. The crate
/// `svc-docs` implements it with `svc_docs::Docs`. The service checks the method and the key of a
/// request before it calls [`document`](Self::document) or [`entry_page`](Self::entry_page).
///
/// The methods do not return errors. They return `None` if the documentation has no response, and
/// the service then sends its own. A panic becomes a response with the status 500.
pub trait Documentation: fmt::Debug + Send + Sync {
    /// Returns the document of a target, or `None` if there is no such document.
    ///
    /// The targets are the capability document and the URLs below `docs/`. If this returns `None`,
    /// the service sends the capability document at its URL, and the status 404 elsewhere. If the
    /// response depends on headers of the request, the implementation adds `Vary`.
    fn document(&self, request: DocsRequest<'_>, target: &Target) -> Option<DocsAnswer>;

    /// Returns the HTML page of the entry point, or `None` if the client does not ask for HTML.
    ///
    /// If this returns `None`, the service sends the HAL document of the entry point. It adds
    /// `Vary: Accept` to both.
    fn entry_page<'a>(&'a self, request: DocsRequest<'a>) -> Option<DocsFuture<'a>>;

    /// Returns the HTML page for a URL without a target, or `None` if the client does not ask for
    /// HTML.
    ///
    /// `path` is the path of the request as the client sent it. If this returns `None`, the service
    /// sends the error object. It adds `Vary: Accept` to both, sets the status 404, and calls this
    /// for `GET` and `HEAD` only, before it checks the key.
    fn missing_page(&self, request: DocsRequest<'_>, path: &str) -> Option<DocsAnswer>;

    /// Returns whether [`document`](Self::document) has an `OpenAPI` document for
    /// [`Target::OpenApi`]. The entry point then links it.
    fn has_openapi(&self) -> bool {
        false
    }
}

/// A request to the documentation: its API, and everything that the response depends on.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DocsRequest<'a> {
    /// The API of the service.
    pub api: &'a Api,
    /// The base URL of the links of the response.
    pub base: &'a BaseUrl,
    /// The headers of the request.
    pub headers: &'a HeaderMap,
    /// The largest body that the service accepts, in bytes.
    pub body_limit: usize,
    /// The largest body of an anonymous request that the service accepts, in bytes.
    pub anonymous_body_limit: usize,
}

/// A response of the documentation.
///
/// The service adds the headers that all responses have, such as `Content-Length` and
/// `Cache-Control`, and leaves out the body if the method of the request is `HEAD`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DocsAnswer {
    /// The status.
    pub status: StatusCode,
    /// The media type of the body. The service sends it only if the body is not empty.
    pub media_type: HeaderValue,
    /// Headers in addition to those of the service. A name can have several values.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// Whether the content at this URL never changes, so that clients can cache it for a year.
    pub immutable: bool,
}

impl DocsAnswer {
    /// Returns a response with the status 200 and no further headers.
    #[must_use]
    pub fn new(media_type: HeaderValue, body: impl Into<Bytes>) -> Self {
        Self {
            status: StatusCode::OK,
            media_type,
            headers: HeaderMap::new(),
            body: body.into(),
            immutable: false,
        }
    }
}

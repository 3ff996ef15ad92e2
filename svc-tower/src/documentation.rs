//! The documentation that a service answers with: the trait that it has to implement, its requests
//! and its answers.

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
/// The methods do not return errors: they return `None` if the documentation has no answer, and the
/// service then sends its own. A panic becomes an answer with the status 500.
pub trait Documentation: fmt::Debug + Send + Sync {
    /// Returns the document of a target, or `None` if there is no such document.
    ///
    /// The targets are the capability document and the addresses below `docs/`. If this returns
    /// `None`, the service answers with the capability document at its address, and with the status
    /// 404 elsewhere. If the answer depends on headers of the request, the
    /// implementation adds `Vary`.
    fn document(&self, request: DocsRequest<'_>, target: &Target) -> Option<DocsAnswer>;

    /// Returns the HTML page of the entry point, or `None` if the client does not ask for HTML.
    ///
    /// The service answers `None` with the HAL document of the entry point. It adds `Vary: Accept`
    /// to both.
    fn entry_page<'a>(&'a self, request: DocsRequest<'a>) -> Option<DocsFuture<'a>>;

    /// Returns the HTML page for an address that leads to nothing, or `None` if the client does not
    /// ask for HTML.
    ///
    /// `path` is the path of the request as the client sent it. The service answers `None` with the
    /// error object. It adds `Vary: Accept` to both, sets the status 404, and calls this for `GET`
    /// and `HEAD` only, before it checks the key.
    fn missing_page(&self, request: DocsRequest<'_>, path: &str) -> Option<DocsAnswer>;

    /// Whether [`document`](Self::document) returns an `OpenAPI` document for
    /// [`Target::OpenApi`]. The entry point then links it.
    fn has_openapi(&self) -> bool {
        false
    }
}

/// A request to the documentation: the API that it is about, and what the answer depends on.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DocsRequest<'a> {
    /// The API of the service.
    pub api: &'a Api,
    /// The address of the entry point in the links of the answer.
    pub base: &'a BaseUrl,
    /// The headers of the request.
    pub headers: &'a HeaderMap,
    /// The largest body that the service accepts, in bytes.
    pub body_limit: usize,
    /// The largest body of an anonymous call that the service accepts, in bytes.
    pub anonymous_body_limit: usize,
}

/// An answer of the documentation.
///
/// The service adds the headers that all answers have, such as `Content-Length` and
/// `Cache-Control`, and leaves out the body if the method of the request is `HEAD`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DocsAnswer {
    /// The status.
    pub status: StatusCode,
    /// The media type of the body. The service sends it only if the body is not empty.
    pub media_type: HeaderValue,
    /// The headers besides those that the service adds. A name may have several values.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// Whether the content at this address never changes, so that clients may keep it for a year.
    pub immutable: bool,
}

impl DocsAnswer {
    /// Returns an answer with the status 200 and no further headers.
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

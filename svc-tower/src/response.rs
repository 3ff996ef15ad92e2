//! Responses: status, headers and body (HAL-02 to HAL-04, AUT-07, UND-33).

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Version,
    header::{
        ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, RETRY_AFTER,
        VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    },
};
use http_body_util::Full;
use svc_core::{
    api::{ContentType, Reply},
    link::Dialect,
};

/// What an answer consists of.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) media: Media,
    pub(crate) body: Bytes,
    /// Headers beyond those that every answer has.
    pub(crate) headers: HeaderMap,
    /// Whether the connection cannot be used again.
    pub(crate) close: bool,
    /// What the log and the client know a failure by (ERR-28).
    pub(crate) reference_code: Option<String>,
}

/// The media type of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    Hal,
    Json,
    #[cfg(feature = "pages")]
    Html,
    /// A page with scripts of this server.
    #[cfg(feature = "pages")]
    App,
    #[cfg(feature = "pages")]
    Css,
    #[cfg(feature = "pages")]
    Script,
    #[cfg(feature = "pages")]
    Svg,
}

impl Media {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Hal => "application/hal+json",
            Self::Json => "application/json",
            #[cfg(feature = "pages")]
            Self::Html => "text/html; charset=utf-8",
            #[cfg(feature = "pages")]
            Self::App => "text/html; charset=utf-8",
            #[cfg(feature = "pages")]
            Self::Css => "text/css; charset=utf-8",
            #[cfg(feature = "pages")]
            Self::Script => "text/javascript; charset=utf-8",
            #[cfg(feature = "pages")]
            Self::Svg => "image/svg+xml",
        }
    }

    /// What a browser may load and run for a page (ENT-22): of other servers nothing.
    const fn policy(self) -> Option<&'static str> {
        match self {
            #[cfg(feature = "pages")]
            Self::Html => Some("default-src 'none'; style-src 'self'; frame-ancestors 'none'"),
            #[cfg(feature = "pages")]
            Self::App => Some("default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
            _ => None,
        }
    }
}

impl Answer {
    /// An answer without a body.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self {
            status,
            media: Media::Hal,
            body: Bytes::new(),
            headers: HeaderMap::new(),
            close: false,
            reference_code: None,
        }
    }

    /// A page of the documentation, or what belongs to one (ENT-22).
    pub(crate) fn page(media: Media, body: String) -> Self {
        Self { media, body: body.into(), ..Self::empty(StatusCode::OK) }
    }

    /// The answer to `OPTIONS` (UND-28).
    pub(crate) fn options(methods: &[Method]) -> Self {
        let mut answer = Self::empty(StatusCode::NO_CONTENT);
        let names: Vec<&str> = methods.iter().map(Method::as_str).collect();
        answer.insert(ALLOW, HeaderValue::from_str(&names.join(", ")).ok());
        answer
    }

    fn insert(&mut self, name: HeaderName, value: Option<HeaderValue>) {
        if let Some(value) = value {
            self.headers.insert(name, value);
        }
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        let media = match reply.content_type {
            ContentType::Json => Media::Json,
            _ => Media::Hal,
        };
        let mut answer =
            Self { media, body: reply.body, reference_code: reply.reference_code, ..Self::empty(reply.status) };
        answer.insert(LOCATION, reply.location.and_then(|location| HeaderValue::from_str(&location).ok()));
        answer.insert(RETRY_AFTER, reply.retry_after.map(HeaderValue::from));
        answer
    }
}

/// What of the request decides how its answer is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sending<'a> {
    pub(crate) dialect: &'a Dialect,
    pub(crate) version: Version,
    /// Whether the request is `HEAD`, whose answer is that of `GET` without the body (UND-28).
    pub(crate) is_head: bool,
}

/// The response that an answer becomes.
pub(crate) fn response(answer: Answer, sending: Sending<'_>) -> Response<Full<Bytes>> {
    let Answer { status, media, body, headers: more, close, .. } = answer;
    let length = body.len();
    let body = if sending.is_head { Bytes::new() } else { body };
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    // What nearly every answer has; memory for more is as dear as that for the body.
    headers.reserve(6);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=0, private, must-revalidate"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(VARY, HeaderValue::from_name(sending.dialect.key_header().clone()));
    if length > 0 {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media.as_str()));
    }
    if status != StatusCode::NO_CONTENT {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    if let Some(policy) = media.policy() {
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    }
    if status == StatusCode::UNAUTHORIZED {
        let challenge = format!("ApiKey header=\"{}\"", sending.dialect.key_header_text());
        if let Ok(challenge) = HeaderValue::from_str(&challenge) {
            headers.insert(WWW_AUTHENTICATE, challenge);
        }
    }
    // Other versions of HTTP have no such header.
    if close && sending.version < Version::HTTP_2 {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for (name, value) in &more {
        headers.append(name, value.clone());
    }
    response
}

//! Responses: status, headers and body (HAL-02 to HAL-04, AUT-07, UND-33).

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Response, StatusCode, Version,
    header::{
        CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
        REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
    },
};
use svc_core::{Code, api::Reply, link::Dialect};

use crate::response_body::ResponseBody;

/// What an answer consists of.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// Headers that it has by itself; what every answer has is added to them.
    headers: HeaderMap,
    pub(crate) body: ResponseBody,
    /// Headers beside those that every answer has, of which there may be several with one name.
    pub(crate) more: HeaderMap,
    /// Whether the connection cannot be used again.
    pub(crate) close: bool,
    /// Whether what is at the address never changes: its contents have another address then (HAL-04
    /// is about all others).
    pub(crate) is_lasting: bool,
    /// What the log and the client know a failure by (ERR-28).
    pub(crate) reference_code: Option<String>,
    /// The code of a failure, the first of several (ERR-24).
    pub(crate) code: Option<Code>,
}

/// The media type of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    Hal,
    #[cfg(feature = "openapi")]
    Json,
    #[cfg(feature = "pages")]
    Html,
    /// A page that its scripts fill, and that stands in no frame.
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
            #[cfg(feature = "openapi")]
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
            Self::Html => Some(
                "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
            ),
            #[cfg(feature = "pages")]
            Self::App => Some(
                "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            ),
            _ => None,
        }
    }
}

impl Answer {
    /// A page of the documentation, or what belongs to one (ENT-22).
    pub(crate) fn page(media: Media, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media.as_str()));
        if let Some(policy) = media.policy() {
            headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
            // Addresses have ids in them, which is nothing for the sites that a page leads to.
            headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        }
        Self::new(StatusCode::OK, headers, body.into().into())
    }

    /// The page of an address at which there is nothing.
    #[cfg(feature = "pages")]
    pub(crate) fn missing(body: String) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            code: Some(Code::ResourceNotFound),
            ..Self::page(Media::Html, body)
        }
    }

    /// Lines that are made while the client reads them.
    pub(crate) fn lines(media: &'static str, body: ResponseBody) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        Self::new(StatusCode::OK, headers, body)
    }

    /// Nothing new to a client that has the document (RFC 9110, 15.4.5).
    pub(crate) fn not_modified() -> Self {
        Self::new(
            StatusCode::NOT_MODIFIED,
            HeaderMap::new(),
            ResponseBody::default(),
        )
    }

    /// The same, which others get in another form by what they send in a header.
    pub(crate) fn varying_by(mut self, header: HeaderName) -> Self {
        self.more.append(VARY, header.into());
        self
    }

    fn new(status: StatusCode, headers: HeaderMap, body: ResponseBody) -> Self {
        let more = HeaderMap::new();
        Self {
            status,
            headers,
            body,
            more,
            close: false,
            is_lasting: false,
            reference_code: None,
            code: None,
        }
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        let Reply {
            status,
            headers,
            body,
            reference_code,
            code,
            ..
        } = reply;
        Self {
            reference_code,
            code,
            ..Self::new(status, headers, body.into())
        }
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
pub(crate) fn response(answer: Answer, sending: Sending<'_>) -> Response<ResponseBody> {
    let Answer {
        status,
        mut headers,
        body,
        more,
        close,
        is_lasting,
        ..
    } = answer;
    // Of parts that are still to be made nobody knows it.
    let length = body.bytes().map(Bytes::len);
    let body = if sending.is_head {
        ResponseBody::default()
    } else {
        body
    };
    let cached = if is_lasting {
        "max-age=31536000, immutable"
    } else {
        "max-age=0, private, must-revalidate"
    };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(cached));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(
        VARY,
        HeaderValue::from_name(sending.dialect.key_header().clone()),
    );
    if length == Some(0) {
        headers.remove(CONTENT_TYPE);
    }
    // Of a document that is not sent it would be the length.
    let has_length = !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if let Some(length) = length.filter(|_| has_length) {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    // Other versions of HTTP have no such header.
    if close && sending.version < Version::HTTP_2 {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for (name, value) in &more {
        headers.append(name, value.clone());
    }
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

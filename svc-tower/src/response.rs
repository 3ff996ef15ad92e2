//! Responses: status, headers and body.
//!
//! Requirements: HAL-02 to HAL-04, AUT-07, UND-33.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode, Version,
    header::{
        CACHE_CONTROL, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, VARY, X_CONTENT_TYPE_OPTIONS,
    },
};
use svc_core::{ErrorCode, api::Response, link::Dialect};

use crate::{documentation::DocsAnswer, response_body::ResponseBody};

/// The parts of a response.
#[derive(Debug)]
pub(crate) struct OutgoingResponse {
    pub(crate) status: StatusCode,
    /// Headers of this response. Those that every response has are added to them.
    headers: HeaderMap,
    pub(crate) body: ResponseBody,
    /// Further headers, which can have several values for one name.
    pub(crate) extra_headers: HeaderMap,
    /// Whether the connection cannot be reused.
    pub(crate) close: bool,
    /// Whether the content at the URL never changes, because changed content gets another URL.
    /// HAL-04 applies to all other responses.
    pub(crate) is_immutable: bool,
    /// The reference code of a failure, for the log and the client.
    ///
    /// Requirements: ERR-28.
    pub(crate) reference_code: Option<String>,
    /// The error code of a failure, the first of several.
    ///
    /// Requirements: ERR-24.
    pub(crate) code: Option<ErrorCode>,
}

impl OutgoingResponse {
    /// Creates a response of lines that are made while the client reads them.
    pub(crate) fn lines(media: &'static str, body: ResponseBody) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        Self::new(StatusCode::OK, headers, body)
    }

    /// Adds a header to `Vary`: other values of it select another representation.
    pub(crate) fn varying_by(mut self, header: HeaderName) -> Self {
        self.extra_headers.append(VARY, header.into());
        self
    }

    fn new(status: StatusCode, headers: HeaderMap, body: ResponseBody) -> Self {
        let more = HeaderMap::new();
        Self {
            status,
            headers,
            body,
            extra_headers: more,
            close: false,
            is_immutable: false,
            reference_code: None,
            code: None,
        }
    }
}

impl From<Response> for OutgoingResponse {
    fn from(reply: Response) -> Self {
        let Response {
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

impl From<DocsAnswer> for OutgoingResponse {
    fn from(answer: DocsAnswer) -> Self {
        let DocsAnswer {
            status,
            media_type,
            headers: more,
            body,
            immutable,
        } = answer;
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, media_type)]);
        Self {
            extra_headers: more,
            is_immutable: immutable,
            ..Self::new(status, headers, body.into())
        }
    }
}

/// The properties of the request that the response depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseContext<'a> {
    pub(crate) dialect: &'a Dialect,
    pub(crate) version: Version,
    /// Whether the request is `HEAD`. Its response is that of `GET` without the body.
    ///
    /// Requirements: UND-28.
    pub(crate) is_head: bool,
}

/// Builds the HTTP response.
pub(crate) fn response(
    answer: OutgoingResponse,
    sending: ResponseContext<'_>,
) -> http::Response<ResponseBody> {
    let OutgoingResponse {
        status,
        mut headers,
        body,
        extra_headers: more,
        close,
        is_immutable: is_lasting,
        ..
    } = answer;
    // The length of a streamed body is unknown.
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
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static(cached));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(
        VARY,
        HeaderValue::from_name(sending.dialect.key_header().clone()),
    );
    if length == Some(0) {
        headers.remove(CONTENT_TYPE);
    }
    // For a body that is not sent, it would be a wrong length.
    let has_length = !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if let Some(length) = length.filter(|_| has_length) {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    // Other versions of HTTP do not have this header.
    if close && sending.version < Version::HTTP_2 {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for (name, value) in &more {
        headers.append(name, value.clone());
    }
    let mut response = http::Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

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

/// What an answer consists of.
#[derive(Debug)]
pub(crate) struct OutgoingResponse {
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
    /// What the log and the client know a failure by.
    ///
    /// Requirements: ERR-28.
    pub(crate) reference_code: Option<String>,
    /// The code of a failure, the first of several.
    ///
    /// Requirements: ERR-24.
    pub(crate) code: Option<ErrorCode>,
}

impl OutgoingResponse {
    /// Lines that are made while the client reads them.
    pub(crate) fn lines(media: &'static str, body: ResponseBody) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        Self::new(StatusCode::OK, headers, body)
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
            more,
            is_lasting: immutable,
            ..Self::new(status, headers, body.into())
        }
    }
}

/// What of the request decides how its answer is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResponseContext<'a> {
    pub(crate) dialect: &'a Dialect,
    pub(crate) version: Version,
    /// Whether the request is `HEAD`, whose answer is that of `GET` without the body.
    ///
    /// Requirements: UND-28.
    pub(crate) is_head: bool,
}

/// The response that an answer becomes.
pub(crate) fn response(
    answer: OutgoingResponse,
    sending: ResponseContext<'_>,
) -> http::Response<ResponseBody> {
    let OutgoingResponse {
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
    let mut response = http::Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

//! Responses, before they become HTTP.

use std::time::Duration;

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};

use super::{Api, EventStream};
use crate::{
    context::{BaseUrl, Context},
    error::{Error, ErrorCode, ErrorKind, Problem},
    hal,
    helper::WriteEffect,
    link::{Scope, Target},
    model::Kind,
    read::MAX_PROBLEMS,
};

/// The usual number of headers of a response, including those that the HTTP layer adds. Memory for
/// them is allocated together.
const HEADERS: usize = 6;

/// A response: status, headers and body.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Response {
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers:
    ///
    /// - `Content-Type` if there is a body,
    /// - `Location` of a created record,
    /// - `Retry-After`, `Allow`, `WWW-Authenticate`,
    /// - `ETag`, `Last-Modified` and `Content-Location` if [conditional
    ///   requests](crate::ApiBuilder::conditional_requests) are enabled.
    ///
    /// Requirements: UND-33, UND-36, UND-28, AUT-07.
    pub headers: HeaderMap,
    /// The body; empty if there is none.
    pub body: Bytes,
    /// The reference code that identifies a failure in the log and in the response.
    ///
    /// Requirements: ERR-28.
    pub reference_code: Option<String>,
    /// The error code of a failure; the first one if there are several.
    ///
    /// The status alone cannot distinguish an unsupported operation from a server error: both are
    /// 500.
    ///
    /// Requirements: ERR-24, ERR-07.
    pub code: Option<ErrorCode>,
    /// The rest of the body if the response is an event stream. The HTTP layer must send it part by
    /// part.
    ///
    /// `None` means that the body is complete.
    ///
    /// Requirements: SYN-12.
    pub event_stream: Option<Box<EventStream>>,
    /// What a write that succeeded has changed, if it is known.
    pub(crate) effect: Option<WriteEffect>,
}

/// The media type of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentType {
    /// `application/hal+json`.
    ///
    /// Requirements: HAL-03.
    Hal,
    /// `text/event-stream`.
    ///
    /// Requirements: SYN-12.
    EventStream,
}

impl ContentType {
    /// Returns the media type.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hal => "application/hal+json",
            Self::EventStream => "text/event-stream",
        }
    }
}

impl Response {
    /// Creates a response with a body.
    #[must_use]
    pub fn new(status: StatusCode, content_type: ContentType, body: impl Into<Bytes>) -> Self {
        let mut reply = Self {
            body: body.into(),
            ..Self::empty(status)
        };
        reply.insert(
            CONTENT_TYPE,
            Some(HeaderValue::from_static(content_type.as_str())),
        );
        reply
    }

    /// Creates a response without a body.
    #[must_use]
    pub fn empty(status: StatusCode) -> Self {
        Self {
            status,
            headers: HeaderMap::with_capacity(HEADERS),
            body: Bytes::new(),
            reference_code: None,
            code: None,
            event_stream: None,
            effect: None,
        }
    }

    pub(super) fn hal(status: StatusCode, body: Vec<u8>) -> Self {
        Self::new(status, ContentType::Hal, body)
    }

    pub(super) fn insert(&mut self, name: HeaderName, value: Option<HeaderValue>) {
        if let Some(value) = value {
            self.headers.insert(name, value);
        }
    }

    /// Returns the value of a header if it is present and is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl Api {
    /// Returns the response to a request that failed for one reason, with the error object.
    ///
    /// 401 and 403 have no body, unless error bodies are sent everywhere. 401 names the header for
    /// the key.
    ///
    /// Requirements: ERR-01, AUT-05, AUT-07.
    #[must_use]
    pub fn error_response(
        &self,
        target: Option<&Target>,
        code: ErrorCode,
        description: &str,
    ) -> Response {
        let bare = matches!(code.status(), 401 | 403) && !self.sends_error_bodies();
        let mut reply = if bare {
            Response {
                code: Some(code),
                ..Response::empty(status_of(code))
            }
        } else {
            let problem = Problem::for_request(code, description.to_owned());
            let kind = target.and_then(kind_of);
            self.problems(self.base_url(), kind, code.status(), &[problem])
        };
        if reply.status == StatusCode::UNAUTHORIZED {
            let challenge = format!("ApiKey header=\"{}\"", self.dialect().key_header_text());
            reply.insert(WWW_AUTHENTICATE, HeaderValue::try_from(challenge).ok());
        }
        reply
    }

    /// Returns the response for an unknown URL.
    ///
    /// Requirements: UND-35.
    #[must_use]
    pub fn not_found_response(&self) -> Response {
        self.error_response(
            None,
            ErrorCode::ResourceNotFound,
            "No resource was found at this URL.",
        )
    }

    /// Returns the response for an operation that failed in a backend.
    ///
    /// The text of an unexpected error is only in the log, under the reference code that the client
    /// gets.
    ///
    /// Requirements: ERR-05, ERR-12, UND-36.
    #[must_use]
    pub fn backend_error_response(&self, target: Option<&Target>, error: Error) -> Response {
        self.failure(self.base_url(), target, error)
    }

    /// Returns the response for an operation of a request that failed in a backend, with links under
    /// the base URL of the request.
    pub(super) fn failed(&self, cx: &Context, target: &Target, error: Error) -> Response {
        self.failure(cx.base(), Some(target), error)
    }

    fn failure(&self, base: &BaseUrl, target: Option<&Target>, error: Error) -> Response {
        let kind = target.and_then(kind_of);
        let error = self.classified(error);
        match error.kind() {
            ErrorKind::Invalid(problems) if problems.is_empty() => self.backend_error_response(
                target,
                Error::unexpected("the backend rejected a request without a reason"),
            ),
            ErrorKind::Invalid(problems) => {
                let problems = reported(problems);
                self.problems(base, kind, status_of_problems(problems), problems)
            }
            ErrorKind::NotFound => self.missing(kind),
            ErrorKind::PreconditionFailed => {
                let code = ErrorCode::PreconditionFailed;
                let problem = Problem::for_request(code, code.meaning());
                self.problems(base, kind, code.status(), &[problem])
            }
            ErrorKind::Conflict | ErrorKind::RolledBack => self.backend_error_response(
                target,
                Error::unavailable(Duration::from_secs(1)).with_source(error),
            ),
            ErrorKind::NotImplemented => {
                let reply = self.referenced(kind, &not_implemented());
                tracing::info!(
                    reference_code = reply.reference_code,
                    "operation not supported"
                );
                reply
            }
            ErrorKind::Unavailable { retry_after } => {
                let problem = Problem::for_request(
                    ErrorCode::Unavailable,
                    "The server is temporarily unavailable. Try again later.",
                );
                let mut reply = self.referenced(kind, &problem);
                tracing::warn!(reference_code = reply.reference_code, error = %format_args!("{error:#}"), "the store is unavailable");
                reply.insert(
                    RETRY_AFTER,
                    Some(HeaderValue::from(whole_seconds(*retry_after))),
                );
                reply
            }
            ErrorKind::Unexpected => {
                let reply = self.unexpected(kind);
                tracing::error!(reference_code = reply.reference_code, error = %format_args!("{error:#}"), "unexpected error");
                reply
            }
        }
    }

    /// Returns the response to a request that caused a panic. The caller logs the cause.
    ///
    /// Requirements: ERR-05.
    #[must_use]
    pub fn panic_response(&self, target: Option<&Target>) -> Response {
        self.unexpected(target.and_then(kind_of))
    }

    fn unexpected(&self, kind: Option<Kind>) -> Response {
        let text =
            "An unexpected error occurred. Send the reference code to the operator of this server.";
        self.referenced(
            kind,
            &Problem::for_request(ErrorCode::UnexpectedError, text),
        )
    }

    fn referenced(&self, kind: Option<Kind>, problem: &Problem) -> Response {
        let reference = uuid::Uuid::new_v4().to_string();
        let mut body = Vec::new();
        let problems = std::slice::from_ref(problem);
        let status = problem.code.status();
        let view = hal::FailureView {
            kind,
            status,
            problems,
            reference_code: Some(&reference),
        };
        hal::failure(&self.hal(&BaseUrl::default()), &view, &mut body);
        Response {
            reference_code: Some(reference),
            code: Some(problem.code),
            ..Response::hal(status_of(problem.code), body)
        }
    }

    /// Returns a 400 response with every problem.
    ///
    /// Requirements: ERR-12, ERR-14, ERR-39.
    pub(super) fn invalid(&self, kind: Option<Kind>, problems: &[Problem]) -> Response {
        self.problems(self.base_url(), kind, 400, reported(problems))
    }

    /// Returns a 400 response with every problem, with links under the base URL of the request.
    pub(super) fn invalid_for(
        &self,
        cx: &Context,
        kind: Option<Kind>,
        problems: &[Problem],
    ) -> Response {
        self.problems(cx.base(), kind, 400, reported(problems))
    }

    /// Returns a 404 response with the error object.
    ///
    /// Requirements: UND-23, UND-35, ERR-16, HLP-09.
    pub(super) fn missing(&self, kind: Option<Kind>) -> Response {
        let problem = Problem::for_request(
            ErrorCode::ResourceNotFound,
            ErrorCode::ResourceNotFound.meaning(),
        );
        self.problems(self.base_url(), kind, 404, &[problem])
    }

    /// Returns a response with problems, with links under a base URL.
    pub(super) fn problems(
        &self,
        base: &BaseUrl,
        kind: Option<Kind>,
        status: u16,
        problems: &[Problem],
    ) -> Response {
        let mut body = Vec::new();
        let view = hal::FailureView {
            kind,
            status,
            problems,
            reference_code: None,
        };
        hal::failure(&self.hal(base), &view, &mut body);
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Response {
            code: problems.first().map(|problem| problem.code),
            ..Response::hal(status, body)
        }
    }
}

/// Returns a duration in whole seconds, rounded up, so that a client does not retry too early.
///
/// Requirements: UND-36.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs()
        .saturating_add(u64::from(time.subsec_nanos() > 0))
}

/// Returns whether a problem means that the record of the request is now another one.
///
/// Requirements: MRG-12.
pub(super) fn is_of_target(problem: &Problem) -> bool {
    problem.code == ErrorCode::PersonMerged && problem.properties.is_empty()
}

/// Returns as many problems as a response contains.
fn reported(problems: &[Problem]) -> &[Problem] {
    problems.get(..MAX_PROBLEMS).unwrap_or(problems)
}

/// Returns the status of a request with these problems.
fn status_of_problems(problems: &[Problem]) -> u16 {
    let own = problems.iter().find(|problem| {
        let codes = [ErrorCode::PreconditionFailed, ErrorCode::MergeNotUndoable];
        is_of_target(problem) || codes.contains(&problem.code)
    });
    own.map_or(400, |problem| problem.code.status())
}

fn status_of(code: ErrorCode) -> StatusCode {
    StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(super) fn not_implemented() -> Problem {
    Problem::for_request(
        ErrorCode::NotImplemented,
        "This server does not support this operation here.",
    )
}

/// Returns the kind that an error names: that of the URL, or the kind that a helper creates.
///
/// Requirements: ERR-21.
pub(super) fn kind_of(target: &Target) -> Option<Kind> {
    match target {
        Target::Collection {
            kind,
            scope: Scope::All | Scope::Under(_),
        } => Some(*kind),
        Target::Record(address)
        | Target::Merge(address)
        | Target::MergeBatch(address)
        | Target::UndoMerge(address, _) => Some(address.kind),
        Target::Helper { helper, .. } | Target::Batch { helper, .. } => {
            Some(helper.recorded_kind())
        }
        _ => None,
    }
}

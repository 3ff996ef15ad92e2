//! What is answered, before it becomes HTTP.

use bytes::Bytes;
use http::StatusCode;

use super::Api;
use crate::{
    context::Base,
    error::{Code, Error, Problem},
    hal,
    link::{Scope, Target},
    model::Kind,
    read::MOST_PROBLEMS,
};

/// An answer: status, body, and the headers that depend on it.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The HTTP status.
    pub status: StatusCode,
    /// The address of a created record (UND-33).
    pub location: Option<String>,
    /// What the body is, when there is one.
    pub content_type: ContentType,
    /// The body; empty for none.
    pub body: Bytes,
    /// Seconds after which the client may try again (UND-36).
    pub retry_after: Option<u32>,
    /// What the log and the client know a failure by (ERR-28).
    pub reference_code: Option<String>,
}

/// What a body is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentType {
    /// `application/hal+json` (HAL-03).
    Hal,
    /// `application/json`, of the capability document (UND-40).
    Json,
}

impl Reply {
    /// An answer with a body.
    #[must_use]
    pub fn new(status: StatusCode, content_type: ContentType, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self { status, location: None, content_type, body, retry_after: None, reference_code: None }
    }

    /// An answer without a body.
    #[must_use]
    pub fn empty(status: StatusCode) -> Self {
        Self::new(status, ContentType::Hal, Bytes::new())
    }

    pub(super) fn hal(status: StatusCode, body: Vec<u8>) -> Self {
        Self::new(status, ContentType::Hal, body)
    }
}

impl Api {
    /// The answer to a request that failed for one reason, with the error object (ERR-01).
    ///
    /// 401 and 403 have no body unless error bodies are sent everywhere (AUT-05).
    #[must_use]
    pub fn failure(&self, target: Option<&Target>, code: Code, description: &str) -> Reply {
        let bare = matches!(code.status(), 401 | 403) && !self.inner.settings.error_bodies;
        if bare {
            return Reply::empty(status_of(code));
        }
        self.problems(target.and_then(kind_of), code.status(), &[Problem::general(code, description)])
    }

    /// The answer to an operation that a backend could not do (ERR-05, ERR-12, UND-36).
    ///
    /// The text of an unexpected error goes to the log only, under the reference code that the client is told.
    #[must_use]
    pub fn error_reply(&self, target: Option<&Target>, error: Error) -> Reply {
        let kind = target.and_then(kind_of);
        match error {
            Error::Invalid(problems) if problems.is_empty() => {
                self.error_reply(target, Error::unexpected("the backend refused a request without a reason"))
            }
            Error::Invalid(problems) => self.invalid(kind, &problems),
            Error::NotFound => self.missing(kind),
            Error::NotImplemented => {
                let reply = self.referenced(kind, &not_implemented());
                tracing::info!(reference_code = reply.reference_code, "an operation that is not supported");
                reply
            }
            Error::Unavailable { retry_after } => {
                let problem = Problem::general(Code::Unavailable, "The server cannot answer now. Try again later.");
                let mut reply = self.referenced(kind, &problem);
                tracing::warn!(reference_code = reply.reference_code, "the store is not available");
                reply.retry_after = Some(retry_after);
                reply
            }
            Error::Unexpected(error) => {
                let reply = self.unexpected(kind);
                tracing::error!(reference_code = reply.reference_code, error = %error, "unexpected error");
                reply
            }
        }
    }

    /// The answer to a request in which the program itself failed (ERR-05); the caller logs why.
    #[must_use]
    pub fn panic_reply(&self, target: Option<&Target>) -> Reply {
        self.unexpected(target.and_then(kind_of))
    }

    fn unexpected(&self, kind: Option<Kind>) -> Reply {
        let text = "Something unexpected went wrong. Quote the reference code to the operator of this server.";
        self.referenced(kind, &Problem::general(Code::UnexpectedError, text))
    }

    fn referenced(&self, kind: Option<Kind>, problem: &Problem) -> Reply {
        let reference = uuid::Uuid::new_v4().to_string();
        let mut body = Vec::new();
        let problems = std::slice::from_ref(problem);
        let status = problem.code.status();
        let view = hal::FailureView { kind, status, problems, reference_code: Some(&reference) };
        hal::failure(&self.hal(&Base::default()), &view, &mut body);
        Reply { reference_code: Some(reference), ..Reply::hal(status_of(problem.code), body) }
    }

    /// 400 with every problem (ERR-12, ERR-14, ERR-39).
    pub(super) fn invalid(&self, kind: Option<Kind>, problems: &[Problem]) -> Reply {
        self.problems(kind, 400, problems.get(..MOST_PROBLEMS).unwrap_or(problems))
    }

    /// 404 with the error object (UND-23, UND-35, ERR-16, HLP-09).
    pub(super) fn missing(&self, kind: Option<Kind>) -> Reply {
        let problem = Problem::general(Code::ResourceNotFound, Code::ResourceNotFound.meaning());
        self.problems(kind, 404, &[problem])
    }

    fn problems(&self, kind: Option<Kind>, status: u16, problems: &[Problem]) -> Reply {
        let mut body = Vec::new();
        let view = hal::FailureView { kind, status, problems, reference_code: None };
        hal::failure(&self.hal(&Base::default()), &view, &mut body);
        Reply::hal(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body)
    }
}

fn status_of(code: Code) -> StatusCode {
    StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(super) fn not_implemented() -> Problem {
    Problem::general(Code::NotImplemented, "This server does not support this operation here.")
}

/// The kind that an error names: that of the address, for a helper the kind it creates (ERR-21).
pub(super) fn kind_of(target: &Target) -> Option<Kind> {
    match target {
        Target::Collection { kind, scope: Scope::All | Scope::Under(_) } => Some(*kind),
        Target::Record(address) => Some(address.kind),
        Target::Helper { helper, .. } => Some(helper.records()),
        _ => None,
    }
}

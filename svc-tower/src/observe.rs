//! Reports each response to an observer, for metrics.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use http::{Method, StatusCode};
use svc_core::{ErrorCode, link::Target};

use crate::{
    response::OutgoingResponse,
    route::{RouteTemplate, method_name},
};

/// A response, as [`SvcService::on_response`](crate::SvcService::on_response) reports it. It contains no
/// personal data, and the number of different routes, methods and statuses is small.
///
/// Requirements: UND-42.
#[derive(Debug, Clone, Copy)]
pub struct ObservedResponse<'a> {
    pub(crate) target: Option<&'a Target>,
    pub(crate) method: &'a Method,
    pub(crate) answer: &'a OutgoingResponse,
    pub(crate) time: Duration,
}

impl<'a> ObservedResponse<'a> {
    /// Returns the route as a template, such as `petitions/{id}/signatures`, or `none` for a URL
    /// without a target.
    #[must_use]
    pub fn route(&self) -> impl fmt::Display + use<'a> {
        RouteTemplate(self.target)
    }

    /// Returns the method, or `other` for a method that HTTP does not define.
    #[must_use]
    pub fn method(&self) -> &'static str {
        method_name(self.method)
    }

    /// Returns the status of the response.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.answer.status
    }

    /// Returns the error code of a failure, the first of several. The number of different codes is
    /// small.
    ///
    /// Requirements: ERR-24.
    #[must_use]
    pub fn error_code(&self) -> Option<ErrorCode> {
        self.answer.code
    }

    /// Returns whether the server does not support the operation. The specification requires the
    /// status 500 for this, but it is not a failure of the server.
    ///
    /// Requirements: ERR-07.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        self.error_code() == Some(ErrorCode::NotImplemented)
    }

    /// Returns the time from the head of the request to the response.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.time
    }
}

/// A callback for each response.
#[derive(Clone)]
pub(crate) struct Observer(pub(crate) Arc<dyn Fn(&ObservedResponse<'_>) + Send + Sync>);

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// An observer and the time at which a request arrived.
#[derive(Debug)]
pub(crate) struct ResponseTiming<'a> {
    observer: &'a Observer,
    begun: Instant,
}

impl<'a> ResponseTiming<'a> {
    /// Starts measuring if there is an observer.
    pub(crate) fn begin(observer: Option<&'a Observer>) -> Option<Self> {
        observer.map(|observer| Self {
            observer,
            begun: Instant::now(),
        })
    }

    pub(crate) fn end(&self, target: Option<&Target>, method: &Method, answer: &OutgoingResponse) {
        (self.observer.0)(&ObservedResponse {
            target,
            method,
            answer,
            time: self.begun.elapsed(),
        });
    }
}

//! What is told of each answer, for metrics.

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

/// One answer, as [`SvcService::observe`](crate::SvcService::observe) tells it: nothing of it is
/// personal, and the number of different routes, methods and statuses is small.
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
    /// The route as a template, such as `petitions/{id}/signatures`; `none` for an address of
    /// nothing.
    #[must_use]
    pub fn route(&self) -> impl fmt::Display + use<'a> {
        RouteTemplate(self.target)
    }

    /// The method; `other` for one that a client invented.
    #[must_use]
    pub fn method(&self) -> &'static str {
        method_name(self.method)
    }

    /// The status of the answer.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.answer.status
    }

    /// The code of a failure, the first of several: of a small number, too.
    ///
    /// Requirements: ERR-24.
    #[must_use]
    pub fn code(&self) -> Option<ErrorCode> {
        self.answer.code
    }

    /// Whether the operation is one that this server does not support: 500 as the interface wants
    /// it, but nothing that anybody has to be woken for.
    ///
    /// Requirements: ERR-07.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        self.code() == Some(ErrorCode::NotImplemented)
    }

    /// From the request's head to the answer.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.time
    }
}

/// Somebody who is told of each answer.
#[derive(Clone)]
pub(crate) struct Observer(pub(crate) Arc<dyn Fn(&ObservedResponse<'_>) + Send + Sync>);

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

/// An observer with the moment at which a request came.
#[derive(Debug)]
pub(crate) struct ResponseTiming<'a> {
    observer: &'a Observer,
    begun: Instant,
}

impl<'a> ResponseTiming<'a> {
    /// Begins to take the time where somebody asks for it.
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

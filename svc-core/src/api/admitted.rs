//! A request that may be executed.

use std::{fmt, sync::Arc};

use bytes::Bytes;

use super::{Api, Request};
use crate::{context::Context, link::Target, operation::OperationSpec};

/// A request that is authorized. Only such requests reach a backend.
///
/// Only [`ResolvedRequest::authorize`](super::ResolvedRequest::authorize) creates one, for the
/// tenant and the caller of the request.
// Futures pass it by value and reserve space for it, so it is only as large as a pointer.
pub struct AuthorizedRequest<'a>(pub(super) Box<AuthorizedParts<'a>>);

/// The parts of an authorized request.
pub(super) struct AuthorizedParts<'a> {
    pub(super) api: &'a Api,
    pub(super) request: Request<'a>,
    pub(super) target: Arc<Target>,
    pub(super) operation: &'static OperationSpec,
    pub(super) context: Context,
    /// Whether the container of an anonymous helper request was found.
    pub(super) has_container: bool,
}

impl AuthorizedParts<'_> {
    /// Returns the body, or nothing if the operation takes no body.
    pub(super) fn body(&self) -> &[u8] {
        if self.operation.accepts_body() {
            self.request.body.as_ref()
        } else {
            &[]
        }
    }
}

impl<'a> AuthorizedRequest<'a> {
    pub(super) fn new(
        api: &'a Api,
        request: Request<'a>,
        target: Arc<Target>,
        operation: &'static OperationSpec,
        context: Context,
    ) -> Self {
        Self(Box::new(AuthorizedParts {
            api,
            request,
            target,
            operation,
            context,
            has_container: true,
        }))
    }

    pub(super) fn without_container(mut self) -> Self {
        self.0.has_container = false;
        self
    }

    /// Returns the target.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.0.target
    }

    /// Returns the operation.
    #[must_use]
    pub fn operation(&self) -> &'static OperationSpec {
        self.0.operation
    }

    /// Returns the context that is passed to the backend.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// Sets the body, if [the operation takes one](OperationSpec::accepts_body).
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.0.request.body = body.into();
        self
    }
}

impl fmt::Debug for AuthorizedRequest<'_> {
    /// Omits ids.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizedRequest")
            .field("operation", &self.0.operation.name)
            .finish_non_exhaustive()
    }
}

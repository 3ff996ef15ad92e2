//! A call that may go on, before it is answered.

use std::fmt;

use bytes::Bytes;

use super::{Api, Request};
use crate::{context::Context, link::Target, operation::OperationSpec};

/// A call that may go on: nothing else reaches a backend.
///
/// Only [`ResolvedRequest::authorize`](super::ResolvedRequest::authorize) makes one, for the tenant
/// and the caller that it found.
// It goes by value from one future to the next, each of which has room for it: so it is no larger
// than a pointer.
pub struct AuthorizedRequest<'a>(pub(super) Box<AuthorizedParts<'a>>);

/// What is known of a call that may go on.
pub(super) struct AuthorizedParts<'a> {
    pub(super) api: &'a Api,
    pub(super) request: Request<'a>,
    pub(super) target: Target,
    pub(super) operation: &'static OperationSpec,
    pub(super) context: Context,
    /// Whether the container of a helper call without a key was found.
    pub(super) has_container: bool,
}

impl AuthorizedParts<'_> {
    /// The body, where the operation takes one.
    pub(super) fn body(&self) -> &[u8] {
        if self.operation.takes_body() {
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
        target: Target,
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

    /// What it addresses.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.0.target
    }

    /// The operation.
    #[must_use]
    pub fn operation(&self) -> &'static OperationSpec {
        self.0.operation
    }

    /// What a backend is told of it.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// With this body, where [the operation takes one](OperationSpec::takes_body).
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.0.request.body = body.into();
        self
    }
}

impl fmt::Debug for AuthorizedRequest<'_> {
    /// Without ids.
    ///
    /// Requirements: UND-42.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admitted")
            .field("operation", &self.0.operation.name)
            .finish_non_exhaustive()
    }
}

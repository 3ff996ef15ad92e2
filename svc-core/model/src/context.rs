//! The context of a request: tenant, caller, time and base URL.

use std::{sync::Arc, time::Instant};

pub use crate::{auth::Tenant, link::BaseUrl};
use crate::{
    auth::{Caller, Operation, Principal, Right},
    json::ContentLimits,
    model::Kind,
    value::Timestamp,
};

/// The context of a request, passed to every backend operation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Context {
    /// The tenant whose data the request uses. A request never uses two tenants.
    pub tenant: Tenant,
    /// The caller.
    pub caller: Caller,
    /// The id of the request in logs.
    pub request_id: uuid::Uuid,
    /// The time when the request was received.
    pub received_at: Timestamp,
    /// The start of the request on the monotonic clock. Data read for the request is not older.
    ///
    /// Each request has its own context.
    pub started_at: Instant,
    /// The deadline of the request. After it, the result is discarded.
    pub deadline: Option<Instant>,
    /// Values that the layers of the vendor attached to the request.
    pub extensions: http::Extensions,
    /// The base URL of the request: the URL of the entry point, with a slash at the end.
    ///
    /// Requirements: HAL-01.
    pub base: BaseUrl,
    /// The maximum sizes of a record and of a request.
    pub limits: ContentLimits,
    /// The system name of identifiers that the server assigns; empty outside a served request.
    ///
    /// Requirements: ENT-07.
    pub namespace: Arc<str>,
    /// Whether the request is part of a batch, so that a store can group commits.
    ///
    /// Requirements: BAT-03.
    pub in_batch: bool,
}

impl Context {
    /// Creates a context for a tenant, for tests and for programs that call a backend directly.
    #[must_use]
    pub fn new(tenant: Tenant, caller: Caller, now: Timestamp) -> Self {
        let principal = Principal::new(tenant, caller);
        Self::of_request(principal, now, uuid::Uuid::new_v4(), Instant::now())
    }

    /// Creates a context with the id and the start of a request.
    #[must_use]
    pub fn of_request(
        principal: Principal,
        now: Timestamp,
        request_id: uuid::Uuid,
        begun: Instant,
    ) -> Self {
        let Principal { tenant, caller } = principal;
        Self {
            tenant,
            caller,
            request_id,
            received_at: now,
            started_at: begun,
            deadline: None,
            extensions: http::Extensions::new(),
            base: BaseUrl::default(),
            limits: ContentLimits::default(),
            namespace: Arc::default(),
            in_batch: false,
        }
    }

    /// Returns whether the caller is anonymous.
    ///
    /// Requirements: HLP-07.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.caller.is_anonymous()
    }

    /// Returns whether the caller may read records of a kind.
    #[must_use]
    pub fn may_read(&self, kind: Kind) -> bool {
        self.caller
            .has_right(Right::Operation(kind, Operation::Read))
    }
}

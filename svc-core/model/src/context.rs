//! Who asks, for which tenant, when, and under which address.

use std::{sync::Arc, time::Instant};

pub use crate::{auth::Tenant, link::BaseUrl};
use crate::{
    auth::{Caller, Operation, Right},
    json::ContentLimits,
    model::Kind,
    value::Timestamp,
};

/// What every operation of a backend is told besides its arguments.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Context {
    /// Whose data the request works on. A backend never sees two tenants at once.
    pub tenant: Tenant,
    /// Who asks.
    pub caller: Caller,
    /// Names the request in logs.
    pub request_id: uuid::Uuid,
    /// The time of receipt.
    pub received_at: Timestamp,
    /// When the request began, by the clock that never goes back: what is read for it is not older.
    /// Each request has a context of its own.
    pub started_at: Instant,
    /// When the answer is no longer waited for.
    pub deadline: Option<Instant>,
    /// What the vendor's own layers attached to the request.
    pub extensions: http::Extensions,
    /// The address of the entry point under which the request came, with a slash at the end.
    ///
    /// Requirements: HAL-01.
    pub base: BaseUrl,
    /// How much a record and this call may hold.
    pub limits: ContentLimits,
    /// What the server's own identifiers begin with; empty where nobody serves the call.
    ///
    /// Requirements: ENT-07.
    pub namespace: Arc<str>,
    /// Whether other calls of the same request are on their way: a store has better turns for many
    /// at once.
    ///
    /// Requirements: BAT-03.
    pub in_batch: bool,
}

impl Context {
    /// A context for a tenant at this moment, for tests and for programs that call a backend
    /// themselves.
    #[must_use]
    pub fn new(tenant: Tenant, caller: Caller, now: Timestamp) -> Self {
        Self::of_request(tenant, caller, now, uuid::Uuid::new_v4(), Instant::now())
    }

    /// A context of the request with this id, which began at this time.
    #[must_use]
    pub fn of_request(
        tenant: Tenant,
        caller: Caller,
        now: Timestamp,
        request_id: uuid::Uuid,
        begun: Instant,
    ) -> Self {
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

    /// Whether the request has no key.
    ///
    /// Requirements: HLP-07.
    #[must_use]
    pub fn is_anonymous(&self) -> bool {
        self.caller.is_anonymous()
    }

    /// Whether the caller may read records of a kind.
    #[must_use]
    pub fn may_read(&self, kind: Kind) -> bool {
        self.caller
            .has_right(Right::Operation(kind, Operation::Read))
    }
}

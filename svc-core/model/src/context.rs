//! The context of a request: tenant, caller, time and base URL.

use std::{sync::Arc, time::Instant};

pub use crate::{auth::Tenant, link::BaseUrl};
use crate::{
    auth::{Caller, Operation, Principal, Right},
    json::ContentLimits,
    model::Kind,
    schema::Constraints,
    value::Timestamp,
};

/// The context of a request, passed to every backend operation.
#[derive(Debug, Clone)]
pub struct Context {
    tenant: Tenant,
    caller: Caller,
    request_id: uuid::Uuid,
    received_at: Timestamp,
    started_at: Instant,
    deadline: Option<Instant>,
    extensions: http::Extensions,
    base: BaseUrl,
    limits: ContentLimits,
    namespace: Arc<str>,
    person_constraints: Arc<Constraints>,
    in_batch: bool,
    is_preview: bool,
    is_minimal: bool,
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
            person_constraints: Arc::default(),
            in_batch: false,
            is_preview: false,
            is_minimal: false,
        }
    }

    /// Returns the tenant whose data the request uses. A request never uses two tenants.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Returns the caller.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns the id of the request in logs.
    #[must_use]
    pub fn request_id(&self) -> uuid::Uuid {
        self.request_id
    }

    /// Returns when the request was received.
    #[must_use]
    pub fn received_at(&self) -> Timestamp {
        self.received_at
    }

    /// Returns the start of the request on the monotonic clock. Data read for the request is not
    /// older.
    #[must_use]
    pub fn started_at(&self) -> Instant {
        self.started_at
    }

    /// Sets when the request was received and started, for a part of a request that comes later.
    #[must_use]
    pub fn starting(mut self, received_at: Timestamp, started_at: Instant) -> Self {
        (self.received_at, self.started_at) = (received_at, started_at);
        self
    }

    /// Returns the deadline of the request. After it, the result is discarded.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Sets the deadline of the request.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Returns the values that the layers of the vendor attached to the request.
    #[must_use]
    pub fn extensions(&self) -> &http::Extensions {
        &self.extensions
    }

    /// Returns the values of the vendor, to change them.
    pub fn extensions_mut(&mut self) -> &mut http::Extensions {
        &mut self.extensions
    }

    /// Returns the base URL of the request: the URL of the entry point, with a slash at the end.
    ///
    /// Requirements: HAL-01.
    #[must_use]
    pub fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// Sets the base URL of the request.
    #[must_use]
    pub fn with_base(mut self, base: BaseUrl) -> Self {
        self.base = base;
        self
    }

    /// Returns the maximum sizes of a record and of a request.
    #[must_use]
    pub fn limits(&self) -> &ContentLimits {
        &self.limits
    }

    /// Sets the maximum sizes of a record and of a request.
    #[must_use]
    pub fn with_limits(mut self, limits: ContentLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the system name of identifiers that the server assigns; empty outside a served
    /// request.
    ///
    /// Requirements: ENT-07.
    #[must_use]
    pub fn namespace(&self) -> &Arc<str> {
        &self.namespace
    }

    /// Sets the system name of identifiers that the server assigns.
    #[must_use]
    pub fn with_namespace(mut self, namespace: Arc<str>) -> Self {
        self.namespace = namespace;
        self
    }

    /// Returns the constraints of people; none outside a served request.
    ///
    /// Requirements: CAP-04, HLP-04.
    #[must_use]
    pub fn person_constraints(&self) -> &Arc<Constraints> {
        &self.person_constraints
    }

    /// Sets the constraints of people.
    #[must_use]
    pub fn with_person_constraints(mut self, constraints: Arc<Constraints>) -> Self {
        self.person_constraints = constraints;
        self
    }

    /// Returns whether the request is part of a batch, so that a store can group commits.
    ///
    /// Requirements: BAT-03.
    #[must_use]
    pub fn in_batch(&self) -> bool {
        self.in_batch
    }

    /// Sets whether the request is part of a batch.
    ///
    /// Requirements: BAT-03.
    #[must_use]
    pub fn with_in_batch(mut self, in_batch: bool) -> Self {
        self.in_batch = in_batch;
        self
    }

    /// Returns whether nothing of the request may be stored.
    ///
    /// Requirements: BAT-13.
    #[must_use]
    pub fn is_preview(&self) -> bool {
        self.is_preview
    }

    /// Sets whether nothing of the request may be stored.
    ///
    /// Requirements: BAT-13.
    #[must_use]
    pub fn with_preview(mut self, is_preview: bool) -> Self {
        self.is_preview = is_preview;
        self
    }

    /// Returns whether the response to a helper needs only the link of its record.
    ///
    /// Requirements: BAT-09.
    #[must_use]
    pub fn is_minimal(&self) -> bool {
        self.is_minimal
    }

    /// Sets whether the response to a helper needs only the link of its record.
    ///
    /// Requirements: BAT-09.
    #[must_use]
    pub fn with_minimal(mut self, is_minimal: bool) -> Self {
        self.is_minimal = is_minimal;
        self
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

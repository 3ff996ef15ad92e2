//! The settings of the service.

use std::{fmt, net::IpAddr, sync::Arc, time::Duration};

use svc_core::value::Timestamp;

use crate::{
    budget::BodyBudget, cors::Cors, documentation::Documentation, minimal::CapabilityCache,
    observe::Observer, response_time::ResponseTimeQuantum, route::Mount, timer::RuntimeTimer,
};

/// The settings of a service. Everything has a default.
#[derive(Debug, Clone)]
pub(crate) struct ServiceSettings {
    pub(crate) mount: Mount,
    /// The largest body, in bytes.
    ///
    /// Requirements: UND-17.
    pub(crate) body_limit: usize,
    /// The largest body of an anonymous request, in bytes.
    ///
    /// Requirements: UND-43.
    pub(crate) anonymous_body_limit: usize,
    /// The largest batch as one document, in bytes.
    ///
    /// Requirements: BAT-05.
    pub(crate) batch_limit: usize,
    pub(crate) body_budget: BodyBudget,
    pub(crate) request_timeout: Option<Duration>,
    pub(crate) timer: RuntimeTimer,
    /// Proxies whose forwarded base URL is trusted, in canonical form.
    pub(crate) trusted_proxies: Vec<IpAddr>,
    pub(crate) cors: Option<Cors>,
    pub(crate) docs: Option<Arc<dyn Documentation>>,
    /// The capability documents that the service renders without documentation.
    pub(crate) capability_cache: Arc<CapabilityCache>,
    pub(crate) require_host_header: bool,
    pub(crate) clock: ClockFn,
    pub(crate) observer: Option<Observer>,
    pub(crate) response_time_quantum: Option<ResponseTimeQuantum>,
}

impl Default for ServiceSettings {
    fn default() -> Self {
        Self {
            mount: Mount::default(),
            body_limit: 1024 * 1024,
            anonymous_body_limit: 64 * 1024,
            batch_limit: 8 * 1024 * 1024,
            body_budget: BodyBudget::default(),
            request_timeout: Some(Duration::from_secs(30)),
            timer: RuntimeTimer::default(),
            trusted_proxies: Vec::new(),
            cors: None,
            docs: None,
            capability_cache: Arc::default(),
            require_host_header: false,
            clock: ClockFn(Arc::new(Timestamp::now)),
            observer: None,
            response_time_quantum: None,
        }
    }
}

/// Returns the time of receipt.
#[derive(Clone)]
pub(crate) struct ClockFn(pub(crate) Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl ClockFn {
    pub(crate) fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl fmt::Debug for ClockFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

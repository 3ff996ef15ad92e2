//! Tests the service over a small backend: the response to each request, without a network.

mod backend;
mod client;

mod backend_failures;
mod bodies;
mod check_order;
mod connections;
mod cors;
#[cfg(feature = "tokio")]
mod deliveries;
mod documentation;
mod http_rules;
mod keys;
mod log;
mod minimal;
mod observe;
mod request_heads;

use svc_core::api::Api;
use svc_tower::SvcService;

/// Returns a service without documentation.
fn served(api: Api) -> SvcService {
    SvcService::new(api)
}

//! Tests the service over a small backend: the response to each request, without a network.

mod backend;
mod client;

mod bodies;
mod connections;
#[cfg(feature = "tokio")]
mod deliveries;
mod documentation;
mod request_heads;
mod http_rules;
mod keys;
mod log;
mod minimal;
mod observe;
mod check_order;
mod cors;
mod backend_failures;

use svc_core::api::Api;
use svc_tower::SvcService;

/// Returns a service without documentation.
fn served(api: Api) -> SvcService {
    SvcService::new(api)
}

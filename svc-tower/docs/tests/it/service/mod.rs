//! The documentation of a service over a small backend: the response to each request, without a
//! network.

#[path = "../../../../tests/it/service/backend.rs"]
#[allow(dead_code, reason = "shared with the tests of the service")]
mod backend;
#[path = "../../../../tests/it/service/client.rs"]
#[allow(dead_code, reason = "shared with the tests of the service")]
mod client;

mod compare;
mod conditions;
mod docs;
mod html_negotiation;
#[path = "../../../../tests/it/service/log.rs"]
mod log;
mod map;
mod minimal;
mod page_frame;
mod page_weight;
mod refusals;

use svc_core::api::Api;
use svc_docs::Docs;
use svc_tower::SvcService;

/// Returns a service with documentation.
fn served(api: Api) -> SvcService {
    SvcService::new(api).with_docs(Docs::new())
}

//! The error codes that the pages list for requests. The server uses the memory store, which
//! supports everything except the change feed.
//!
//! Requirements: ERR-24.

use std::collections::BTreeSet;

use svc_core::{
    Api, Deliver, Result, Tenant, Vendor,
    api::IfMatchPolicy,
    auth::FixedKeys,
    backend::{DeliveryOutcome, OutboxEntry},
    error::ErrorCode,
};
use svc_docs::documents::DocPages;
use svc_store::memory::MemoryStore;

/// Codes that any request can get, which are only on the page of errors, and codes of features that
/// this server lacks.
const NOT_HERE: &[ErrorCode] = &[
    // Warnings, never a reason to reject a request.
    ErrorCode::AddressShared,
    ErrorCode::EntriesOmitted,
    // Codes of the change feed, which the tests of the other stores cover.
    ErrorCode::CursorExpired,
    ErrorCode::CursorInvalid,
    ErrorCode::DuplicateKey,
    ErrorCode::NotImplemented,
    ErrorCode::PropertyEmpty,
    ErrorCode::PropertyOverruled,
    ErrorCode::PropertyReadOnly,
    ErrorCode::PropertyUnknown,
    ErrorCode::RequestInvalid,
    ErrorCode::RequestTimeout,
    // A code of the change feed.
    ErrorCode::TooManyRequests,
    ErrorCode::Unavailable,
    ErrorCode::UnexpectedError,
];

struct Nobody;

#[async_trait::async_trait]
impl Deliver for Nobody {
    async fn deliver(&self, _: &Tenant, _: &OutboxEntry) -> Result<DeliveryOutcome> {
        Ok(DeliveryOutcome::Sent)
    }
}

#[test]
fn err_24_each_code_stands_beside_a_request_that_it_can_refuse() {
    let api = MemoryStore::new()
        .register_all(Api::builder(Vendor::new("Acme", "CRM")))
        .base_url("http://localhost/")
        .authenticator(FixedKeys::new())
        .conditional_requests(IfMatchPolicy::Required)
        .merge_people()
        .delivery(Nobody)
        .build()
        .unwrap();
    let docs = DocPages::new(&api, api.base_url(), 1024);
    let pages = docs.names().into_iter().filter_map(|name| docs.page(&name));
    let named: BTreeSet<ErrorCode> = pages
        .flat_map(|page| page.requests)
        .flat_map(|request| request.refusals)
        .collect();
    let not_here: BTreeSet<ErrorCode> = NOT_HERE.iter().copied().collect();
    let missing: Vec<_> = ErrorCode::ALL
        .iter()
        .filter(|code| !named.contains(code) && !not_here.contains(code))
        .collect();
    assert!(missing.is_empty(), "listed for no request: {missing:?}");
    assert!(
        named.is_disjoint(&not_here),
        "now listed for a request: {:?}",
        named.intersection(&not_here)
    );
}

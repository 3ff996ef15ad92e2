//! The error codes that the pages name beside requests, over the store in memory, which serves
//! everything but a feed of changes (ERR-24).

use std::collections::BTreeSet;

use svc_core::{
    Api, Deliver, Result, Tenant, Vendor,
    api::IfMatch,
    auth::FixedKeys,
    error::Code,
    ops::{Delivered, Dispatch},
};
use svc_docs::documents::DocPages;
use svc_store::memory::MemoryStore;

/// What can happen to any request, and is told on the page of errors alone; and what is not served
/// here.
const NOT_HERE: &[Code] = &[
    // Of the feed, which the tests of the other stores look at.
    Code::CursorExpired,
    Code::CursorInvalid,
    Code::DuplicateKey,
    Code::NotImplemented,
    Code::PropertyOverruled,
    Code::PropertyReadOnly,
    Code::PropertyUnknown,
    Code::RequestInvalid,
    Code::RequestTimeout,
    // Of the feed.
    Code::TooManyRequests,
    Code::Unavailable,
    Code::UnexpectedError,
];

struct Nobody;

#[async_trait::async_trait]
impl Deliver for Nobody {
    async fn deliver(&self, _: &Tenant, _: &Dispatch) -> Result<Delivered> {
        Ok(Delivered::Done)
    }
}

#[test]
fn err_24_each_code_stands_beside_a_request_that_it_can_refuse() {
    let api = MemoryStore::new()
        .register_all(Api::builder(Vendor::new("Acme", "CRM")))
        .base_url("http://localhost/")
        .authenticator(FixedKeys::new())
        .conditional_requests(IfMatch::Required)
        .deliver(Nobody)
        .build()
        .unwrap();
    let docs = DocPages::new(&api, api.base(), 1024);
    let pages = docs.names().into_iter().filter_map(|name| docs.page(&name));
    let named: BTreeSet<Code> = pages
        .flat_map(|page| page.requests)
        .flat_map(|request| request.refusals)
        .collect();
    let not_here: BTreeSet<Code> = NOT_HERE.iter().copied().collect();
    let missing: Vec<_> = Code::ALL
        .iter()
        .filter(|code| !named.contains(code) && !not_here.contains(code))
        .collect();
    assert!(missing.is_empty(), "beside no request: {missing:?}");
    assert!(
        named.is_disjoint(&not_here),
        "beside a request by now: {:?}",
        named.intersection(&not_here)
    );
}

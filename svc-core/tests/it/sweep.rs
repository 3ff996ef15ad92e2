//! Stored responses are deleted after 24 hours, whichever tenant sends the next request. Uses the
//! in-memory store.
//!
//! Requirements: IDM-06.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use http::{HeaderMap, HeaderValue, Method};
use svc_core::{
    Api, Tenant, Vendor,
    api::Request,
    auth::{Caller, FixedKeys, Identity, Principal, Rights},
    store::{Lookup, LookupSource as _},
    value::Timestamp,
};
use svc_store::memory::MemoryStore;

const HOUR: i64 = 60 * 60 * 1_000_000;

#[tokio::test]
async fn idm_06_old_responses_go_with_requests_of_any_tenant() {
    let clock = Arc::new(AtomicI64::new(1_800_000_000_000_000));
    let of_store = Arc::clone(&clock);
    let store =
        MemoryStore::new().clock(move || Timestamp::from_micros(of_store.load(Ordering::Relaxed)));
    let api = store
        .register_all(Api::builder(Vendor::new("Acme", "CRM")))
        .base_url("http://localhost/");
    let api = api
        .authenticator(FixedKeys::new())
        .anonymous_helpers(store.clone())
        .build()
        .unwrap();
    let [one, other] = ["one", "other"].map(Tenant::new);
    let ask = async |tenant: &Tenant,
                     who: Caller,
                     method: Method,
                     path: &str,
                     headers: HeaderMap,
                     body: &'static str| {
        let received = Timestamp::from_micros(clock.load(Ordering::Relaxed));
        let request = Request::new(&method, path)
            .with_headers(&headers)
            .with_body(body)
            .with_received_at(received);
        api.handle(
            Identity::Authenticated(Principal::new(tenant.clone(), who)),
            request,
        )
        .await
    };
    let all = || Caller::with_rights(Rights::all());
    let made = ask(
        &one,
        all(),
        Method::POST,
        "petitions",
        HeaderMap::new(),
        "{}",
    )
    .await;
    let petition = made
        .header("location")
        .and_then(|it| it.strip_prefix("http://localhost/"))
        .unwrap()
        .to_owned();
    let key = HeaderMap::from_iter([(
        "idempotency-key".parse().unwrap(),
        HeaderValue::from_static("k"),
    )]);
    let helper = format!("{petition}/record_signature_helper");
    assert_eq!(
        ask(
            &one,
            Caller::anonymous(),
            Method::POST,
            &helper,
            key,
            r#"{"person": {"given_name": "Ada"}}"#
        )
        .await
        .status,
        200
    );
    let stored = || {
        let key = "anybody k".into();
        let mut found = store.lookup_all(&one, &[Lookup::StoredResponse(Arc::clone(&key))]);
        found.stored_response(&key).unwrap().is_some()
    };
    assert!(stored());
    let read = async || {
        assert_eq!(
            ask(&other, all(), Method::GET, "people", HeaderMap::new(), "")
                .await
                .status,
            200
        );
    };
    clock.fetch_add(23 * HOUR, Ordering::Relaxed);
    read().await;
    assert!(stored(), "it is not old yet");
    clock.fetch_add(2 * HOUR, Ordering::Relaxed);
    read().await;
    assert!(!stored());
}

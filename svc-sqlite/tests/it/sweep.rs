//! Stored responses are deleted after 24 hours, whichever tenant sends the next request.
//!
//! Requirements: IDM-06.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};
use svc_core::{
    Api, Tenant, Vendor,
    api::Request,
    auth::{Caller, Identity, Principal, Rights},
    value::Timestamp,
};
use svc_sqlite::{SqliteOptions, SqliteStore};

const HOUR: i64 = 60 * 60 * 1_000_000;

#[tokio::test]
async fn idm_06_old_responses_go_with_requests_of_any_tenant() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.db");
    let clock = Arc::new(AtomicI64::new(1_800_000_000_000_000));
    let of_store = Arc::clone(&clock);
    let now = move || Timestamp::from_micros(of_store.load(Ordering::Relaxed));
    let store = SqliteStore::open(SqliteOptions::new(&file).clock(now)).unwrap();
    let [one, other] = [
        store.ensure_tenant("one").await.unwrap(),
        store.ensure_tenant("other").await.unwrap(),
    ];
    let api = store
        .register_all(Api::builder(Vendor::new("Acme", "CRM")))
        .base_url("http://localhost/")
        .batches();
    let api = api.authenticator(store.clone()).build().unwrap();
    let ask =
        async |tenant: &Tenant, method: Method, path: &str, headers: HeaderMap, body: String| {
            let received = Timestamp::from_micros(clock.load(Ordering::Relaxed));
            let request = Request::new(&method, path)
                .with_headers(&headers)
                .with_body(body)
                .with_received_at(received);
            let who = Identity::Authenticated(Principal::new(
                tenant.clone(),
                Caller::with_rights(Rights::all()),
            ));
            assert_eq!(api.handle(who, request).await.status, 200, "{path}");
        };
    let rows = || {
        let file = rusqlite::Connection::open(&file).unwrap();
        file.query_row("SELECT count(*) FROM kept", (), |row| row.get::<_, i64>(0))
            .unwrap()
    };
    // Each response has a row, and another one for its person. These are more than one sweep
    // deletes.
    let people: Vec<Value> = (0..300)
        .map(|_| json!({"person": {"given_name": "Ada"}}))
        .collect();
    let key = HeaderMap::from_iter([(
        "idempotency-key".parse().unwrap(),
        HeaderValue::from_static("k"),
    )]);
    ask(
        &one,
        Method::POST,
        "people/person_signup/batch",
        key,
        Value::from(people).to_string(),
    )
    .await;
    let read = async || {
        ask(
            &other,
            Method::GET,
            "people",
            HeaderMap::new(),
            String::new(),
        )
        .await;
    };
    clock.fetch_add(23 * HOUR, Ordering::Relaxed);
    read().await;
    assert_eq!(rows(), 600, "they have not expired yet");
    clock.fetch_add(2 * HOUR, Ordering::Relaxed);
    for left in [344, 88, 0, 0] {
        read().await;
        assert_eq!(rows(), left);
    }
}

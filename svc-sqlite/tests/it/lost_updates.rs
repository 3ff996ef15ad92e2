//! Updates with `If-Match` by many writers: none is lost.
//!
//! Requirements: ETG-07, ETG-10.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::server::Server;
use http::header::IF_MATCH;
use http::{HeaderMap, HeaderValue, Method};
use serde_json::json;
use svc_core::api::{IfMatchPolicy, Request, Response};
use tokio::{sync::Barrier, task::JoinSet};

const WRITERS: usize = 16;
const RECORDS: usize = 10;

/// The number of changes that the test sends; 10 000 with `SVC_ALL=1`.
fn tries() -> usize {
    if std::env::var_os("SVC_ALL").is_some() {
        10_000
    } else {
        1_600
    }
}

async fn send(
    server: &Server,
    method: &Method,
    address: &str,
    body: String,
    tag: Option<&HeaderValue>,
) -> Response {
    let headers: HeaderMap = tag.map(|tag| (IF_MATCH, tag.clone())).into_iter().collect();
    let path = address.strip_prefix(crate::server::BASE).unwrap();
    let request = Request::new(method, path)
        .with_headers(&headers)
        .with_body(body);
    server.api.handle(server.identity(), request).await
}

fn count(reply: &Response) -> u64 {
    let body: serde_json::Value = serde_json::from_slice(&reply.body).unwrap();
    body["given_name"].as_str().unwrap().parse().unwrap()
}

/// Each writer reads a record and increments its number. The final number of a record equals the
/// number of successful updates.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn etg_10_no_change_is_lost() {
    let server = Arc::new(
        Server::with(
            |options| options,
            |api| api.conditional_requests(IfMatchPolicy::Required),
        )
        .await,
    );
    let mut records = Vec::new();
    for _ in 0..RECORDS {
        records.push(server.make("people", json!({"given_name": "0"})).await);
    }
    let (records, together) = (Arc::new(records), Arc::new(Barrier::new(WRITERS)));
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (server, records, together) = (
            Arc::clone(&server),
            Arc::clone(&records),
            Arc::clone(&together),
        );
        writers.spawn(async move {
            let mut made = BTreeMap::<usize, u64>::new();
            let mut refused = 0_u64;
            for step in 0..tries() / WRITERS {
                // In the first step every writer reads the same record before one of them changes
                // it.
                let which = if step == 0 {
                    0
                } else {
                    (writer * 7 + step * 3) % RECORDS
                };
                let read = send(&server, &Method::GET, &records[which], String::new(), None).await;
                if step == 0 {
                    together.wait().await;
                }
                let next = json!({"given_name": (count(&read) + 1).to_string()}).to_string();
                let put = send(
                    &server,
                    &Method::PUT,
                    &records[which],
                    next,
                    read.headers.get("etag"),
                )
                .await;
                match put.status.as_u16() {
                    200 => *made.entry(which).or_default() += 1,
                    412 => refused += 1,
                    other => panic!("{other}: {put:?}"),
                }
            }
            (made, refused)
        });
    }
    let mut made = BTreeMap::<usize, u64>::new();
    let mut refused = 0;
    for (by_writer, lost) in writers.join_all().await {
        refused += lost;
        for (which, times) in by_writer {
            *made.entry(which).or_default() += times;
        }
    }
    assert_eq!(
        made.values().sum::<u64>() + refused,
        (tries() / WRITERS * WRITERS) as u64
    );
    for (which, record) in records.iter().enumerate() {
        let now = send(&server, &Method::GET, record, String::new(), None).await;
        assert_eq!(
            count(&now),
            made.get(&which).copied().unwrap_or_default(),
            "changes of record {which}"
        );
    }
    assert!(
        refused >= WRITERS as u64 - 1,
        "only one writer can succeed in the first step: {refused}"
    );
}

/// ETG-04: two processes on one file, and one after a restart, return equal tags for equal records.
#[tokio::test]
async fn etg_04_tags_outlive_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.db");
    let open = async || {
        let store = svc_sqlite::SqliteStore::open(svc_sqlite::SqliteOptions::new(&path)).unwrap();
        let tenant = store.ensure_tenant("demo").await.unwrap();
        let api = crate::server::api(&store, |api| {
            api.conditional_requests(IfMatchPolicy::Optional)
        });
        (
            api,
            svc_core::auth::Identity::Authenticated(svc_core::auth::Principal::new(
                tenant,
                svc_core::auth::Caller::with_rights(svc_core::auth::Rights::all()),
            )),
        )
    };
    let (api, identity) = open().await;
    let made = api
        .handle(
            identity.clone(),
            Request::new(&Method::POST, "people").with_body(r#"{"given_name":"Ada"}"#),
        )
        .await;
    let address = made
        .header("location")
        .unwrap()
        .strip_prefix(crate::server::BASE)
        .unwrap()
        .to_owned();
    drop(api);
    let (api, identity) = open().await;
    let read = api
        .handle(identity, Request::new(&Method::GET, &*address))
        .await;
    assert_eq!(
        read.headers.get("etag").unwrap(),
        made.headers.get("etag").unwrap()
    );
}

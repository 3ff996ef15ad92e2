//! The change feed over HTTP (SYN-01 to SYN-11), of a store in memory.

#![cfg(feature = "memory")]

use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};
use svc_core::api::{Reply, Request, Timer};
use svc_core::auth::{Caller, Identity, Rights};
use svc_core::memory::MemoryStore;
use svc_core::{Api, Tenant, Vendor};

fn api(store: &MemoryStore) -> Api {
    let api = store.register_all(Api::builder(Vendor::new("Acme", "CRM"))).changes(&Arc::new(store.clone()));
    api.base_url("http://localhost/").authenticator(svc_core::auth::FixedKeys::new()).build().unwrap()
}

fn known(tenant: &str, rights: Rights) -> Identity {
    Identity::Known(Tenant::new(tenant), Caller::with_rights(rights))
}

fn one() -> Identity {
    known("one", Rights::all())
}

async fn get(api: &Api, who: Identity, address: &str) -> (u16, Value) {
    let (path, query) = address.split_once('?').map_or((address, None), |(path, query)| (path, Some(query)));
    let reply = api.answer(who, Request::new(&Method::GET, path).with_query(query)).await;
    (reply.status.as_u16(), serde_json::from_slice(&reply.body).unwrap_or_default())
}

async fn make(api: &Api, many: &str, body: Value) -> String {
    let reply = api.answer(one(), Request::new(&Method::POST, many).with_body(body.to_string())).await;
    assert_eq!(reply.status, 201);
    path(&serde_json::from_slice::<Value>(&reply.body).unwrap()["_links"]["self"])
}

/// The address of a link below the entry point.
fn path(link: &Value) -> String {
    link["href"].as_str().unwrap().strip_prefix("http://localhost/").unwrap().to_owned()
}

fn told(page: &Value) -> Vec<(String, String)> {
    let entries = page["_embedded"]["svc:changes"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    entries.map(|entry| (text(&entry["what"]), text(&entry["kind"]))).collect()
}

/// SYN-01, SYN-06, ERR-07: linked where it is registered; to be had with a key only.
#[tokio::test]
async fn it_is_there_where_it_is_registered() {
    let store = MemoryStore::new();
    let with = api(&store);
    let entry = get(&with, Identity::Nobody, "").await.1;
    assert_eq!(path(&entry["_links"]["svc:changes"]), "changes");
    assert_eq!(get(&with, Identity::Nobody, "changes").await.0, 401);
    assert_eq!(get(&with, Identity::Invalid, "changes").await.0, 401);
    assert_eq!(get(&with, one(), "changes").await.0, 200);
    assert!(with.behaviours().contains(&"changes"));
    let without = store.register_all(Api::builder(Vendor::new("Acme", "CRM"))).base_url("http://localhost/");
    let without = without.authenticator(svc_core::auth::FixedKeys::new()).build().unwrap();
    assert_eq!(get(&without, Identity::Nobody, "").await.1["_links"]["svc:changes"], Value::Null);
    assert_eq!(get(&without, one(), "changes").await.0, 500);
    assert_eq!(get(&without, Identity::Nobody, "changes").await.0, 401);
    assert!(!without.behaviours().contains(&"changes"));
}

/// SYN-02, SYN-04, SYN-10: a tag takes its taggings with it; of a person who goes nothing is left but an address.
#[tokio::test]
async fn what_goes_with_something_else_is_told() {
    let store = MemoryStore::new();
    let api = api(&store);
    let tag = make(&api, "tags", json!({"name": "blue"})).await;
    let person = make(&api, "people", json!({"given_name": "Ada"})).await;
    let link = json!({"_links": {"svc:person": {"href": format!("http://localhost/{person}")}}});
    let tagging = make(&api, &format!("{tag}/taggings"), link).await;
    let start = get(&api, one(), "changes").await.1;
    let new = |kind: &str| ("created".to_owned(), kind.to_owned());
    assert_eq!(told(&start), [new("tag"), new("person"), new("tagging")]);
    assert_eq!(
        (&start["has_more"], &start["_links"]["next"]),
        (&json!(false), &Value::Null),
        "who follows `next` ends"
    );
    for gone in [&tag, &person] {
        assert_eq!(api.answer(one(), Request::new(&Method::DELETE, gone.as_str())).await.status, 204);
    }
    let end = get(&api, one(), &path(&start["_links"]["last"])).await.1;
    let gone = |kind: &str| ("deleted".to_owned(), kind.to_owned());
    assert_eq!(told(&end), [gone("tagging"), gone("tag"), gone("person")]);
    let entry = &end["_embedded"]["svc:changes"][0];
    assert_eq!(path(&entry["_links"]["svc:tagging"]), tagging);
    assert_eq!(entry.as_object().unwrap().len(), 4);
    assert!(!end.to_string().contains("Ada"));
}

/// SYN-06: what a key may not read is passed over.
#[tokio::test]
async fn a_key_is_told_what_it_may_read() {
    let store = MemoryStore::new();
    let api = api(&store);
    for number in 0..5 {
        make(&api, "people", json!({})).await;
        make(&api, "tags", json!({"name": format!("{number}")})).await;
    }
    let narrow = || known("one", Rights::only(["tags.read".parse().unwrap()]));
    let (mut address, mut seen) = ("changes?per_page=2".to_owned(), 0);
    loop {
        let page = get(&api, narrow(), &address).await.1;
        assert!(told(&page).iter().all(|(_, kind)| kind == "tag"));
        seen += told(&page).len();
        if page["has_more"] == json!(false) {
            break;
        }
        address = path(&page["_links"]["next"]);
    }
    assert_eq!(seen, 5);
}

/// SYN-07, SYN-08, SYN-09: cursors that are none, of others, and of a feed that begins anew.
#[tokio::test]
async fn cursors_that_lead_nowhere() {
    let (store, other) = (MemoryStore::new(), MemoryStore::new());
    let (api, anew) = (api(&store), api(&other));
    make(&api, "people", json!({})).await;
    let next = path(&get(&api, one(), "changes").await.1["_links"]["last"]);
    let (status, error) = get(&api, one(), &format!("{next}0")).await;
    let said = &error["svc:error"]["resource_status"][0]["error_descriptions"][0];
    assert_eq!((status, &said["error_code"], &said["properties"]), (400, &json!("CURSOR_INVALID"), &json!(["after"])));
    for wrong in ["changes?after=", "changes?after=a%20b", "changes?after=7", "changes?after=1&after=2"] {
        assert_eq!(get(&api, one(), wrong).await.0, 400, "{wrong}");
    }
    assert_eq!(get(&api, known("two", Rights::all()), &next).await.0, 400);
    let (status, error) = get(&anew, one(), &next).await;
    assert_eq!(status, 410);
    assert_eq!(error["svc:error"]["resource_status"][0]["error_descriptions"][0]["error_code"], "CURSOR_EXPIRED");
    assert_eq!((path(&error["_links"]["first"]), path(&error["_links"]["start"])), ("changes".into(), String::new()));
}

/// A timer whose times pass when the test says so, or at once.
struct Hand {
    asked: AtomicU32,
    passes: bool,
    longest: Mutex<Duration>,
}

impl Hand {
    fn new(passes: bool) -> Self {
        Self { asked: AtomicU32::new(0), passes, longest: Mutex::default() }
    }
}

impl Timer for Hand {
    fn sleep(&self, time: Duration) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        *self.longest.lock().unwrap() = time;
        if self.passes { Some(Box::pin(std::future::ready(()))) } else { Some(Box::pin(std::future::pending())) }
    }
}

async fn waiting(api: &Api, who: Identity, timer: &Hand, address: &str) -> Reply {
    let (path, query) = address.split_once('?').unwrap();
    let headers =
        HeaderMap::from_iter([(http::HeaderName::from_static("prefer"), HeaderValue::from_static("wait=60"))]);
    api.answer(who, Request::new(&Method::GET, path).with_query(Some(query)).with_headers(&headers).with_timer(timer))
        .await
}

/// SYN-11: it waits until something is there that the key may read, and no longer than the server likes.
#[tokio::test]
async fn syn_11_a_request_waits_for_changes() {
    let store = MemoryStore::new();
    let api = api(&store);
    let next = path(&get(&api, one(), "changes").await.1["_links"]["last"]);
    let hand = Hand::new(false);
    let narrow = || known("one", Rights::only(["tags.read".parse().unwrap()]));
    let waits = waiting(&api, narrow(), &hand, &next);
    let writes = async {
        // Not of another tenant, and of no kind that the key may not read.
        let two = Request::new(&Method::POST, "tags").with_body(r#"{"name": "other"}"#);
        assert_eq!(api.answer(known("two", Rights::all()), two).await.status, 201);
        tokio::task::yield_now().await;
        assert_eq!(hand.asked.load(Ordering::Relaxed), 1);
        make(&api, "people", json!({})).await;
        tokio::task::yield_now().await;
        assert_eq!(hand.asked.load(Ordering::Relaxed), 2);
        make(&api, "tags", json!({"name": "blue"})).await;
    };
    let (reply, ()) = tokio::join!(waits, writes);
    assert_eq!((reply.status.as_u16(), reply.header("preference-applied")), (200, Some("wait=30")));
    let page: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(told(&page), [("created".to_owned(), "tag".to_owned())]);
    assert!(*hand.longest.lock().unwrap() <= Duration::from_secs(30));
    // What is there already is answered at once.
    let asked = hand.asked.load(Ordering::Relaxed);
    assert_eq!(waiting(&api, one(), &hand, &next).await.status, 200);
    assert_eq!(hand.asked.load(Ordering::Relaxed), asked);
}

/// SYN-11: without anything to tell the answer is an empty page, with the way back.
#[tokio::test]
async fn syn_11_a_time_that_is_over_ends_the_wait() {
    let store = MemoryStore::new();
    let api = store.register_all(Api::builder(Vendor::new("Acme", "CRM"))).changes(&Arc::new(store.clone()));
    let api = api.longest_wait(Duration::from_millis(20)).base_url("http://localhost/");
    let api = api.authenticator(svc_core::auth::FixedKeys::new()).build().unwrap();
    let next = path(&get(&api, one(), "changes").await.1["_links"]["last"]);
    let reply = waiting(&api, one(), &Hand::new(true), &next).await;
    let page: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!((told(&page).len(), path(&page["_links"]["last"])), (0, next));
}

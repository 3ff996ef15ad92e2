//! The change feed of an in-memory store, without HTTP.
//!
//! Requirements: SYN-01 to SYN-12.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};
use svc_core::api::{Request, Response, Timer, WaitLimits};
use svc_core::auth::{Authenticator, Caller, Credentials, Identity, Principal, Rights};
use svc_core::backend::{DeliveryOutcome, OutboxEntry, Subscription};
use svc_core::error::ErrorCode;
use svc_core::link::Target;
use svc_core::store::{MergeRequest, Store as _, WriteOperation, WriteRequest};
use svc_core::value::Timestamp;
use svc_core::{Api, ChangeFeed, Context, FeedRequest, FeedResponse, Tenant, Vendor};
use svc_store::memory::MemoryStore;

fn api(store: &MemoryStore) -> Api {
    let api = store
        .register_all(Api::builder(Vendor::new("Acme", "CRM")))
        .change_feed(&Arc::new(store.clone()));
    api.base_url("http://localhost/")
        .authenticator(svc_core::auth::FixedKeys::new())
        .build()
        .unwrap()
}

fn known(tenant: &str, rights: Rights) -> Identity {
    Identity::Authenticated(Principal::new(
        Tenant::new(tenant),
        Caller::with_rights(rights),
    ))
}

fn one() -> Identity {
    known("one", Rights::all())
}

async fn get(api: &Api, who: Identity, address: &str) -> (u16, Value) {
    let (path, query) = address
        .split_once('?')
        .map_or((address, None), |(path, query)| (path, Some(query)));
    let reply = api
        .handle(who, Request::new(&Method::GET, path).with_query(query))
        .await;
    (
        reply.status.as_u16(),
        serde_json::from_slice(&reply.body).unwrap_or_default(),
    )
}

async fn make(api: &Api, many: &str, body: Value) -> String {
    let reply = api
        .handle(
            one(),
            Request::new(&Method::POST, many).with_body(body.to_string()),
        )
        .await;
    assert_eq!(reply.status, 201);
    path(&serde_json::from_slice::<Value>(&reply.body).unwrap()["_links"]["self"])
}

/// Returns the path of a link, relative to the base URL.
fn path(link: &Value) -> String {
    link["href"]
        .as_str()
        .unwrap()
        .strip_prefix("http://localhost/")
        .unwrap()
        .to_owned()
}

fn told(page: &Value) -> Vec<(String, String)> {
    let entries = page["_embedded"]["ext:changes"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    entries
        .map(|entry| (text(&entry["what"]), text(&entry["kind"])))
        .collect()
}

fn curies(document: &Value) -> Vec<&str> {
    document["_links"]["curies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|curie| curie["name"].as_str().unwrap())
        .collect()
}

/// SYN-03: `self` of an entry is the same on every page and returns the entry.
#[tokio::test]
async fn syn_03_an_entry_has_a_page_of_its_own() {
    let store = MemoryStore::new();
    let api = api(&store);
    for number in 0..3 {
        make(&api, "people", json!({"given_name": "Ada"})).await;
        make(&api, "tags", json!({"name": format!("{number}")})).await;
    }
    let all = get(&api, one(), "changes").await.1;
    let entries = all["_embedded"]["ext:changes"].as_array().unwrap();
    let listed: Vec<&Value> = all["_links"]["ext:changes"]
        .as_array()
        .unwrap()
        .iter()
        .collect();
    assert_eq!(
        listed,
        entries
            .iter()
            .map(|entry| &entry["_links"]["self"])
            .collect::<Vec<_>>()
    );
    assert_eq!(entries.len(), 6);
    for entry in entries {
        let alone = get(&api, one(), &path(&entry["_links"]["self"])).await.1;
        assert_eq!(alone["_embedded"]["ext:changes"], json!([entry]));
    }
    // A key that may read only some of the kinds gets the same entries for these.
    let narrow = known("one", Rights::only(["tags.read".parse().unwrap()]));
    let page = get(&api, narrow, "changes?per_page=2").await.1;
    let tags: Vec<&Value> = entries
        .iter()
        .filter(|entry| entry["kind"] == "tag")
        .take(2)
        .collect();
    assert_eq!(page["_embedded"]["ext:changes"], json!(tags));
}

/// SYN-01, SYN-06, ERR-07: the feed is linked if it is registered, and it requires a key.
#[tokio::test]
async fn it_is_there_where_it_is_registered() {
    let store = MemoryStore::new();
    let with = api(&store);
    let entry = get(&with, Identity::Anonymous, "").await.1;
    assert_eq!(path(&entry["_links"]["ext:changes"]), "changes");
    assert_eq!(curies(&entry), ["svc", "ext"], "HAL-19");
    assert_eq!(get(&with, Identity::Anonymous, "changes").await.0, 401);
    assert_eq!(get(&with, Identity::InvalidKey, "changes").await.0, 401);
    assert_eq!(get(&with, one(), "changes").await.0, 200);
    assert!(with.behaviours().contains(&"changes"));
    let without = store
        .register_all(Api::builder(Vendor::new("Acme", "CRM")))
        .base_url("http://localhost/");
    let without = without
        .authenticator(svc_core::auth::FixedKeys::new())
        .build()
        .unwrap();
    let entry = get(&without, Identity::Anonymous, "").await.1;
    assert_eq!(entry["_links"]["ext:changes"], Value::Null);
    assert_eq!(curies(&entry), ["svc"], "HAL-19");
    assert_eq!(get(&without, one(), "changes").await.0, 500);
    assert_eq!(get(&without, Identity::Anonymous, "changes").await.0, 401);
    assert!(!without.behaviours().contains(&"changes"));
}

/// CRU-19, SYN-02: a request that changes no value changes no date and has no entry. Each difference is
/// a change.
#[tokio::test]
async fn syn_02_no_change_is_no_change() {
    let store = Arc::new(MemoryStore::new());
    let api = Api::builder(Vendor::new("Acme", "CRM"))
        .store(&store)
        .change_feed(&store)
        .delivery(|_: &Tenant, _: &OutboxEntry| Ok(DeliveryOutcome::Sent));
    let api = api
        .base_url("http://localhost/")
        .authenticator(svc_core::auth::FixedKeys::new())
        .build()
        .unwrap();
    let ada = json!({"given_name": "Ada", "identifiers": ["a:1"], "languages_spoken": ["en", "fr"],
        "email_addresses": [{"address": "ada@example.org", "primary": true}], "custom_fields": {"a": "1", "b": "2"}});
    let person = make(&api, "people", ada.clone()).await;
    let other = make(&api, "people", json!({"given_name": "Grace"})).await;
    let petition = make(&api, "petitions", json!({})).await;
    let message = make(&api, "messages", json!({"subject": "Hello"})).await;
    let organizer = |person: &str| json!({"_links": {"svc:organizer": {"href": format!("http://localhost/{person}")}}});
    let event = make(&api, "events", organizer(&person)).await;
    make(&api, "tags", json!({"name": "blue"})).await;
    make(&api, "lists", json!({"name": "news"})).await;
    let at = RefCell::new(path(&get(&api, one(), "changes").await.1["_links"]["last"]));
    // Sends a request, and returns the entries that it adds.
    let added = async |method: Method, address: &str, body: &Value| {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = Request::new(&method, address).with_body(body);
        let reply = api.handle(one(), request).await;
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert!(reply.status.is_success(), "{method} {address}: {text}");
        let from = at.borrow().clone();
        let page = get(&api, one(), &from).await.1;
        at.replace(path(&page["_links"]["last"]));
        told(&page)
    };
    let entry = |what: &str, kind: &str| vec![(what.to_owned(), kind.to_owned())];
    let changed = |kind: &str| entry("changed", kind);
    let signup = async |person: &Value, more: Value| {
        let mut body = json!({ "person": person });
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().cloned().unwrap());
        added(Method::POST, "people/person_signup", &body).await
    };
    let functions = json!({"add_tags": ["blue"], "add_lists": ["news"]});
    let memberships = [entry("created", "tagging"), entry("created", "item")].concat();
    assert_eq!(signup(&ada, functions.clone()).await, memberships);
    let before = get(&api, one(), &person).await.1;
    let none: [(String, String); 0] = [];
    assert_eq!(signup(&ada, functions).await, none);
    let mut turned = ada.clone();
    turned["custom_fields"] = json!({"b": "2", "a": "1"});
    for same in [
        &json!({}),
        &ada,
        &turned,
        &before,
        &json!({"identifiers": ["a:1"], "family_name": null}),
    ] {
        assert_eq!(added(Method::PUT, &person, same).await, none, "{same}");
        let after = get(&api, one(), &person).await.1;
        assert_eq!(after, before, "CRU-19: {same}");
    }
    assert_eq!(signup(&ada, json!({})).await, none);
    let helper = format!("{petition}/record_signature_helper");
    let signature = json!({"identifiers": ["a:2"], "person": ada});
    let signed = added(Method::POST, &helper, &signature).await;
    assert_eq!(signed, entry("created", "signature"));
    assert_eq!(added(Method::POST, &helper, &signature).await, none);
    assert_eq!(get(&api, one(), &person).await.1, before, "HLP-04");
    for (name, value) in [
        ("given_name", json!("Augusta")),
        ("languages_spoken", json!(["fr", "en"])),
        ("identifiers", json!(["a:1", "a:3"])),
        ("identifiers", json!(["a:3", "a:1"])),
        ("custom_fields", json!({"b": null})),
    ] {
        let body = json!({ name: value });
        let entries = added(Method::PUT, &person, &body).await;
        assert_eq!(entries, changed("person"), "{body}");
    }
    for (to, expected) in [
        (&person, &none[..]),
        (&other, &changed("event")),
        (&other, &none),
    ] {
        let entries = added(Method::PUT, &event, &organizer(to)).await;
        assert_eq!(entries, expected, "CRU-16: {to}");
    }
    // SCH-01, SCH-04: the dates of a schedule are values of the message.
    let helper = format!("{message}/schedule");
    let start = json!({"scheduled_start_date": "2037-03-01T12:00:00Z"});
    for (method, body, expected) in [
        (Method::POST, &start, &changed("message")[..]),
        (Method::POST, &start, &none),
        (Method::DELETE, &Value::Null, &changed("message")),
    ] {
        let before = get(&api, one(), &message).await.1;
        let entries = added(method.clone(), &helper, body).await;
        let after = get(&api, one(), &message).await.1;
        assert_eq!(entries, expected, "{method}");
        let is_same = after["modified_date"] == before["modified_date"];
        assert_eq!(is_same, expected.is_empty(), "TYP-16: {method}");
    }
}

/// SYN-02, SYN-04, SYN-10: deleting a tag also deletes its taggings. Of a deleted person only the
/// address remains.
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
        "following `next` reaches an end"
    );
    for gone in [&tag, &person] {
        assert_eq!(
            api.handle(one(), Request::new(&Method::DELETE, gone.as_str()))
                .await
                .status,
            204
        );
    }
    let end = get(&api, one(), &path(&start["_links"]["last"])).await.1;
    let gone = |kind: &str| ("deleted".to_owned(), kind.to_owned());
    assert_eq!(told(&end), [gone("tagging"), gone("tag"), gone("person")]);
    let entry = &end["_embedded"]["ext:changes"][0];
    assert_eq!(path(&entry["_links"]["svc:tagging"]), tagging);
    assert_eq!(entry.as_object().unwrap().len(), 4);
    assert!(!end.to_string().contains("Ada"));
}

/// SYN-06: entries of kinds that the key may not read are skipped.
#[tokio::test]
async fn a_key_is_told_what_it_may_read() {
    let store = MemoryStore::new();
    let api = api(&store);
    for number in 0..5 {
        make(&api, "people", json!({"given_name": "Ada"})).await;
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

/// SYN-06: a key that may read no kind gets a 403 response on the feed, a long poll and a stream,
/// with any query.
#[tokio::test]
async fn syn_06_a_key_that_may_read_no_kind_is_forbidden() {
    let store = MemoryStore::new();
    let api = api(&store);
    for right in [
        "helper.record_signature",
        "webhooks.manage",
        "people.list",
        "people.create",
    ] {
        let key = || known("one", Rights::only([right.parse().unwrap()]));
        for address in [
            "changes",
            "changes?after=no-such-cursor",
            "changes?per_page=none",
        ] {
            assert_eq!(get(&api, key(), address).await.0, 403, "{right} {address}");
        }
        let reply = waiting(&api, key(), &Hand::new(true), "changes?per_page=1").await;
        assert_eq!(
            (reply.status.as_u16(), reply.code),
            (403, Some(ErrorCode::KeyNotAllowed)),
            "{right}"
        );
        assert_eq!(
            events(&api, key(), "changes", None).await.status,
            403,
            "{right}"
        );
        assert_eq!(get(&api, key(), "").await.0, 200, "{right}");
    }
}

/// SYN-07, SYN-08, SYN-09: invalid cursors, cursors of other tenants, and cursors of a feed that
/// was restarted.
#[tokio::test]
async fn cursors_that_lead_nowhere() {
    let (store, other) = (MemoryStore::new(), MemoryStore::new());
    let (api, anew) = (api(&store), api(&other));
    make(&api, "people", json!({"given_name": "Ada"})).await;
    let next = path(&get(&api, one(), "changes").await.1["_links"]["last"]);
    let (status, error) = get(&api, one(), &format!("{next}0")).await;
    let said = &error["svc:error"]["resource_status"][0]["error_descriptions"][0];
    assert_eq!(
        (status, &said["error_code"], &said["properties"]),
        (400, &json!("CURSOR_INVALID"), &json!(["after"]))
    );
    for wrong in [
        "changes?after=",
        "changes?after=a%20b",
        "changes?after=7",
        "changes?after=1&after=2",
    ] {
        assert_eq!(get(&api, one(), wrong).await.0, 400, "{wrong}");
    }
    assert_eq!(get(&api, known("two", Rights::all()), &next).await.0, 400);
    let (status, error) = get(&anew, one(), &next).await;
    assert_eq!(status, 410);
    assert_eq!(
        error["svc:error"]["resource_status"][0]["error_descriptions"][0]["error_code"],
        "CURSOR_EXPIRED"
    );
    assert_eq!(
        (
            path(&error["_links"]["first"]),
            path(&error["_links"]["start"])
        ),
        ("changes".into(), String::new())
    );
}

/// SYN-07, SYN-09: a cursor reveals neither the number nor the time of a change. A cursor of
/// another tenant gets the same response as an invented one, byte for byte.
#[tokio::test]
async fn syn_07_cursors_reveal_nothing() {
    let store = MemoryStore::new();
    let api = api(&store);
    for number in 1..=3 {
        make(&api, "tags", json!({"name": format!("{number}")})).await;
        let page = get(&api, one(), "changes").await.1;
        let last = page["_embedded"]["ext:changes"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()["at"]
            .as_str()
            .unwrap()
            .to_owned();
        let cursor = path(&page["_links"]["last"]);
        let at = Timestamp::parse(&last).unwrap().as_micros();
        for readable in [format!("{number:016x}"), format!("{at:012x}")] {
            assert!(!cursor.contains(&readable), "{readable} in {cursor}");
        }
    }
    let cursor = path(&get(&api, one(), "changes").await.1["_links"]["last"]);
    let two = || known("two", Rights::all());
    let foreign = get(&api, two(), &cursor).await;
    assert_eq!(foreign.0, 400);
    assert_eq!(
        foreign,
        get(&api, two(), "changes?after=no-such-cursor").await
    );
}

/// A timer that completes either immediately or never.
struct Hand {
    asked: AtomicU32,
    passes: bool,
    longest: Mutex<Duration>,
}

impl Hand {
    fn new(passes: bool) -> Self {
        Self {
            asked: AtomicU32::new(0),
            passes,
            longest: Mutex::default(),
        }
    }
}

impl Timer for Hand {
    fn sleep(&self, time: Duration) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        *self.longest.lock().unwrap() = time;
        if self.passes {
            Some(Box::pin(std::future::ready(())))
        } else {
            Some(Box::pin(std::future::pending()))
        }
    }
}

async fn waiting(api: &Api, who: Identity, timer: &Hand, address: &str) -> Response {
    let (path, query) = address.split_once('?').unwrap();
    let headers = HeaderMap::from_iter([(
        http::HeaderName::from_static("prefer"),
        HeaderValue::from_static("wait=60"),
    )]);
    api.handle(
        who,
        Request::new(&Method::GET, path)
            .with_query(Some(query))
            .with_headers(&headers)
            .with_timer(timer),
    )
    .await
}

/// SYN-11: a request waits until there is an entry that the key may read, but not longer than the
/// server allows.
#[tokio::test]
async fn syn_11_a_request_waits_for_changes() {
    let store = MemoryStore::new();
    let api = api(&store);
    let next = path(&get(&api, one(), "changes").await.1["_links"]["last"]);
    let hand = Hand::new(false);
    let narrow = || known("one", Rights::only(["tags.read".parse().unwrap()]));
    let waits = waiting(&api, narrow(), &hand, &next);
    let writes = async {
        // The request does not get changes of another tenant, or of kinds that the key may not
        // read.
        let two = Request::new(&Method::POST, "tags").with_body(r#"{"name": "other"}"#);
        assert_eq!(
            api.handle(known("two", Rights::all()), two).await.status,
            201
        );
        tokio::task::yield_now().await;
        make(&api, "people", json!({"given_name": "Ada"})).await;
        tokio::task::yield_now().await;
        assert_eq!(hand.asked.load(Ordering::Relaxed), 1);
        make(&api, "tags", json!({"name": "blue"})).await;
    };
    let (reply, ()) = tokio::join!(waits, writes);
    assert_eq!(
        (reply.status.as_u16(), reply.header("preference-applied")),
        (200, Some("wait=30"))
    );
    let page: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(told(&page), [("created".to_owned(), "tag".to_owned())]);
    assert!(*hand.longest.lock().unwrap() <= Duration::from_secs(30));
    // Existing entries are returned immediately.
    assert_eq!(waiting(&api, one(), &hand, &next).await.status, 200);
}

/// SYN-11: without entries, the response is an empty page with a link for the next request.
#[tokio::test]
async fn syn_11_a_time_that_is_over_ends_the_wait() {
    let store = MemoryStore::new();
    let api = store
        .register_all(Api::builder(Vendor::new("Acme", "CRM")))
        .change_feed(&Arc::new(store.clone()));
    let api = api
        .max_wait(Duration::from_millis(20))
        .base_url("http://localhost/");
    let api = api
        .authenticator(svc_core::auth::FixedKeys::new())
        .build()
        .unwrap();
    let next = path(&get(&api, one(), "changes").await.1["_links"]["last"]);
    let reply = waiting(&api, one(), &Hand::new(true), &next).await;
    let page: Value = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(
        (told(&page).len(), path(&page["_links"]["last"])),
        (0, next)
    );
}

/// Polls a request once and returns whether it is pending.
async fn is_waiting(request: &mut Pin<Box<impl Future<Output = Response>>>) -> bool {
    poll_fn(|cx| Poll::Ready(request.as_mut().poll(cx).is_pending())).await
}

/// SYN-13: waiting requests use slots of the key and the tenant. A slot is free again when the wait
/// ends, the client disconnects, or the stream ends.
#[tokio::test]
async fn syn_13_waits_are_bounded() {
    let store = MemoryStore::new();
    let api = store
        .register_all(Api::builder(Vendor::new("Acme", "CRM")))
        .change_feed(&Arc::new(store.clone()));
    let api = api
        .wait_limits(WaitLimits::default().per_key(2).per_tenant(3))
        .base_url("http://localhost/");
    let api = api
        .authenticator(svc_core::auth::FixedKeys::new())
        .build()
        .unwrap();
    let next = path(&get(&api, one(), "changes").await.1["_links"]["last"]);
    let hand = Hand::new(false);
    let key = |tenant: &str, name: &str| {
        Identity::Authenticated(Principal::new(
            Tenant::new(tenant),
            Caller::with_rights(Rights::all()).with_key_name(name),
        ))
    };
    let wait = |name: &str| Box::pin(waiting(&api, key("one", name), &hand, &next));
    let (mut first, mut second) = (wait("a"), wait("a"));
    assert!(is_waiting(&mut first).await && is_waiting(&mut second).await);
    let refused = wait("a").await;
    let known = (
        refused.status.as_u16(),
        refused.code,
        refused.header("retry-after"),
    );
    assert_eq!(known, (429, Some(ErrorCode::TooManyRequests), Some("5")));
    assert_eq!(
        events(&api, key("one", "a"), "changes", None).await.status,
        429
    );
    // A request that does not wait, another key and another tenant get a response.
    assert_eq!(get(&api, key("one", "a"), &next).await.0, 200);
    let mut third = wait("b");
    assert!(is_waiting(&mut third).await);
    assert_eq!(wait("c").await.status, 429);
    let other = events(&api, key("two", "a"), "changes", None).await;
    assert_eq!(other.status, 200);
    // The client disconnects.
    drop(first);
    let stream = events(&api, key("one", "c"), "changes", None).await;
    assert_eq!(stream.status, 200);
    let copy = stream.event_stream.clone();
    assert_eq!(wait("d").await.status, 429);
    drop(stream);
    assert_eq!(wait("d").await.status, 429);
    drop(copy);
    let mut fourth = wait("d");
    assert!(is_waiting(&mut fourth).await);
    // The wait ends.
    make(&api, "tags", json!({"name": "blue"})).await;
    let replies = all(vec![second, third, fourth]).await;
    assert!(replies.iter().all(|reply| reply.status == 200));
    let replies = [
        events(&api, key("one", "a"), "changes", None).await,
        events(&api, key("one", "a"), "changes", None).await,
    ];
    assert!(replies.iter().all(|reply| reply.status == 200));
}

/// A store that counts the reads of its feed.
#[derive(Clone)]
struct Counted {
    store: MemoryStore,
    reads: Arc<AtomicU32>,
}

#[async_trait::async_trait]
impl ChangeFeed for Counted {
    async fn read(&self, cx: &Context, request: &FeedRequest) -> svc_core::Result<FeedResponse> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.store.read(cx, request).await
    }

    async fn subscribe(&self, cx: &Context) -> svc_core::Result<Subscription> {
        self.store.subscribe(cx).await
    }
}

/// SYN-06, SYN-11, SYN-12: requests of a tenant that wait for the same entries share one read, even
/// if the reading request is dropped. None of them gets entries that its key may not read.
#[tokio::test]
async fn syn_11_requests_that_wait_share_one_read() {
    const WAITERS: usize = 100;
    let store = MemoryStore::new();
    let counted = Counted {
        store: store.clone(),
        reads: Arc::default(),
    };
    let api = store
        .register_all(Api::builder(Vendor::new("Acme", "CRM")))
        .change_feed(&Arc::new(counted.clone()));
    let api = api
        .wait_limits(WaitLimits::default().per_key(1_000).per_tenant(1_000))
        .base_url("http://localhost/");
    let api = api
        .authenticator(svc_core::auth::FixedKeys::new())
        .build()
        .unwrap();
    let reads = || counted.reads.swap(0, Ordering::Relaxed);
    let next = path(&get(&api, one(), "changes").await.1["_links"]["last"]);
    reads();
    let hand = Hand::new(false);
    let narrow = || known("one", Rights::only(["tags.read".parse().unwrap()]));
    let mut waiters = Vec::new();
    for _ in 0..WAITERS {
        let mut waiter = Box::pin(waiting(&api, one(), &hand, &next));
        assert!(is_waiting(&mut waiter).await);
        waiters.push(waiter);
    }
    assert_eq!(reads(), 1, "one request reads, the others join it");
    let mut blind = Box::pin(waiting(&api, narrow(), &hand, &next));
    assert!(is_waiting(&mut blind).await);
    reads();
    make(&api, "people", json!({"given_name": "Ada"})).await;
    for reply in all(waiters).await {
        assert_eq!(
            told(&serde_json::from_slice(&reply.body).unwrap()),
            [("created".to_owned(), "person".to_owned())]
        );
    }
    assert_eq!(reads(), 1, "one commit, one read");
    // The key that may read only tags advances past the person.
    assert!(is_waiting(&mut blind).await);
    let mut streams = Vec::new();
    for _ in 0..WAITERS {
        streams.push(
            events(&api, one(), "changes", None)
                .await
                .event_stream
                .unwrap(),
        );
    }
    reads();
    let mut parts: Vec<_> = streams
        .iter_mut()
        .map(|stream| Box::pin(stream.next(&hand)))
        .collect();
    for part in &mut parts {
        assert!(poll_fn(|cx| Poll::Ready(part.as_mut().poll(cx).is_pending())).await);
    }
    assert_eq!(reads(), 1, "streams with the same cursor share a read");
    // The client of the reading stream disconnects.
    drop(parts.remove(0));
    for part in &mut parts {
        assert!(poll_fn(|cx| Poll::Ready(part.as_mut().poll(cx).is_pending())).await);
    }
    assert_eq!(reads(), 1, "another stream reads for all");
    make(&api, "tags", json!({"name": "blue"})).await;
    for part in all(parts).await {
        assert_eq!(
            told(&event(&part.unwrap()).1.unwrap()),
            [("created".to_owned(), "tag".to_owned())]
        );
    }
    assert_eq!(reads(), 1, "one commit, one read");
    assert_eq!(
        told(&serde_json::from_slice(&blind.await.body).unwrap()),
        [("created".to_owned(), "tag".to_owned())]
    );
}

/// Runs futures concurrently and returns their outputs.
async fn all<T>(mut left: Vec<Pin<Box<impl Future<Output = T>>>>) -> Vec<T> {
    let mut outputs = Vec::new();
    poll_fn(|cx| {
        left.retain_mut(|future| match future.as_mut().poll(cx) {
            Poll::Ready(output) => {
                outputs.push(output);
                false
            }
            Poll::Pending => true,
        });
        if left.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    outputs
}

async fn events(api: &Api, who: Identity, address: &str, last: Option<&str>) -> Response {
    let (path, query) = address
        .split_once('?')
        .map_or((address, None), |(path, query)| (path, Some(query)));
    let accept = (
        http::header::ACCEPT,
        HeaderValue::from_static("text/event-stream"),
    );
    let last = last.map(|last| {
        (
            "last-event-id".parse().unwrap(),
            HeaderValue::from_str(last).unwrap(),
        )
    });
    let headers = std::iter::once(accept).chain(last).collect();
    api.handle(
        who,
        Request::new(&Method::GET, path)
            .with_query(query)
            .with_headers(&headers),
    )
    .await
}

/// The entry of a merged person is the last one, and links to the person that remains. Pages, events and the
/// page of the entry contain the same link.
#[tokio::test]
async fn the_entry_of_a_merged_person_links_to_the_other_one() {
    let store = MemoryStore::new();
    let api = api(&store);
    let remaining = make(&api, "people", json!({"given_name": "Ada"})).await;
    let merged = make(&api, "people", json!({"given_name": "Augusta"})).await;
    let deleted = make(&api, "people", json!({"given_name": "Grace"})).await;
    let petition = make(&api, "petitions", json!({})).await;
    let body = json!({"_links": {"svc:person": {"href": format!("http://localhost/{merged}")}}});
    make(&api, &format!("{petition}/signatures"), body).await;
    let last = path(&get(&api, one(), "changes").await.1["_links"]["last"]);

    let cx = Context::new(
        Tenant::new("one"),
        Caller::with_rights(Rights::all()),
        Timestamp::now(),
    );
    let address = |path: &str| match api.route(path) {
        Some(Target::Record(address)) => address,
        other => panic!("{other:?}"),
    };
    let merge = MergeRequest::new(address(&remaining), address(&merged));
    for operation in [
        WriteOperation::Merge(Box::new(merge)),
        WriteOperation::Delete(address(&deleted)),
    ] {
        let request = WriteRequest::new(&cx, operation);
        store.write(&cx, request).await.unwrap();
    }
    let page = get(&api, one(), &last).await.1;
    let expected = [
        ("changed", "person"),
        ("changed", "signature"),
        ("deleted", "person"),
        ("deleted", "person"),
    ];
    assert_eq!(
        told(&page),
        expected.map(|(what, kind)| (what.to_owned(), kind.to_owned()))
    );
    let entries = page["_embedded"]["ext:changes"].as_array().unwrap();
    let into = |entry: &Value| entry["_links"]["ext:merged_into"].clone();
    for entry in [&entries[0], &entries[1], &entries[3]] {
        assert_eq!(into(entry), Value::Null);
    }
    let entry = &entries[2];
    assert_eq!(path(&entry["_links"]["svc:person"]), merged);
    assert_eq!(path(&into(entry)), remaining);
    assert_eq!(curies(&page), ["svc", "ext"], "HAL-19");
    let alone = get(&api, one(), &path(&entry["_links"]["self"])).await.1;
    assert_eq!(alone["_embedded"]["ext:changes"], json!([entry]));
    let stream = events(&api, one(), &last, None).await;
    let (_, page) = event(&stream.body);
    assert_eq!(page.unwrap()["_embedded"]["ext:changes"], json!(entries));

    let operation = WriteOperation::Delete(address(&remaining));
    let request = WriteRequest::new(&cx, operation);
    store.write(&cx, request).await.unwrap();
    let page = get(&api, one(), &last).await.1;
    assert!(!page.to_string().contains("merged_into"), "{page}");
}

/// Returns the cursor of an event, and its page if it has one.
fn event(part: &[u8]) -> (String, Option<Value>) {
    let text = std::str::from_utf8(part).unwrap();
    let mut lines = text.strip_suffix("\n\n").unwrap().lines();
    let id = lines
        .next()
        .unwrap()
        .strip_prefix("id: ")
        .unwrap()
        .to_owned();
    let page = lines
        .next()
        .map(|line| serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap());
    assert_eq!(lines.next(), None, "an event has two lines");
    (id, page)
}

/// SYN-12: a stream sends existing entries, then new ones. After a reconnect it continues after the
/// client's last event.
#[tokio::test]
async fn syn_12_a_stream_goes_on_telling() {
    let store = MemoryStore::new();
    let api = api(&store);
    for name in ["blue", "red", "green"] {
        make(&api, "tags", json!({"name": name})).await;
    }
    let mut reply = events(&api, one(), "changes?per_page=2", None).await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("content-type")),
        (200, Some("text/event-stream"))
    );
    let (first, page) = event(&reply.body);
    assert_eq!(told(&page.unwrap()).len(), 2);
    let (hand, mut following) = (Hand::new(false), reply.event_stream.take().unwrap());
    let (third, page) = event(&following.next(&hand).await.unwrap());
    let page = page.unwrap();
    assert_eq!((told(&page).len(), &page["has_more"]), (1, &json!(false)));
    let cursor = |link: &str| path(&page["_links"][link]);
    assert_eq!(cursor("self"), format!("changes?after={first}&per_page=2"));
    assert_eq!(cursor("last"), format!("changes?after={third}&per_page=2"));
    assert_eq!(
        hand.asked.load(Ordering::Relaxed),
        0,
        "existing entries are sent immediately"
    );
    let (part, _) = tokio::join!(
        following.next(&hand),
        make(&api, "people", json!({"given_name": "Ada"}))
    );
    let (fourth, page) = event(&part.unwrap());
    assert_eq!(
        told(&page.clone().unwrap()),
        [("created".to_owned(), "person".to_owned())]
    );
    assert!(!page.unwrap().to_string().contains("Ada"));
    assert!(*hand.longest.lock().unwrap() <= svc_core::api::EventStream::KEEP_ALIVE_INTERVAL);
    // A reconnecting client gets what follows its last event, whatever cursor its URL has.
    let again = events(&api, one(), "changes?per_page=2", Some(&third)).await;
    assert_eq!(event(&again.body).0, fourth);
    let nothing = events(&api, one(), "changes", Some(&fourth)).await;
    assert_eq!(event(&nothing.body), (fourth, None));
}

/// An authenticator with one key, which can be revoked.
#[derive(Clone, Default)]
struct Revocable(Arc<AtomicBool>);

#[async_trait::async_trait]
impl Authenticator for Revocable {
    async fn authenticate(
        &self,
        credentials: Credentials<'_>,
    ) -> svc_core::Result<Option<Principal>> {
        let is_valid = credentials.key == Some("k-one") && !self.0.load(Ordering::Relaxed);
        Ok(
            is_valid
                .then(|| Principal::new(Tenant::new("one"), Caller::with_rights(Rights::all()))),
        )
    }
}

/// AUT-03, SYN-11, SYN-12: when its key is revoked, a stream ends at the next event or the next
/// empty event, and a long poll ends.
#[tokio::test]
async fn aut_03_a_key_that_is_revoked_is_told_nothing_more() {
    let store = MemoryStore::new();
    let keys = Revocable::default();
    let api = store
        .register_all(Api::builder(Vendor::new("Acme", "CRM")))
        .change_feed(&Arc::new(store.clone()));
    let api = api
        .base_url("http://localhost/")
        .authenticator(keys.clone())
        .build()
        .unwrap();
    let next = path(&get(&api, one(), "changes").await.1["_links"]["last"]);
    let hand = Hand::new(false);
    let ask = async |address: String, name: &'static str, value: &'static str| {
        let header = |name: &'static str| http::HeaderName::from_static(name);
        let headers = [("svc-api-token", "k-one"), (name, value)];
        let headers = headers.map(|(name, value)| (header(name), HeaderValue::from_static(value)));
        let headers = HeaderMap::from_iter(headers);
        let request =
            Request::new(&Method::GET, "changes").with_query(address.strip_prefix("changes?"));
        let mut call = api.resolve(request.with_headers(&headers).with_timer(&hand));
        let identity = call.authenticate().await.ok().unwrap();
        match call.authorize(identity).await {
            Ok(admitted) => admitted.execute().await,
            Err(reply) => reply,
        }
    };
    let stream = async || {
        ask(next.clone(), "accept", "text/event-stream")
            .await
            .event_stream
            .unwrap()
    };
    let (mut told, mut silent) = (stream().await, stream().await);
    let mut poll = Box::pin(ask(next.clone(), "prefer", "wait=60"));
    assert!(is_waiting(&mut poll).await);
    make(&api, "tags", json!({"name": "blue"})).await;
    assert_eq!(poll.await.status, 200);
    assert!(event(&told.next(&hand).await.unwrap()).1.is_some());
    assert!(event(&silent.next(&hand).await.unwrap()).1.is_some());
    assert_eq!(event(&silent.next(&Hand::new(true)).await.unwrap()).1, None);
    let end = path(&get(&api, one(), "changes").await.1["_links"]["last"]);
    let mut poll = Box::pin(ask(end.clone(), "prefer", "wait=60"));
    assert!(is_waiting(&mut poll).await);
    keys.0.store(true, Ordering::Relaxed);
    assert_eq!(silent.next(&Hand::new(true)).await, None, "an empty event");
    make(&api, "tags", json!({"name": "red"})).await;
    let (part, reply) = tokio::join!(told.next(&hand), poll);
    assert_eq!(
        (part, reply.status.as_u16()),
        (None, 401),
        "the stream and the long poll end"
    );
}

/// SYN-12: a stream lasts as long as a request may wait, and then ends. Without a timer it ends
/// immediately.
#[tokio::test]
async fn syn_12_a_stream_ends() {
    struct Timeless;
    impl Timer for Timeless {
        fn sleep(&self, _: Duration) -> Option<Pin<Box<dyn Future<Output = ()> + Send>>> {
            None
        }
    }
    let store = MemoryStore::new();
    let api = store
        .register_all(Api::builder(Vendor::new("Acme", "CRM")))
        .change_feed(&Arc::new(store.clone()));
    let api = api
        .max_wait(Duration::from_millis(20))
        .base_url("http://localhost/");
    let api = api
        .authenticator(svc_core::auth::FixedKeys::new())
        .build()
        .unwrap();
    let mut following = events(&api, one(), "changes", None)
        .await
        .event_stream
        .unwrap();
    let mut timeless = following.clone();
    assert_eq!(
        event(&following.next(&Hand::new(true)).await.unwrap()).1,
        None,
        "without entries, but still open"
    );
    while following.next(&Hand::new(true)).await.is_some() {}
    assert_eq!(timeless.next(&Timeless).await, None);
}

/// SYN-12, SYN-07, SYN-09: errors of a stream are reported in the same way as those of a page.
#[tokio::test]
async fn syn_12_cursors_of_events_are_checked() {
    let store = MemoryStore::new();
    let api = api(&store);
    make(&api, "tags", json!({"name": "blue"})).await;
    let (id, _) = event(&events(&api, one(), "changes", None).await.body);
    for wrong in [
        format!("{id}0"),
        "7".to_owned(),
        "a b".to_owned(),
        "x".repeat(300),
    ] {
        let reply = events(&api, one(), "changes", Some(&wrong)).await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("content-type")),
            (400, Some("application/hal+json")),
            "{wrong}"
        );
    }
    assert_eq!(
        events(&api, known("two", Rights::all()), "changes", Some(&id))
            .await
            .status,
        400
    );
    assert_eq!(
        events(&api, Identity::Anonymous, "changes", None)
            .await
            .status,
        401
    );
    let other = self::api(&MemoryStore::new());
    assert_eq!(
        events(&other, one(), "changes", Some(&id)).await.status,
        410
    );
}

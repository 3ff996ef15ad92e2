//! Webhooks over HTTP (HOOK-01 to HOOK-06), of a store in memory.

use std::sync::Arc;

use http::{Method, StatusCode};

use serde_json::Value;
use svc_core::{
    Api, Vendor,
    api::{Reply, Request},
    auth::{Caller, FixedKeys, Identity, Right, Rights, Tenant},
    link::Target,
    memory::MemoryStore,
    model::Kind,
    ops::Webhooks,
    webhook::{MOST_WEBHOOKS, Webhook},
};

fn api(store: &Arc<MemoryStore>) -> Api {
    let api = Api::builder(Vendor::new("Acme", "CRM")).base_url("http://localhost/").authenticator(FixedKeys::new());
    api.store(store).changes(store).webhooks(store).build().unwrap()
}

async fn ask(api: &Api, rights: Rights, method: Method, target: Target, body: &str) -> Reply {
    let identity = Identity::Known(Tenant::new("acme"), Caller::with_rights(rights));
    api.answer(identity, Request::new(&method, target).with_body(body.to_owned())).await
}

fn only(rights: &[&str]) -> Rights {
    Rights::only(rights.iter().map(|right| right.parse::<Right>().unwrap()))
}

const BODY: &str = r#"{"url": "https://hooks.example.org/"}"#;

/// HOOK-03: the right to every record is none to webhooks, and neither is that to read.
#[tokio::test]
async fn webhooks_need_a_right_of_their_own() {
    let api = api(&Arc::new(MemoryStore::new()));
    let others = Rights::only(Right::all().filter(|right| *right != Right::Webhooks));
    for rights in [others, Rights::read_only()] {
        for (method, body) in [(Method::GET, ""), (Method::POST, BODY)] {
            let reply = ask(&api, rights.clone(), method, Target::Webhooks, body).await;
            assert_eq!(reply.status, StatusCode::FORBIDDEN);
        }
    }
    assert_eq!("webhooks.manage".parse(), Ok(Right::Webhooks));
}

/// HOOK-03: a webhook is told of kinds that its key may read, and of no others.
#[tokio::test]
async fn a_webhook_tells_what_its_key_may_read() {
    let store = Arc::new(MemoryStore::new());
    let (api, rights) = (api(&store), only(&["webhooks.manage", "people.read", "tags.read"]));
    let refused = r#"{"url": "https://hooks.example.org/", "kinds": ["person", "donation"]}"#;
    let reply = ask(&api, rights.clone(), Method::POST, Target::Webhooks, refused).await;
    let text = String::from_utf8_lossy(&reply.body).into_owned();
    assert!(reply.status == StatusCode::BAD_REQUEST && text.contains(r#""kinds[1]""#), "{text}");
    let made = ask(&api, rights, Method::POST, Target::Webhooks, BODY).await;
    assert_eq!(made.status, StatusCode::CREATED);
    let all = store.webhooks(&Tenant::new("acme")).await.unwrap();
    let [stored] = all.as_slice() else { panic!("{all:?}") };
    let webhook = Webhook::read(stored).unwrap();
    assert_eq!(webhook.kinds, [Kind::Person, Kind::Tag]);
    // What is logged of it has no secret in it.
    assert!(!format!("{stored:?} {webhook:?} {api:?}").contains(webhook.secrets[0].0.reveal()));
}

/// HOOK-04: whatever is wrong is told at once, and what a webhook shows may be sent back.
#[tokio::test]
async fn all_that_is_wrong_is_told_at_once() {
    let api = api(&Arc::new(MemoryStore::new()));
    let wrong = r#"{"url": "http://10.0.0.1/", "kinds": [], "events": ["created", "no"], "status": 1, "even": true}"#;
    let reply = ask(&api, Rights::all(), Method::POST, Target::Webhooks, wrong).await;
    let text = String::from_utf8_lossy(&reply.body).into_owned();
    for name in ["\"url\"", "\"kinds\"", "\"events[1]\"", "\"status\"", "\"even\""] {
        assert!(text.contains(name), "{name}: {text}");
    }
    let made = ask(&api, Rights::all(), Method::POST, Target::Webhooks, BODY).await;
    let own = made.header("location").unwrap().strip_prefix("http://localhost/").unwrap().to_owned();
    let target = || api.route(&own).unwrap();
    let read = ask(&api, Rights::all(), Method::GET, target(), "").await;
    let body = String::from_utf8_lossy(&read.body).into_owned();
    let again = ask(&api, Rights::all(), Method::PUT, target(), &body).await;
    assert_eq!(again.status, StatusCode::OK, "{}", String::from_utf8_lossy(&again.body));
    let url = |reply: &Reply| serde_json::from_slice::<Value>(&reply.body).unwrap()["url"].clone();
    assert_eq!(url(&again), url(&read));
    assert_eq!(ask(&api, Rights::all(), Method::POST, Target::Webhooks, "").await.status, StatusCode::BAD_REQUEST);
}

/// HOOK-01: a tenant has so many webhooks and no more.
#[tokio::test]
async fn there_are_so_many_webhooks_and_no_more() {
    let api = api(&Arc::new(MemoryStore::new()));
    for _ in 0..MOST_WEBHOOKS {
        assert_eq!(ask(&api, Rights::all(), Method::POST, Target::Webhooks, BODY).await.status, StatusCode::CREATED);
    }
    assert_eq!(ask(&api, Rights::all(), Method::POST, Target::Webhooks, BODY).await.status, StatusCode::BAD_REQUEST);
}

/// HOOK-01: without a change feed there is nothing to tell; and without webhooks nothing is there.
#[tokio::test]
async fn webhooks_need_a_change_feed() {
    let store = Arc::new(MemoryStore::new());
    let bare = || {
        let api =
            Api::builder(Vendor::new("Acme", "CRM")).base_url("http://localhost/").authenticator(FixedKeys::new());
        api.store(&store)
    };
    let error = bare().webhooks(&store).build().unwrap_err();
    assert!(error.problems().iter().any(|problem| problem.contains(".changes(")), "{error}");
    let api = bare().build().unwrap();
    assert!(!api.has_webhooks() && api.webhook_parts().is_none());
    let reply = ask(&api, Rights::all(), Method::GET, Target::Webhooks, "").await;
    assert_eq!(reply.status, StatusCode::INTERNAL_SERVER_ERROR);
}

//! Webhooks of an in-memory store, without HTTP.
//!
//! Requirements: HOOK-01 to HOOK-06.

use std::sync::Arc;

use http::{Method, StatusCode};

use serde_json::Value;
use svc_core::{
    Api, Vendor,
    api::{Request, Response},
    auth::{Caller, FixedKeys, Identity, Operation, Principal, Right, Rights, Tenant},
    backend::WebhookStore,
    link::Target,
    model::Kind,
    value::Timestamp,
    webhooks::{MAX_WEBHOOKS, Webhook, disable_webhooks},
};
use svc_store::memory::MemoryStore;

fn api(store: &Arc<MemoryStore>) -> Api {
    let api = Api::builder(Vendor::new("Acme", "CRM"))
        .base_url("http://localhost/")
        .authenticator(FixedKeys::new());
    api.store(store)
        .change_feed(store)
        .webhooks(store)
        .build()
        .unwrap()
}

async fn ask(api: &Api, rights: Rights, method: Method, target: Target, body: &str) -> Response {
    let identity = Identity::Authenticated(Principal::new(
        Tenant::new("acme"),
        Caller::with_rights(rights),
    ));
    api.handle(
        identity,
        Request::new(&method, target).with_body(body.to_owned()),
    )
    .await
}

fn only(rights: &[&str]) -> Rights {
    Rights::only(rights.iter().map(|right| right.parse::<Right>().unwrap()))
}

const BODY: &str = r#"{"url": "https://hooks.example.org/"}"#;

/// HOOK-03: neither the rights to all records nor the read rights include the right to manage
/// webhooks.
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

/// HOOK-03: a webhook receives only the kinds that its key may read.
#[tokio::test]
async fn a_webhook_tells_what_its_key_may_read() {
    let store = Arc::new(MemoryStore::new());
    let (api, rights) = (
        api(&store),
        only(&["webhooks.manage", "people.read", "tags.read"]),
    );
    let refused = r#"{"url": "https://hooks.example.org/", "kinds": ["person", "donation"]}"#;
    let reply = ask(
        &api,
        rights.clone(),
        Method::POST,
        Target::Webhooks,
        refused,
    )
    .await;
    let text = String::from_utf8_lossy(&reply.body).into_owned();
    assert!(
        reply.status == StatusCode::BAD_REQUEST && text.contains(r#""kinds[1]""#),
        "{text}"
    );
    let made = ask(&api, rights, Method::POST, Target::Webhooks, BODY).await;
    assert_eq!(made.status, StatusCode::CREATED);
    let all = store.list_webhooks(&Tenant::new("acme")).await.unwrap();
    let [stored] = all.as_slice() else {
        panic!("{all:?}")
    };
    let webhook = Webhook::from_stored(stored).unwrap();
    assert_eq!(webhook.kinds, [Kind::Person, Kind::Tag]);
    // Its debug output contains no secret.
    assert!(!format!("{stored:?} {webhook:?} {api:?}").contains(webhook.secrets[0].0.reveal()));
}

/// UND-22: members that the server sets are handled as in records: an error if the client asks for
/// errors, otherwise a warning. A change accepts those that are equal to the stored ones.
#[tokio::test]
async fn a_secret_of_the_client_is_not_taken_silently() {
    let api = api(&Arc::new(MemoryStore::new()));
    let body = r#"{"url": "https://hooks.example.org/", "secret": "mine", "_links": {}}"#;
    let send = async |method: Method, target: Target, prefer: &str| {
        let headers = [(
            http::header::HeaderName::from_static("prefer"),
            prefer.parse().unwrap(),
        )];
        let headers: http::HeaderMap = headers.into_iter().collect();
        let request = Request::new(&method, target)
            .with_body(body)
            .with_headers(&headers);
        let principal = Principal::new(Tenant::new("acme"), Caller::with_rights(Rights::all()));
        let reply = api
            .handle(Identity::Authenticated(principal), request)
            .await;
        let json: Value = serde_json::from_slice(&reply.body).unwrap();
        (reply, json)
    };
    let codes = |problems: &Value| -> Vec<String> {
        let all = problems.as_array().into_iter().flatten();
        all.map(|it| format!("{} {}", it["error_code"], it["properties"][0]).replace('"', ""))
            .collect()
    };
    let kept = ["PROPERTY_READ_ONLY secret", "PROPERTY_READ_ONLY _links"];
    let (refused, json) = send(Method::POST, Target::Webhooks, "handling=strict").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{json}");
    assert_eq!(
        codes(&json["svc:error"]["resource_status"][0]["error_descriptions"]),
        kept
    );
    let (made, json) = send(Method::POST, Target::Webhooks, "return=minimal").await;
    assert_eq!(made.status, StatusCode::CREATED);
    assert_eq!(codes(&json["ext:warnings"]), kept);
    assert_ne!(json["secret"], "mine");
    let own = made
        .header("location")
        .unwrap()
        .replace("http://localhost/", "");
    let again = String::from_utf8_lossy(&made.body).into_owned();
    let target = api.route(&own).unwrap();
    let again = ask(&api, Rights::all(), Method::PUT, target, &again).await;
    assert_eq!(again.status, StatusCode::OK, "with its warnings");
    let json: Value = serde_json::from_slice(&again.body).unwrap();
    assert_eq!(
        json["ext:warnings"],
        Value::Null,
        "the secret is the own one"
    );
    let (changed, json) = send(Method::PUT, api.route(&own).unwrap(), "wait=1").await;
    assert_eq!(changed.status, StatusCode::OK);
    assert_eq!(codes(&json["ext:warnings"]), kept);
    let (refused, _) = send(Method::PUT, api.route(&own).unwrap(), "handling=strict").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
}

/// HOOK-04: all problems are reported together, and a client may send back what it has read.
#[tokio::test]
async fn all_that_is_wrong_is_told_at_once() {
    let api = api(&Arc::new(MemoryStore::new()));
    let wrong = r#"{"url": "http://10.0.0.1/", "kinds": [], "events": ["created", "no"], "status": 1, "even": true}"#;
    let reply = ask(&api, Rights::all(), Method::POST, Target::Webhooks, wrong).await;
    let text = String::from_utf8_lossy(&reply.body).into_owned();
    for name in [
        "\"url\"",
        "\"kinds\"",
        "\"events[1]\"",
        "\"status\"",
        "\"even\"",
    ] {
        assert!(text.contains(name), "{name}: {text}");
    }
    let made = ask(&api, Rights::all(), Method::POST, Target::Webhooks, BODY).await;
    let own = made
        .header("location")
        .unwrap()
        .strip_prefix("http://localhost/")
        .unwrap()
        .to_owned();
    let target = || api.route(&own).unwrap();
    let read = ask(&api, Rights::all(), Method::GET, target(), "").await;
    let body = String::from_utf8_lossy(&read.body).into_owned();
    let again = ask(&api, Rights::all(), Method::PUT, target(), &body).await;
    assert_eq!(
        again.status,
        StatusCode::OK,
        "{}",
        String::from_utf8_lossy(&again.body)
    );
    let url =
        |reply: &Response| serde_json::from_slice::<Value>(&reply.body).unwrap()["url"].clone();
    assert_eq!(url(&again), url(&read));
    assert_eq!(
        ask(&api, Rights::all(), Method::POST, Target::Webhooks, "")
            .await
            .status,
        StatusCode::BAD_REQUEST
    );
}

/// HOOK-01: the number of webhooks of a tenant is limited.
#[tokio::test]
async fn there_are_so_many_webhooks_and_no_more() {
    let api = api(&Arc::new(MemoryStore::new()));
    for _ in 0..MAX_WEBHOOKS {
        assert_eq!(
            ask(&api, Rights::all(), Method::POST, Target::Webhooks, BODY)
                .await
                .status,
            StatusCode::CREATED
        );
    }
    assert_eq!(
        ask(&api, Rights::all(), Method::POST, Target::Webhooks, BODY)
            .await
            .status,
        StatusCode::BAD_REQUEST
    );
}

/// HOOK-01: webhooks need a change feed, and an API without webhooks does not offer them.
#[tokio::test]
async fn webhooks_need_a_change_feed() {
    let store = Arc::new(MemoryStore::new());
    let bare = || {
        let api = Api::builder(Vendor::new("Acme", "CRM"))
            .base_url("http://localhost/")
            .authenticator(FixedKeys::new());
        api.store(&store)
    };
    let error = bare().webhooks(&store).build().unwrap_err();
    assert!(
        error
            .problems()
            .iter()
            .any(|problem| problem.contains(".change_feed(")),
        "{error}"
    );
    let api = bare().build().unwrap();
    assert!(!api.has_webhooks() && api.webhook_sources().is_none());
    let reply = ask(&api, Rights::all(), Method::GET, Target::Webhooks, "").await;
    assert_eq!(reply.status, StatusCode::INTERNAL_SERVER_ERROR);
}

/// Creates a caller whose key has a name.
async fn ask_as(
    api: &Api,
    (key, rights): (&str, &Rights),
    method: Method,
    target: Target,
    body: &str,
) -> Response {
    let identity = Identity::Authenticated(Principal::new(
        Tenant::new("acme"),
        Caller::with_rights(rights.clone()).with_key_name(key),
    ));
    api.handle(
        identity,
        Request::new(&method, target).with_body(body.to_owned()),
    )
    .await
}

fn json(reply: &Response) -> Value {
    serde_json::from_slice(&reply.body).unwrap_or_default()
}

/// Creates a webhook and returns its path.
async fn create(api: &Api, caller: (&str, &Rights), body: &str) -> String {
    let made = ask_as(api, caller, Method::POST, Target::Webhooks, body).await;
    assert_eq!(
        made.status,
        StatusCode::CREATED,
        "{}",
        String::from_utf8_lossy(&made.body)
    );
    made.header("location")
        .unwrap()
        .strip_prefix("http://localhost/")
        .unwrap()
        .to_owned()
}

/// HOOK-03: for each kind, a key that may read all other kinds cannot read, change or delete a
/// webhook of that kind, on any route.
#[tokio::test]
async fn a_webhook_belongs_to_those_who_may_read_its_kinds() {
    let store = Arc::new(MemoryStore::new());
    let api = api(&store);
    let tenant = Tenant::new("acme");
    for kind in Kind::ALL {
        let others = Rights::only(
            Right::all().filter(|right| *right != Right::Operation(*kind, Operation::Read)),
        );
        let body = format!(
            r#"{{"url": "https://hooks.example.org/", "kinds": ["tag", "{}"]}}"#,
            kind.singular()
        );
        let own = create(&api, ("owner", &Rights::all()), &body).await;
        let before = store.list_webhooks(&tenant).await.unwrap();
        let list = ask_as(&api, ("other", &others), Method::GET, Target::Webhooks, "").await;
        assert_eq!(
            json(&list)["_embedded"]["ext:webhooks"],
            serde_json::json!([]),
            "{kind:?}"
        );
        let requests = [
            (Method::GET, own.clone(), ""),
            (
                Method::PUT,
                own.clone(),
                r#"{"url": "https://other.example.org/"}"#,
            ),
            (Method::PUT, own.clone(), r#"{"kinds": ["tag"]}"#),
            (Method::PUT, own.clone(), r#"{"status": "paused"}"#),
            (Method::PUT, own.clone(), r#"{"url": 1}"#),
            (Method::POST, format!("{own}/redeliver"), "{}"),
            (
                Method::POST,
                format!("{own}/redeliver"),
                r#"{"after": "no such cursor"}"#,
            ),
            (Method::POST, format!("{own}/rotate_secret"), ""),
            (Method::DELETE, own.clone(), ""),
        ];
        for (method, path, body) in requests {
            let reply = ask_as(
                &api,
                ("other", &others),
                method.clone(),
                api.route(&path).unwrap(),
                body,
            )
            .await;
            let text = String::from_utf8_lossy(&reply.body).into_owned();
            assert_eq!(
                reply.status,
                StatusCode::FORBIDDEN,
                "{kind:?}: {method} {path} {body}: {text}"
            );
            assert!(!text.contains("hooks.example.org"), "{text}");
        }
        assert_eq!(
            store.list_webhooks(&tenant).await.unwrap(),
            before,
            "{kind:?}"
        );
        let gone = ask(
            &api,
            Rights::all(),
            Method::DELETE,
            api.route(&own).unwrap(),
            "",
        )
        .await;
        assert_eq!(gone.status, StatusCode::NO_CONTENT);
    }
}

/// `created_by` is the key that created the webhook. `changed_by` is the last other key that
/// changed its `url` or `kinds`.
///
/// Requirements: HOOK-15.
#[tokio::test]
async fn a_webhook_shows_who_changed_its_receiver() {
    let api = api(&Arc::new(MemoryStore::new()));
    let all = Rights::all();
    let own = create(&api, ("first", &all), BODY).await;
    let put = async |key: &str, body: &str| {
        json(
            &ask_as(
                &api,
                (key, &all),
                Method::PUT,
                api.route(&own).unwrap(),
                body,
            )
            .await,
        )
    };
    let unchanged = [
        put("first", r#"{"url": "https://new.example.org/"}"#).await,
        put("second", r#"{"url": "https://new.example.org/"}"#).await,
        put("second", r#"{"events": ["created"], "status": "paused"}"#).await,
        put("second", r#"{"status": "active"}"#).await,
    ];
    for document in unchanged {
        assert_eq!(
            (&document["created_by"], &document["changed_by"]),
            (&"first".into(), &Value::Null),
            "{document}"
        );
    }
    for (key, body) in [
        ("second", r#"{"url": "https://second.example.org/"}"#),
        ("third", r#"{"kinds": ["tag"]}"#),
    ] {
        let document = put(key, body).await;
        assert_eq!(
            (&document["created_by"], &document["changed_by"]["key"]),
            (&"first".into(), &key.into())
        );
        assert_eq!(document["changed_by"]["at"], document["modified_date"]);
    }
    // A client cannot set these members.
    let document = put("third", r#"{"created_by": "third", "changed_by": null}"#).await;
    assert_eq!(
        (&document["created_by"], &document["changed_by"]["key"]),
        (&"first".into(), &"third".into())
    );
    let list = json(&ask(&api, all.clone(), Method::GET, Target::Webhooks, "").await);
    assert_eq!(
        list["_embedded"]["ext:webhooks"][0]["changed_by"]["key"],
        "third"
    );
    let unnamed = ask(
        &api,
        all.clone(),
        Method::PUT,
        api.route(&own).unwrap(),
        r#"{"kinds": ["person"]}"#,
    )
    .await;
    let document = json(&unnamed);
    assert!(
        document["changed_by"]["key"].is_null() && document["changed_by"]["at"].is_string(),
        "{document}"
    );
}

/// Revoking a key disables exactly the webhooks that it created, whose `url` it set, or that name
/// it in `changed_by`.
///
/// Requirements: HOOK-16.
#[tokio::test]
async fn the_webhooks_of_a_revoked_key_are_disabled() {
    let store = Arc::new(MemoryStore::new());
    let (api, all, tenant) = (api(&store), Rights::all(), Tenant::new("acme"));
    let created = create(&api, ("leaver", &all), BODY).await;
    let redirected = create(&api, ("other", &all), BODY).await;
    let untouched = create(&api, ("other", &all), BODY).await;
    let elsewhere = r#"{"url": "https://elsewhere.example.org/"}"#;
    ask_as(
        &api,
        ("leaver", &all),
        Method::PUT,
        api.route(&redirected).unwrap(),
        elsewhere,
    )
    .await;
    // If another key changes the kinds later, the receiver still counts as set by the revoked key.
    let narrower = r#"{"kinds": ["tag"]}"#;
    ask_as(
        &api,
        ("third", &all),
        Method::PUT,
        api.route(&redirected).unwrap(),
        narrower,
    )
    .await;
    let now = Timestamp::now();
    assert_eq!(
        disable_webhooks(&store, &tenant, "leaver", now)
            .await
            .unwrap(),
        2
    );
    assert_eq!(
        disable_webhooks(&store, &tenant, "leaver", now)
            .await
            .unwrap(),
        0,
        "a repeated call does nothing"
    );
    assert_eq!(
        disable_webhooks(&store, &Tenant::new("other"), "other", now)
            .await
            .unwrap(),
        0,
        "another tenant"
    );
    let status = async |own: &str| {
        json(
            &ask(
                &api,
                Rights::all(),
                Method::GET,
                api.route(own).unwrap(),
                "",
            )
            .await,
        )["status"]
            .clone()
    };
    assert_eq!(
        (
            status(&created).await,
            status(&redirected).await,
            status(&untouched).await
        ),
        ("disabled".into(), "disabled".into(), "active".into())
    );
    let due = store
        .list_due_webhooks(
            now.saturating_add(std::time::Duration::from_secs(60)),
            None,
            100,
        )
        .await
        .unwrap();
    assert_eq!(due.len(), 1, "only the active one is due");
    // Another key sends back what it has read, and so takes the webhook over.
    let sent = ask_as(
        &api,
        ("other", &all),
        Method::PUT,
        api.route(&created).unwrap(),
        r#"{"status": "disabled"}"#,
    )
    .await;
    assert_eq!(
        (sent.status, &json(&sent)["status"]),
        (StatusCode::OK, &"disabled".into())
    );
    for status in ["paused", "active"] {
        let body = format!(r#"{{"status": "{status}"}}"#);
        let resumed = json(
            &ask_as(
                &api,
                ("other", &all),
                Method::PUT,
                api.route(&created).unwrap(),
                &body,
            )
            .await,
        );
        assert_eq!(
            (&resumed["status"], &resumed["changed_by"]["key"]),
            (&status.into(), &"other".into())
        );
    }
    assert_eq!(
        disable_webhooks(&store, &tenant, "other", now)
            .await
            .unwrap(),
        2,
        "the webhook that was taken over, and the unchanged one"
    );
}

/// HOOK-04: a key that may read no kind cannot create a webhook, because it would never send
/// anything.
#[tokio::test]
async fn a_key_that_reads_nothing_gets_no_webhook() {
    let store = Arc::new(MemoryStore::new());
    let api = api(&store);
    for body in [
        BODY,
        r#"{"url": "https://hooks.example.org/", "kinds": []}"#,
    ] {
        let reply = ask(
            &api,
            only(&["webhooks.manage"]),
            Method::POST,
            Target::Webhooks,
            body,
        )
        .await;
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert!(
            reply.status == StatusCode::BAD_REQUEST && text.contains(r#""kinds""#),
            "{text}"
        );
    }
    assert!(
        store
            .list_webhooks(&Tenant::new("acme"))
            .await
            .unwrap()
            .is_empty()
    );
}

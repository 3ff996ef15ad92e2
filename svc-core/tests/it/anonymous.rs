//! What anonymous callers cannot change and cannot learn.
//!
//! Requirements: HLP-04, HLP-07, UND-24.

use serde_json::{Value, json};
use svc_core::helper::AnonymousPolicy;

use crate::support::server::{Answered, Server};

/// Creates a petition and returns the path of its signature helper.
fn signing(server: &Server) -> String {
    format!(
        "{}/record_signature_helper",
        server.made("petitions", r#"{"title":"P"}"#)
    )
}

/// Returns the number of people with a tag.
fn tagged(server: &Server, tag: &str) -> usize {
    server.get(&format!("{tag}/taggings")).json["total_records"]
        .as_u64()
        .and_then(|it| usize::try_from(it).ok())
        .unwrap()
}

/// A known person does not change: addresses, consent, identifiers and match keys stay the same.
#[test]
fn hlp_04_a_known_person_stays_as_it_is() {
    let server = Server::with(|api| api);
    let helper = signing(&server);
    let victim = server.made(
        "people",
        r#"{"email_addresses":[{"address":"victim@example.org"}],"phone_numbers":[{"number":"15550100"}]}"#,
    );
    let before = server.get(&victim).text;
    let address = json!({"address": "victim@example.org"});
    let attacker =
        json!({"address": "attacker@evil.example", "primary": true, "status": "subscribed"});
    for (before_it, more) in [
        json!({"email_addresses": [address, attacker]}),
        json!({"email_addresses": [{"address": "VICTIM@example.org ", "primary": true, "status": "subscribed"}]}),
        json!({"email_addresses": [address], "identifiers": ["shop:1001", "crm:person-1"]}),
        json!({"email_addresses": [address], "phone_numbers": [
            {"number": "15550100", "do_not_call": false, "sms_capable": true, "primary": true}, {"number": "15550199"},
        ]}),
        json!({"email_addresses": [address], "custom_fields": {"gdpr_consent": "yes"}, "given_name": "Eve"}),
    ]
    .into_iter()
    .enumerate()
    {
        let answer = server.post_unknown(&helper, &json!({"person": more}).to_string());
        assert_eq!((answer.status, answer.text.as_str()), (200, "{}"), "HLP-07 {more}");
        assert_eq!(server.get(&victim).text, before, "HLP-04 {more}");
        let signatures = server.get(&format!("{victim}/signatures")).json["total_records"].as_u64();
        assert_eq!(signatures, Some(before_it as u64 + 1), "HLP-04: the action is recorded for that person");
    }
    let found = server.post(
        "people/person_signup",
        r#"{"person":{"email_addresses":[{"address":"attacker@evil.example"}]}}"#,
    );
    assert_ne!(
        found.link("self"),
        Some(victim.as_str()),
        "HLP-04: the new address does not match the person"
    );
    let synced = server.post(
        "people",
        r#"{"identifiers":["shop:1001"],"given_name":"Bob"}"#,
    );
    assert_eq!(
        synced.status, 201,
        "UND-24: the person got no identifier: {}",
        synced.text
    );
}

/// Neither an identifier of the server nor a foreign one matches a person for an anonymous caller.
#[test]
fn hlp_04_a_stranger_is_matched_by_address_only() {
    let server = Server::with(|api| api);
    let helper = signing(&server);
    let victim = server.made("people", r#"{"identifiers":["web:7"],"given_name":"Ada"}"#);
    let before = server.get(&victim).text;
    let evil = json!([{"address": "evil1@evil.example", "primary": true}]);
    for identifier in ["crm:person-1", "web:7", "crm:person-99", "web:8"] {
        let body = json!({"person": {"identifiers": [identifier], "email_addresses": evil}});
        assert_eq!(
            server.post_unknown(&helper, &body.to_string()).text,
            "{}",
            "HLP-07 {identifier}"
        );
        assert_eq!(server.get(&victim).text, before, "HLP-04 {identifier}");
    }
    let found = server.post(
        "people/person_signup",
        &json!({"person": {"email_addresses": evil}}).to_string(),
    );
    assert_ne!(found.link("self"), Some(victim.as_str()), "HLP-04");
    assert_eq!(
        found.json["identifiers"].as_array().map(Vec::len),
        Some(1),
        "a new person has no identifiers from an anonymous caller"
    );
}

/// An identifier of an action reveals nothing and gives no access to its person.
///
/// Requirements: UND-24, UND-29.
#[test]
fn und_24_a_strangers_action_is_answered_alike_whatever_is_there() {
    let server = Server::with(|api| api);
    let (helper, other) = (signing(&server), signing(&server));
    let tag = server.made("tags", r#"{"name":"known"}"#);
    let body = r#"{"identifiers":["web:12345"],"person":{"given_name":"Ada"}}"#;
    let signed = server.post(&helper, body).link("self").unwrap().to_owned();
    server.post(
        &other,
        r#"{"identifiers":["web:2"],"person": {"given_name": "Ada"}}"#,
    );
    let before = server.get(&signed).text;
    let own = server.get(&signed).json["identifiers"][0]
        .as_str()
        .unwrap()
        .to_owned();
    let ask = |identifier: &str, more: Value| {
        let mut body = json!({"identifiers": [identifier]});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        server.post_unknown(&helper, &body.to_string())
    };
    let shown = |answer: Answered| (answer.status, answer.text);
    for more in [
        json!({}),
        json!({"person": {"email_addresses": [{"address": "eve@example.org"}]}}),
        json!({"add_tags": ["known"]}),
        json!({"person": {"given_name": "Eve"}, "add_tags": ["unknown"]}),
    ] {
        let expected = shown(ask("web:none", more.clone()));
        for identifier in ["web:12345", "web:2", &own, "crm:signature-99"] {
            assert_eq!(
                shown(ask(identifier, more.clone())),
                expected,
                "HLP-07 {identifier} {more}"
            );
        }
    }
    assert_eq!(
        server.get(&signed).text,
        before,
        "UND-24: the recorded action does not change"
    );
    assert_eq!(
        tagged(&server, &tag),
        0,
        "UND-29: the action gives no access to its person"
    );
}

/// What a server withholds from anonymous callers fails as if it did not exist.
///
/// Requirements: HAF-03, HAF-05, ERR-38.
#[test]
fn haf_01_a_server_says_what_strangers_may_use() {
    let body = |tag: &str| json!({"person": {"given_name": "A"}, "add_tags": [tag]}).to_string();
    let with = |strangers: AnonymousPolicy| {
        let server = Server::with(|api| api.anonymous_policy(strangers));
        let helper = signing(&server);
        for name in ["open", "closed"] {
            server.made("tags", &json!({"name": name}).to_string());
        }
        (server, helper)
    };
    let (server, helper) = with(AnonymousPolicy::new().allowed_tags(["open"]));
    assert_eq!(
        server.post_unknown(&helper, &body("open")).status,
        200,
        "HAF-02"
    );
    let told = |answer: Answered| answer.entries();
    let closed = told(server.post_unknown(&helper, &body("closed")));
    assert_eq!(
        closed,
        told(server.post_unknown(&helper, &body("none"))),
        "HAF-03: the same response as for a tag that does not exist"
    );
    assert_eq!(
        server.post(&helper, &body("closed")).status,
        200,
        "HAF-02: with a key"
    );
    let (server, helper) = with(AnonymousPolicy::new().without_action_functions());
    let refused = told(server.post_unknown(&helper, &body("open")));
    assert!(
        refused
            .iter()
            .any(|(_, status, codes)| *status == 500 && codes.join(" ").contains("NOT_SUPPORTED")),
        "{refused:?}"
    );
    assert_eq!(
        server.post(&helper, &body("open")).status,
        200,
        "HAF-02: with a key"
    );
}

/// HAF-14: a store that cannot limit what anonymous callers trigger must not offer it to them.
#[test]
fn haf_14_triggers_without_a_key_need_a_store_that_limits_them() {
    use std::sync::Arc;

    use svc_core::{
        Api, Context, ListRequest, Result, Tenant, Vendor,
        auth::FixedKeys,
        backend::{DeliveryOutcome, OutboxEntry},
        link::RecordAddress,
        model::Kind,
        raw::{RawPage, RawRecord},
        store::{LookupKey, Outbox, Store, WriteOutcome, WriteRequest},
    };
    use svc_store::memory::MemoryStore;

    /// A store with an outbox, but without stored responses.
    struct Forgetful(Arc<MemoryStore>);

    #[async_trait::async_trait]
    impl Store for Forgetful {
        async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage> {
            self.0.list(cx, kind, request).await
        }

        async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
            self.0.get(cx, at).await
        }

        async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>> {
            self.0.find(cx, key).await
        }

        async fn write(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome> {
            self.0.write(cx, call).await
        }

        fn outbox(self: Arc<Self>) -> Option<Arc<dyn Outbox>> {
            Arc::clone(&self.0).outbox()
        }
    }

    fn built<S: Store>(store: S, strangers: AnonymousPolicy) -> std::result::Result<Api, String> {
        let api = Api::builder(Vendor::new("Acme", "CRM"))
            .base_url("http://localhost/")
            .anonymous_policy(strangers);
        let api = api.authenticator(FixedKeys::new()).store(&Arc::new(store));
        let built = api
            .delivery(|_: &Tenant, _: &OutboxEntry| Ok(DeliveryOutcome::Sent))
            .build();
        built.map_err(|error| error.to_string())
    }

    let forgetful = || Forgetful(Arc::new(MemoryStore::new()));
    assert!(built(MemoryStore::new(), AnonymousPolicy::new().with_triggers()).is_ok());
    assert!(built(forgetful(), AnonymousPolicy::new()).is_ok());
    assert!(
        built(
            forgetful(),
            AnonymousPolicy::new()
                .with_triggers()
                .without_action_functions()
        )
        .is_ok(),
        "no server response is triggered"
    );
    let refused = built(forgetful(), AnonymousPolicy::new().with_triggers()).unwrap_err();
    assert!(refused.contains(".with_triggers()"), "{refused}");
}

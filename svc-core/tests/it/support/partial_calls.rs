//! Helper requests with failed parts, repeated with their `Idempotency-Key`.
//!
//! Requirements: IDM-01 to IDM-04, IDM-08, ERR-29.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};
use svc_core::{
    Api, Tenant,
    api::Request,
    auth::{Caller, Identity, Principal, Rights},
};

/// A client of an API that stores responses.
pub(crate) struct RepeatingClient {
    pub(crate) api: Api,
    pub(crate) tenant: Tenant,
}

/// A response, with its `Idempotency-Replayed`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Repeated {
    pub(crate) status: u16,
    pub(crate) replayed: Option<String>,
    pub(crate) body: Bytes,
}

impl Repeated {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Returns the URL of the record.
    pub(crate) fn href(&self) -> String {
        href(&self.json())
    }

    /// Returns the URL of the person in a report.
    pub(crate) fn person(&self) -> String {
        href(&self.json()["svc:person"])
    }

    fn marked(&self) -> (u16, Option<&str>) {
        (self.status, self.replayed.as_deref())
    }

    /// Returns the status of each entry of a report, and its first description.
    fn entries(&self) -> Vec<(String, u64, String)> {
        let json = self.json();
        let entries = json["svc:error"]["resource_status"].as_array();
        let entries = entries.unwrap_or_else(|| panic!("no report: {json}"));
        let entry = |entry: &Value| {
            let text = entry["error_descriptions"][0]["description"].as_str();
            (
                entry["resource"].as_str().unwrap_or_default().to_owned(),
                entry["response_code"].as_u64().unwrap_or_default(),
                text.unwrap_or_default().to_owned(),
            )
        };
        entries.iter().map(entry).collect()
    }
}

fn href(record: &Value) -> String {
    record["_links"]["self"]["href"]
        .as_str()
        .unwrap_or_else(|| panic!("no self: {record}"))
        .to_owned()
}

impl RepeatingClient {
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        key: Option<&'static str>,
        body: &Value,
    ) -> Repeated {
        let base = self.api.base_url();
        let path = path.strip_prefix(base.as_str()).unwrap_or(path);
        let headers: HeaderMap = key
            .into_iter()
            .map(|key| {
                let name = http::HeaderName::from_static("idempotency-key");
                (name, HeaderValue::from_static(key))
            })
            .collect();
        let mut request = Request::new(&method, path).with_headers(&headers);
        if !body.is_null() {
            request = request.with_body(body.to_string());
        }
        let caller = Caller::with_rights(Rights::all());
        let who = Identity::Authenticated(Principal::new(self.tenant.clone(), caller));
        let reply = self.api.handle(who, request).await;
        Repeated {
            status: reply.status.as_u16(),
            replayed: reply.header("idempotency-replayed").map(str::to_owned),
            body: reply.body,
        }
    }

    /// Sends a `POST` with a key.
    pub(crate) async fn post(&self, path: &str, key: &'static str, body: &Value) -> Repeated {
        self.send(Method::POST, path, Some(key), body).await
    }

    /// Creates a record and returns its URL.
    pub(crate) async fn make(&self, collection: &str, body: Value) -> String {
        let made = self.send(Method::POST, collection, None, &body).await;
        assert_eq!(made.status, 201, "{collection}: {}", made.json());
        made.href()
    }

    pub(crate) async fn delete(&self, path: &str) {
        let deleted = self.send(Method::DELETE, path, None, &Value::Null).await;
        assert_eq!(deleted.status, 204, "{path}: {}", deleted.json());
    }

    /// Returns the total of a collection.
    pub(crate) async fn total(&self, collection: &str) -> u64 {
        let page = self.send(Method::GET, collection, None, &Value::Null).await;
        let json = page.json();
        json["total_records"]
            .as_u64()
            .unwrap_or_else(|| panic!("{collection}: {json}"))
    }

    async fn named(&self, collection: &str, name: &str) -> String {
        self.make(collection, json!({ "name": name })).await
    }
}

pub(crate) fn ada() -> Value {
    json!({"given_name": "Ada", "email_addresses": [{"address": "ada@example.org"}]})
}

/// Checks a signature with tags, lists and answers of which some fail: they are executed when they
/// can succeed, once each, and the rest is not executed again.
pub(crate) async fn check_failed_parts(client: &RepeatingClient) {
    client.named("tags", "here").await;
    let petition = client.make("petitions", json!({"title": "p"})).await;
    let helper = format!("{petition}/record_signature_helper");
    let body = json!({
        "person": ada(),
        "add_tags": ["here", "later", "last"],
        "add_lists": ["later"],
        "add_questions_responses_uri": [{"question": "q:1", "value": "yes"}],
    });
    let send = async || client.post(&helper, "k", &body).await;
    let first = send().await;
    assert_eq!(first.marked(), (400, None), "ERR-30");
    let statuses = |reply: &Repeated| -> Vec<(String, u64)> {
        let entries = reply.entries().into_iter();
        entries
            .map(|(resource, status, text)| {
                assert_eq!(text.is_empty(), status < 400, "{resource}: {text}");
                (resource, status)
            })
            .collect()
    };
    let expected = |codes: [u64; 7]| -> Vec<(String, u64)> {
        let resources = [
            "svc:person",
            "svc:signature",
            "svc:tagging",
            "svc:tagging",
            "svc:tagging",
            "svc:item",
            "svc:answer",
        ];
        resources
            .map(str::to_owned)
            .into_iter()
            .zip(codes)
            .collect()
    };
    assert_eq!(
        statuses(&first),
        expected([201, 201, 201, 400, 400, 400, 400])
    );
    let texts = first.entries();
    assert!(
        texts[3].2.contains("later") && texts[4].2.contains("last"),
        "each entry names its tag: {texts:?}"
    );
    let person = first.person();
    let totals = async || {
        let mut all = vec![client.total("people").await];
        for members in ["signatures", "taggings", "items", "answers"] {
            all.push(client.total(&format!("{person}/{members}")).await);
        }
        let petition = client.send(Method::GET, &petition, None, &Value::Null);
        all.extend(petition.await.json()["total_signatures"].as_u64());
        all
    };
    assert_eq!(totals().await, [1, 1, 1, 0, 0, 1]);

    let again = send().await;
    assert_eq!(again.marked(), (400, Some("true")), "nothing can succeed");
    assert_eq!(again.body, first.body, "IDM-02");

    // The tag of the part that succeeded is not added again.
    let taggings = client
        .send(
            Method::GET,
            &format!("{person}/taggings"),
            None,
            &Value::Null,
        )
        .await;
    client
        .delete(&href(&taggings.json()["_embedded"]["svc:taggings"][0]))
        .await;
    client.named("tags", "later").await;
    let question = json!({"question_type": "Paragraph", "identifiers": ["q:1"]});
    client.make("questions", question).await;
    let second = send().await;
    assert_eq!(second.marked(), (400, Some("partial")), "IDM-02");
    assert_eq!(
        statuses(&second),
        expected([201, 201, 200, 201, 400, 400, 201])
    );
    assert_eq!(totals().await, [1, 1, 1, 0, 1, 1], "IDM-01");
    let again = send().await;
    assert_eq!(again.marked(), (400, Some("true")));
    assert_eq!(again.body, second.body, "IDM-02");

    let mut other = body.clone();
    other["add_tags"] = json!(["later"]);
    let other = client.post(&helper, "k", &other).await;
    assert_eq!(other.marked(), (422, None), "IDM-04");

    client.named("tags", "last").await;
    client.named("lists", "later").await;
    let third = send().await;
    assert_eq!(third.marked(), (200, Some("partial")), "{}", third.json());
    assert_eq!(totals().await, [1, 1, 2, 1, 1, 1], "IDM-01");
    let again = send().await;
    assert_eq!(again.marked(), (200, Some("true")));
    assert_eq!(again.body, third.body, "IDM-02");
    assert_eq!(again.href(), third.href());
    assert_eq!(totals().await, [1, 1, 2, 1, 1, 1], "IDM-01");
}

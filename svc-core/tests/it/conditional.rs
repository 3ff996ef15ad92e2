//! Conditional requests (ETG), with operations of a vendor and with a store that executes the
//! rules.

use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use http::{
    HeaderMap, HeaderName, HeaderValue, Method,
    header::{ETAG, IF_MATCH, IF_NONE_MATCH, IF_UNMODIFIED_SINCE},
};
use serde_json::{Value, json};
use svc_core::{
    BaseUrl, RevisionSource, Tenant,
    api::{IfMatchPolicy, Request, Response},
    auth::{Caller, Identity, Principal, Rights},
    value::Timestamp,
};
use svc_store::memory::MemoryStore;

use crate::support::{
    server::{Server, builder},
    typed_backend::Memory,
};

/// A server with conditional requests, and a client that sends headers.
struct Asked(svc_core::Api);

impl Deref for Asked {
    type Target = svc_core::Api;

    fn deref(&self) -> &svc_core::Api {
        &self.0
    }
}

impl Asked {
    /// With operations of a vendor.
    fn vendor(if_match: IfMatchPolicy) -> Self {
        Self(Server::with(|api| api.conditional_requests(if_match)).api)
    }

    /// With a store that executes the rules.
    fn store(if_match: IfMatchPolicy) -> Self {
        let store = MemoryStore::new();
        Self(
            builder()
                .store(&Arc::new(store))
                .conditional_requests(if_match)
                .build()
                .unwrap(),
        )
    }

    fn both(if_match: IfMatchPolicy) -> [(&'static str, Self); 2] {
        [
            ("a vendor's operations", Self::vendor(if_match)),
            ("a store", Self::store(if_match)),
        ]
    }

    fn send_as(&self, caller: Caller, base: &BaseUrl, request: Request<'_>) -> Response {
        let now = request
            .received_at
            .unwrap_or_else(|| Timestamp::parse("2026-01-05T09:00:00.5Z").unwrap());
        let request = request.with_base_url(base.clone()).with_received_at(now);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(self.0.handle(
            Identity::Authenticated(Principal::new(Tenant::new("one"), caller)),
            request,
        ))
    }

    fn send(
        &self,
        method: &Method,
        path: &str,
        body: &Value,
        conditions: &[(HeaderName, &str)],
    ) -> Response {
        let headers = conditions
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
        let headers: HeaderMap = headers.collect();
        let base = self.base_url();
        let path = path.strip_prefix(base.as_str()).unwrap_or(path);
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = Request::new(method, path)
            .with_query(query)
            .with_headers(&headers)
            .with_body(body);
        self.send_as(Caller::with_rights(Rights::all()), base, request)
    }

    fn get(&self, path: &str) -> Response {
        self.send(&Method::GET, path, &Value::Null, &[])
    }

    fn made(&self, path: &str, body: &Value) -> String {
        let made = self.send(&Method::POST, path, body, &[(IF_MATCH, "*")]);
        assert_eq!(made.status, 201, "{made:?}");
        made.header("location").unwrap().to_owned()
    }
}

fn tag(reply: &Response) -> String {
    reply
        .header("etag")
        .unwrap_or_else(|| panic!("no tag: {reply:?}"))
        .to_owned()
}

fn json_of(reply: &Response) -> Value {
    serde_json::from_slice(&reply.body).unwrap_or_default()
}

fn code(reply: &Response) -> Option<&'static str> {
    reply.code.map(svc_core::ErrorCode::as_str)
}

#[test]
fn etg_01_nothing_has_a_tag_unless_it_is_registered() {
    let server = Server::with(|api| api);
    let person = server.made("people", r#"{"given_name":"Ada"}"#);
    let with =
        |name, value: &'static str| HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
    let all = || Caller::with_rights(Rights::all());
    let read = server.send_with(&with(IF_NONE_MATCH, "*"), all(), &Method::GET, &person, "");
    assert_eq!(read.status, 200);
    let changed = server.send_with(&with(IF_MATCH, "\"x\""), all(), &Method::PUT, &person, "{}");
    assert_eq!(changed.status, 200);
    assert!(!server.api.behaviours().contains(&"conditional_requests"));
    let asked = Asked(server.api);
    assert_eq!(
        (
            asked.get("people").header("etag"),
            asked.get("").header("etag")
        ),
        (None, None)
    );
}

#[test]
fn etg_02_and_05_what_is_known_is_not_sent_again() {
    for (which, server) in Asked::both(IfMatchPolicy::Optional) {
        let person = server.made("people", &json!({"given_name": "Ada"}));
        for path in [
            "",
            "docs/capabilities",
            "people",
            "people?per_page=1",
            &person,
        ] {
            let whole = server.get(path);
            let known = tag(&whole);
            for named in [
                known.clone(),
                format!("W/{known}"),
                format!("\"x\",{known}"),
                "*".to_owned(),
            ] {
                for method in [Method::GET, Method::HEAD] {
                    let reply =
                        server.send(&method, path, &Value::Null, &[(IF_NONE_MATCH, &named)]);
                    assert_eq!(
                        (reply.status.as_u16(), reply.body.len()),
                        (304, 0),
                        "{which}: {path} {named}"
                    );
                    assert_eq!(tag(&reply), known);
                }
            }
            let other = server.send(
                &Method::GET,
                path,
                &Value::Null,
                &[(IF_NONE_MATCH, "\"x\"")],
            );
            assert_eq!(
                (other.status.as_u16(), &other.body),
                (200, &whole.body),
                "ETG-06 {which}: {path}"
            );
            let wrong = server.send(&Method::GET, path, &Value::Null, &[(IF_MATCH, "\"x\"")]);
            assert_eq!(
                (wrong.status.as_u16(), code(&wrong)),
                (412, Some("PRECONDITION_FAILED")),
                "{which}: {path}"
            );
        }
        let gone = server.send(
            &Method::GET,
            "people/none",
            &Value::Null,
            &[(IF_NONE_MATCH, "*")],
        );
        assert_eq!(
            (gone.status.as_u16(), gone.header("etag")),
            (404, None),
            "{which}"
        );
    }
}

#[test]
fn etg_04_representations_that_differ_have_different_tags() {
    let server = Asked::store(IfMatchPolicy::Optional);
    let petition = server.made("petitions", &json!({"title": "Trees"}));
    let other = BaseUrl::new("https://other.example.org/").unwrap();
    let path = petition.strip_prefix(server.base_url().as_str()).unwrap();
    let at = |base: &BaseUrl| {
        server.send_as(
            Caller::with_rights(Rights::all()),
            base,
            Request::new(&Method::GET, path),
        )
    };
    assert_ne!(
        tag(&at(server.base_url())),
        tag(&at(&other)),
        "another base address"
    );
    assert_ne!(
        tag(&server.get("petitions")),
        tag(&server.get("petitions?per_page=1")),
        "another query"
    );
    let before = server.get(&petition);
    let signed = server.send(
        &Method::POST,
        &format!("{petition}/record_signature_helper"),
        &json!({"person": {"given_name": "A"}}),
        &[],
    );
    assert_eq!(signed.status, 200, "{signed:?}");
    let after = server.get(&petition);
    assert_eq!(
        json_of(&before)["modified_date"],
        json_of(&after)["modified_date"],
        "TYP-16: a changed total does not change the date"
    );
    assert_ne!(
        tag(&before),
        tag(&after),
        "a changed total changes the entity tag"
    );
    let put = server.send(
        &Method::PUT,
        &petition,
        &json!({"title": "A"}),
        &[(IF_MATCH, &tag(&before))],
    );
    assert_eq!(put.status.as_u16(), 412, "412 even if only a total differs");
}

#[test]
fn etg_04_a_tag_depends_on_no_process() {
    let [one, two] = [(); 2].map(|()| {
        let server = Server::with(|api| api.conditional_requests(IfMatchPolicy::Optional));
        server.made("people", r#"{"given_name":"Ada"}"#);
        Asked(server.api)
    });
    assert_eq!(tag(&one.get("people")), tag(&two.get("people")));
}

#[test]
fn etg_07_and_08_a_change_is_of_what_is_known() {
    for (which, server) in Asked::both(IfMatchPolicy::Optional) {
        let person = server.made("people", &json!({"given_name": "first"}));
        let put = |name: &str, named: &str| {
            server.send(
                &Method::PUT,
                &person,
                &json!({ "given_name": name }),
                &[(IF_MATCH, named)],
            )
        };
        let first = tag(&server.get(&person));
        let changed = put("second", &first);
        assert_eq!(changed.status, 200, "{which}: {changed:?}");
        assert_eq!(
            tag(&changed),
            tag(&server.get(&person)),
            "{which}: the next change needs no read"
        );
        assert_eq!(changed.header("content-location"), Some(&*person));
        let second = tag(&changed);
        for named in [&first, "\"x\"", &*format!("W/{second}"), ""] {
            let refused = put("lost", named);
            assert_eq!(
                (refused.status.as_u16(), code(&refused)),
                (412, Some("PRECONDITION_FAILED")),
                "{which} {named}"
            );
            let refused = server.send(&Method::DELETE, &person, &Value::Null, &[(IF_MATCH, named)]);
            assert_eq!(refused.status, 412, "{which} {named}");
        }
        assert_eq!(
            json_of(&server.get(&person))["given_name"],
            "second",
            "{which}"
        );
        assert_eq!(put("third", "*").status, 200);
        let third = tag(&server.get(&person));
        assert_eq!(put("fourth", &format!("\"x\", {third}")).status, 200);
        let fourth = tag(&server.get(&person));
        let bad = server.send(
            &Method::PUT,
            &person,
            &json!({"gender": 1}),
            &[(IF_MATCH, "\"x\"")],
        );
        assert_eq!(bad.status, 400, "UND-39: problems of the body come first");
        let known = server.send(
            &Method::PUT,
            &person,
            &json!({}),
            &[(IF_NONE_MATCH, &fourth)],
        );
        assert_eq!(known.status, 412, "RFC 9110, section 13.1.2");
        for (date, status) in [
            ("Mon, 05 Jan 2026 08:59:59 GMT", 412),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 200),
        ] {
            let put = server.send(
                &Method::PUT,
                &person,
                &json!({}),
                &[(IF_UNMODIFIED_SINCE, date)],
            );
            assert_eq!(put.status, status, "{which} {date}");
        }
        let last = tag(&server.get(&person));
        assert_eq!(
            server
                .send(&Method::DELETE, &person, &Value::Null, &[(IF_MATCH, &last)])
                .status,
            204,
            "{which}"
        );
        for named in ["*", &last] {
            assert_eq!(put("none", named).status, 404, "RFC 9110, section 13.2.1");
            assert_eq!(
                server
                    .send(&Method::DELETE, &person, &Value::Null, &[(IF_MATCH, named)])
                    .status,
                404
            );
        }
    }
}

/// A date has whole seconds, so it cannot distinguish two changes in the same second (RFC 9110,
/// section 8.8.2.2).
#[test]
fn etg_11_a_date_is_no_condition_less_than_a_second_after_the_change() {
    for (which, server) in Asked::both(IfMatchPolicy::Optional) {
        let person = server.made("people", &json!({"given_name": "first"}));
        let path = person.strip_prefix(server.base_url().as_str()).unwrap();
        for (method, status) in [
            (Method::PUT, 200),
            (Method::PUT, 200),
            (Method::DELETE, 204),
        ] {
            let now = server.get(&person);
            let modified =
                Timestamp::parse(json_of(&now)["modified_date"].as_str().unwrap()).unwrap();
            let date = now.header("last-modified").unwrap();
            for (after, status) in [(0, 412), (999_999, 412), (1_000_000, status)] {
                let headers = HeaderMap::from_iter([(
                    IF_UNMODIFIED_SINCE,
                    HeaderValue::from_str(date).unwrap(),
                )]);
                let received = Timestamp::from_micros(modified.as_micros() + after);
                let request = Request::new(&method, path)
                    .with_headers(&headers)
                    .with_body("{}")
                    .with_received_at(received);
                let reply = server.send_as(
                    Caller::with_rights(Rights::all()),
                    server.base_url(),
                    request,
                );
                assert_eq!(
                    reply.status, status,
                    "{which}: {method} {after} microseconds after the change"
                );
            }
        }
    }
}

/// A concurrent write between the comparison and the change is not overwritten. The client gets
/// 412, not 503.
#[test]
fn etg_07_a_vendors_change_meets_only_what_was_compared() {
    let memory = Memory::default();
    let server = Server::over(memory, |api| {
        api.conditional_requests(IfMatchPolicy::Optional)
    });
    let person = server.made("people", r#"{"given_name":"first"}"#);
    let mut meanwhile = svc_core::read::Object::new();
    meanwhile.insert("given_name", "meanwhile");
    server.store.meanwhile(vec![meanwhile]);
    let asked = Asked(server.api.clone());
    let known = tag(&asked.get(&person));
    let put = asked.send(
        &Method::PUT,
        &person,
        &json!({"family_name": "lost"}),
        &[(IF_MATCH, &known)],
    );
    assert_eq!(
        (put.status.as_u16(), code(&put)),
        (412, Some("PRECONDITION_FAILED")),
        "{put:?}"
    );
    let now = json_of(&asked.get(&person));
    assert_eq!(
        (&now["given_name"], &now["family_name"]),
        (&json!("meanwhile"), &Value::Null),
        "{now}"
    );
}

#[test]
fn etg_08_warnings_are_no_part_of_the_record() {
    for (which, server) in Asked::both(IfMatchPolicy::Optional) {
        let person = server.made("people", &json!({"given_name": "Ada"}));
        let put = server.send(&Method::PUT, &person, &json!({"given_nam": "A"}), &[]);
        assert!(json_of(&put)["ext:warnings"].is_array(), "{which}: {put:?}");
        assert_eq!(tag(&put), tag(&server.get(&person)), "{which}");
    }
}

/// An entity tag does not depend on what the key may not read, and the key can still change what it
/// can read.
#[test]
fn etg_08_a_caller_compares_what_it_may_see() {
    let server = Asked::store(IfMatchPolicy::Optional);
    let rights = || ["people.create", "people.update"].map(|right| right.parse().unwrap());
    let blind = || Caller::with_rights(Rights::only(rights()));
    let send = |method: &Method, path: &str, body: &Value, headers: &HeaderMap| {
        let path = path
            .strip_prefix(server.base_url().as_str())
            .unwrap_or(path);
        let request = Request::new(method, path)
            .with_headers(headers)
            .with_body(body.to_string());
        server.send_as(blind(), server.base_url(), request)
    };
    let none = HeaderMap::new();
    let made = send(
        &Method::POST,
        "people",
        &json!({"given_name": "Ada"}),
        &none,
    );
    let person = made.header("location").unwrap().to_owned();
    assert_ne!(tag(&made), tag(&server.get(&person)));
    let known = HeaderMap::from_iter([(IF_MATCH, made.headers[ETAG].clone())]);
    assert_eq!(
        send(&Method::PUT, &person, &json!({"given_name": "B"}), &known).status,
        200
    );
    assert_eq!(
        send(&Method::PUT, &person, &json!({"given_name": "C"}), &known).status,
        412
    );
}

#[test]
fn etg_09_a_change_needs_a_condition_where_that_is_registered() {
    for (which, server) in Asked::both(IfMatchPolicy::Required) {
        let person = server.made("people", &json!({"given_name": "first"}));
        for method in [Method::PUT, Method::DELETE] {
            let reply = server.send(&method, &person, &json!({}), &[]);
            assert_eq!(
                (reply.status.as_u16(), code(&reply)),
                (428, Some("PRECONDITION_REQUIRED")),
                "{which} {method}"
            );
        }
        let known = tag(&server.get(&person));
        let put = server.send(
            &Method::PUT,
            &person,
            &json!({"given_name": "second"}),
            &[(IF_MATCH, &known)],
        );
        assert_eq!(put.status, 200, "{which}");
        let echoed = server.send(
            &Method::POST,
            "people",
            &json!({"given_name": "Ada"}),
            &[(ETAG, &known)],
        );
        assert_eq!(
            echoed.status, 201,
            "a create needs no condition, and `ETag` is not a condition in a request"
        );
        assert!(server.behaviours().contains(&"require_if_match"), "{which}");
    }
}

/// The revision: a counter.
#[derive(Debug, Clone, Default)]
struct Count(Arc<AtomicU64>);

#[async_trait::async_trait]
impl RevisionSource for Count {
    async fn revision(&self, _: &Tenant, _: std::time::Instant) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed))
    }
}

/// ETG-05: a cheap revision replaces the read, and ETG-06: changed data is read.
#[test]
fn etg_05_a_revision_stands_for_what_would_be_read() {
    // Both responses could use the same slot of the cache, so each has a server of its own.
    for is_page in [true, false] {
        let count = Count::default();
        let server = Server::with(|api| {
            api.response_cache(count.clone())
                .conditional_requests(IfMatchPolicy::Optional)
        });
        let person = server.made("people", r#"{"given_name":"A"}"#);
        let asked = Asked(server.api.clone());
        let path = if is_page { "people" } else { &person };
        let known = tag(&asked.get(path));
        assert_eq!(
            tag(&asked.get(path)),
            known,
            "the repeated request is cached: {path}"
        );
        // The revision does not change with this write.
        assert_eq!(
            asked
                .send(&Method::PUT, &person, &json!({"given_name": "B"}), &[])
                .status,
            200
        );
        let ask = || {
            asked
                .send(&Method::GET, path, &Value::Null, &[(IF_NONE_MATCH, &known)])
                .status
        };
        assert_eq!(ask(), 304, "{path}");
        assert_eq!(
            tag(&asked.get(path)),
            known,
            "the cached response has its entity tag: {path}"
        );
        let stale = asked.send(&Method::PUT, &person, &json!({}), &[(IF_MATCH, &known)]);
        assert_eq!(
            stale.status, 412,
            "a change never uses the cached response: {path}"
        );
        count.0.store(1, Ordering::Relaxed);
        assert_eq!(ask(), 200, "{path}");
    }
}

/// ETG-07: the read-only values of an earlier state do not hide that the state is an earlier one.
#[test]
fn etg_07_a_document_of_an_earlier_state_is_not_sent_back() {
    for (which, server) in Asked::both(IfMatchPolicy::Optional) {
        let person = server.made("people", &json!({"given_name": "Ada"}));
        let before = server.get(&person);
        let change = json!({"given_name": "Eve"});
        server.send(&Method::PUT, &person, &change, &[]);
        let (tag, prefer) = (tag(&before), HeaderName::from_static("prefer"));
        let headers = [(IF_MATCH, &*tag), (prefer, "handling=strict")];
        let answer = server.send(&Method::PUT, &person, &json_of(&before), &headers);
        assert_eq!(answer.status, 412, "ETG-07 {which}: {answer:?}");
    }
}

//! No response shows a record that its key may not read.
//!
//! Requirements: AUT-04, ERR-32, UND-31.

use crate::server::{Answer, Server};
use std::{collections::BTreeMap, sync::Arc};

use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};
use svc_core::{
    Context,
    api::{IfMatchPolicy, Request},
    auth::{Caller, Identity, Operation, Principal, Right, Rights},
    model::Kind,
    schema::ValueType,
    value::Timestamp,
};

/// An existing person, with an address that the requests contain.
const KNOWN: &str = "known@example.org";

fn planted(kind: Kind) -> String {
    format!("planted-{}", kind.plural())
}

/// Returns a body with the planted value of its kind in every text field that accepts it.
fn body(kind: Kind) -> Value {
    let mut body = json!({});
    for field in kind
        .schema()
        .fields
        .fields
        .iter()
        .filter(|field| !field.is_computed())
    {
        if matches!(field.ty, ValueType::String) && field.rules.is_empty() {
            body[field.name] = json!(planted(kind));
        }
    }
    match kind {
        Kind::Person => {
            body["email_addresses"] =
                json!([{"address": KNOWN}, {"address": format!("{}@example.org", planted(kind))}]);
            body["custom_fields"] = json!({"a": planted(kind)});
        }
        Kind::Question => body["question_type"] = json!("Paragraph"),
        Kind::Tag | Kind::List => body["name"] = json!(planted(kind)),
        Kind::Donation => body["amount"] = json!(5),
        _ => {}
    }
    body["identifiers"] = json!([format!("{}:1", planted(kind))]);
    body
}

/// Creates a record of every kind with its planted value, and returns the addresses.
async fn plant(server: &Server) -> Vec<(Kind, String)> {
    let mut records = Vec::new();
    let person = server.make("people", body(Kind::Person)).await;
    records.push((Kind::Person, person.clone()));
    for kind in Kind::ALL
        .iter()
        .copied()
        .filter(|kind| kind.schema().parent.is_none() && *kind != Kind::Person)
    {
        // A client cannot create queries.
        if kind != Kind::Query {
            records.push((kind, server.make(kind.plural(), body(kind)).await));
        }
    }
    for kind in Kind::ALL.iter().copied() {
        let Some(parent) = kind.schema().parent else {
            continue;
        };
        let (_, owner) = records
            .iter()
            .find(|(of, _)| of.singular() == parent || kind == Kind::Canvass)
            .unwrap();
        let mut body = body(kind);
        body["_links"] = json!({"svc:person": {"href": person}});
        let made = match kind {
            Kind::Canvass => {
                server
                    .post(
                        &format!("{person}/record_canvass_helper"),
                        json!({"canvass": body}),
                    )
                    .await
            }
            _ => {
                server
                    .post(&format!("{owner}/{}", kind.plural()), body)
                    .await
            }
        };
        assert!(matches!(made.status, 200 | 201), "{kind:?}: {}", made.json);
        records.push((kind, made.self_link()));
    }
    records
}

/// UND-22: a document that was read can be sent back without a warning, although only the server
/// sets some of its members.
#[tokio::test]
async fn und_22_what_was_read_is_sent_back_without_a_warning() {
    let server = Server::start().await;
    for (kind, address) in plant(&server).await {
        let read = server.get(&address).await;
        let back = server.put(&address, read.json).await;
        if kind.schema().has_operation(Operation::Update) {
            assert_eq!(
                (back.status, &back.warnings),
                (200, &Value::Null),
                "{kind:?}: {}",
                back.json
            );
        }
    }
}

/// Sends every possible request about these records, and returns the responses.
async fn ask(server: &Server, cx: &Context, records: &[(Kind, String)]) -> Vec<(String, Answer)> {
    let person = json!({"email_addresses": [{"address": KNOWN}], "given_name": "Changed"});
    let (_, known) = &records[0];
    let mut asked = vec![
        (
            "POST",
            "people/person_signup".to_owned(),
            json!({"person": person}),
        ),
        (
            "POST",
            "people".to_owned(),
            json!({"person": person, "add_tags": ["none"]}),
        ),
        (
            "POST",
            "people".to_owned(),
            json!({"given_name": "New", "gender": 7}),
        ),
        ("POST", "people".to_owned(), json!({"given_name": "New"})),
    ];
    for (kind, address) in records {
        asked.extend([
            ("GET", kind.plural().to_owned(), Value::Null),
            ("GET", address.clone(), Value::Null),
            ("PUT", address.clone(), json!({})),
            ("PUT", address.clone(), json!({"identifiers": 7})),
            (
                "POST",
                kind.plural().to_owned(),
                json!({"question_type": "Paragraph", "name": "new"}),
            ),
        ]);
        let links = server.get(address).await.json["_links"]
            .as_object()
            .unwrap()
            .clone();
        for (relation, link) in links {
            let href = link["href"].as_str().unwrap_or_default().to_owned();
            if relation.ends_with("_helper") {
                for action in [
                    json!({"person": person}),
                    json!({"person": person, "add_tags": ["none"]}),
                ] {
                    let mut call = action.clone();
                    call["canvass"] = json!({});
                    call["identifiers"] =
                        json!([format!("{}:1", relation.trim_end_matches("_helper"))]);
                    call["scheduled_start_date"] = json!("2030-01-01T00:00:00Z");
                    asked.push(("POST", href.clone(), call));
                }
            } else if relation != "self" && relation.starts_with("svc:") {
                asked.push(("GET", href.clone(), Value::Null));
                asked.push(("POST", href.clone(), json!({"person": person, "amount": 1})));
                asked.push((
                    "POST",
                    href,
                    json!({"_links": {"svc:person": {"href": known}}, "value": "x", "amount": 1}),
                ));
            }
        }
    }
    let mut answers = Vec::new();
    for (method, address, body) in asked {
        if server
            .api
            .route(
                address
                    .strip_prefix(crate::server::BASE)
                    .unwrap_or(&address),
            )
            .is_some()
        {
            let answer = server.call_as(cx, method, &address, body.clone()).await;
            answers.push((format!("{method} {address} {body}"), answer));
        }
    }
    answers
}

/// With one right, a key gets only planted values that it may read.
#[tokio::test]
async fn aut_04_a_key_sees_what_it_may_read() {
    let server = Server::start().await;
    let records = plant(&server).await;
    let mut idle = Vec::new();
    let mut shown = 0;
    for right in Right::all() {
        let mut done = 0;
        let caller = Caller::with_rights(Rights::only([right]));
        let cx = Context::new(server.tenant.clone(), caller, Timestamp::now());
        for (request, answer) in ask(&server, &cx, &records).await {
            let text = answer.json.to_string();
            done += u64::from(answer.status < 300);
            for kind in Kind::ALL.iter().copied() {
                let reads = matches!(right, Right::Operation(of, Operation::Read | Operation::List) if of == kind);
                let is_there = text.contains(&planted(kind));
                assert!(
                    reads || !is_there,
                    "a key with {right} alone sees {}: {request}\n{text}",
                    planted(kind)
                );
                shown += u64::from(is_there);
            }
        }
        if done == 0 {
            idle.push(right.to_string());
        }
    }
    // No record is deleted here, clients cannot create queries, only a helper creates canvasses,
    // memberships do not change, there are no webhooks, and people are not merged.
    let others = [
        "queries.",
        ".delete",
        "canvasses.create",
        "taggings.update",
        "items.update",
        "webhooks.",
        "people.merge",
    ];
    idle.retain(|right| !others.iter().any(|other| right.contains(other)));
    assert_eq!(
        (idle, shown > 50),
        (Vec::<String>::new(), true),
        "rights that were not used"
    );
    // A key without the right has changed no person (UND-31).
    let (_, person) = &records[0];
    assert_eq!(
        server.get(person).await.json["given_name"],
        planted(Kind::Person),
        "UND-31"
    );
    let update =
        Rights::only(["people.update", "helper.record_signature"].map(|it| it.parse().unwrap()));
    let cx = Context::new(
        server.tenant.clone(),
        Caller::with_rights(update),
        Timestamp::now(),
    );
    let (_, petition) = records
        .iter()
        .find(|(kind, _)| *kind == Kind::Petition)
        .unwrap();
    let call =
        json!({"person": {"email_addresses": [{"address": KNOWN}], "given_name": "Changed"}});
    let signed = server
        .call_as(
            &cx,
            "POST",
            &format!("{petition}/record_signature_helper"),
            call,
        )
        .await;
    assert_eq!(signed.status, 200, "{}", signed.json);
    assert_eq!(
        server.get(person).await.json["given_name"],
        "Changed",
        "UND-31: with the right it is changed"
    );
}

/// The requests of a key, sent with headers, with responses as bytes.
struct Key<'s> {
    server: &'s Server,
    name: &'static str,
    rights: Rights,
}

impl Key<'_> {
    async fn send(
        &self,
        method: &str,
        address: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> (u16, String) {
        let path = address.strip_prefix(crate::server::BASE).unwrap_or(address);
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()));
        let (method, headers): (http::Method, HeaderMap) =
            (method.parse().unwrap(), headers.collect());
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let caller = Caller::with_rights(self.rights.clone()).with_key_name(self.name);
        let request = Request::new(&method, path)
            .with_query(query)
            .with_headers(&headers)
            .with_body(body);
        let reply = self
            .server
            .api
            .handle(
                Identity::Authenticated(Principal::new(self.server.tenant.clone(), caller)),
                request,
            )
            .await;
        (
            reply.status.as_u16(),
            String::from_utf8_lossy(&reply.body).into_owned(),
        )
    }
}

/// Returns the fields of a record that a client can write.
fn written(kind: Kind, record: &Value) -> Value {
    let fields = kind
        .schema()
        .fields
        .fields
        .iter()
        .filter(|field| !field.is_computed());
    fields
        .map(|field| (field.name.to_owned(), record[field.name].clone()))
        .collect()
}

/// Returns the data of the tenant by address: the planted records as they were written, and the
/// webhooks.
async fn contents(
    server: &Server,
    records: &[(Kind, String)],
) -> BTreeMap<String, (Vec<Kind>, Value)> {
    let mut all = BTreeMap::new();
    for (kind, address) in records {
        all.insert(
            address.clone(),
            (vec![*kind], written(*kind, &server.get(address).await.json)),
        );
    }
    let webhooks = server.get("webhooks").await.json["_embedded"]["ext:webhooks"].clone();
    for webhook in webhooks.as_array().unwrap() {
        let kinds = webhook["kinds"].as_array().unwrap().iter();
        let kinds = kinds.map(|one| {
            Kind::ALL
                .iter()
                .copied()
                .find(|kind| kind.singular() == one)
                .unwrap()
        });
        let address = webhook["_links"]["self"]["href"]
            .as_str()
            .unwrap()
            .to_owned();
        all.insert(address, (kinds.collect(), webhook.clone()));
    }
    all
}

/// Creates a webhook for each kind, whose receiver has the planted value of the kind.
async fn plant_webhooks(server: &Server) -> Vec<String> {
    let mut webhooks = Vec::new();
    for kind in Kind::ALL {
        let url = format!("https://hooks.example.org/{}", planted(*kind));
        let body = json!({"url": url, "kinds": [kind.singular()], "status": "paused"});
        let made = server.post("webhooks", body).await;
        assert_eq!(made.status, 201, "{}", made.json);
        webhooks.push(made.self_link());
    }
    webhooks
}

/// Returns a person for requests with an idempotency key.
fn imported() -> Value {
    json!({"given_name": planted(Kind::Person)})
}

/// The requests about the planted records that the exchange features allow: method, address,
/// headers and body.
type Asked = (&'static str, String, Vec<(&'static str, String)>, Value);

async fn exchange(server: &Server, records: &[(Kind, String)], webhooks: &[String]) -> Vec<Asked> {
    let person = json!({"email_addresses": [{"address": KNOWN}], "given_name": "Changed"});
    let feed = server.get("changes").await.json;
    let events = vec![("accept", "text/event-stream".to_owned())];
    let mut asked: Vec<Asked> = vec![
        ("GET", "changes".to_owned(), vec![], Value::Null),
        ("GET", "changes".to_owned(), events, Value::Null),
        ("GET", "webhooks".to_owned(), vec![], Value::Null),
        (
            "POST",
            "webhooks".to_owned(),
            vec![],
            json!({"url": "https://hooks.example.org/new"}),
        ),
        // The request of another key of the tenant, repeated with the same idempotency key.
        (
            "POST",
            "people".to_owned(),
            vec![("idempotency-key", "import-1".to_owned())],
            imported(),
        ),
    ];
    for entry in feed["_embedded"]["ext:changes"].as_array().unwrap() {
        asked.push((
            "GET",
            entry["_links"]["self"]["href"].as_str().unwrap().to_owned(),
            vec![],
            Value::Null,
        ));
    }
    for webhook in webhooks {
        asked.extend([
            ("GET", webhook.clone(), vec![], Value::Null),
            (
                "PUT",
                webhook.clone(),
                vec![],
                json!({"url": "https://hooks.example.org/taken"}),
            ),
            ("POST", format!("{webhook}/redeliver"), vec![], json!({})),
            (
                "POST",
                format!("{webhook}/rotate_secret"),
                vec![],
                Value::Null,
            ),
            ("DELETE", webhook.clone(), vec![], Value::Null),
        ]);
    }
    for (kind, address) in records {
        let read = Key {
            server,
            name: "owner",
            rights: Rights::all(),
        }
        .etag(address)
        .await;
        let (collection, _) = address.rsplit_once('/').unwrap();
        let filter = format!(
            "{collection}?filter=identifiers%20eq%20'{}:1'",
            planted(*kind)
        );
        asked.extend([
            (
                "GET",
                address.clone(),
                vec![("if-none-match", read.clone())],
                Value::Null,
            ),
            ("GET", filter, vec![], Value::Null),
            (
                "PUT",
                address.clone(),
                vec![],
                json!({"origin_system": "Changed"}),
            ),
            (
                "PUT",
                address.clone(),
                vec![("if-match", "\"none\"".to_owned())],
                json!({}),
            ),
            (
                "DELETE",
                address.clone(),
                vec![("if-match", "\"none\"".to_owned())],
                Value::Null,
            ),
            (
                "POST",
                "webhooks".to_owned(),
                vec![],
                json!({"url": "https://hooks.example.org/", "kinds": [kind.singular()]}),
            ),
        ]);
        let links = server.get(address).await.json["_links"]
            .as_object()
            .unwrap()
            .clone();
        // The schedule helper is tested separately.
        let helpers = links
            .iter()
            .filter(|(name, _)| name.ends_with("_helper") && *name != "svc:schedule_helper");
        for batch in helpers.map(|(_, link)| format!("{}/batch", link["href"].as_str().unwrap())) {
            asked.push((
                "POST",
                batch,
                vec![],
                json!([{"person": person}, {"person": 7}]),
            ));
        }
    }
    asked.push((
        "POST",
        "people/person_signup_helper/batch".to_owned(),
        vec![],
        json!([{"person": person}]),
    ));
    for (_, address, ..) in &asked {
        let path = address
            .strip_prefix(crate::server::BASE)
            .unwrap_or(address)
            .split('?')
            .next()
            .unwrap_or_default();
        assert!(server.api.route(path).is_some(), "{address}");
    }
    asked
}

impl Key<'_> {
    async fn etag(&self, address: &str) -> String {
        let path = address.strip_prefix(crate::server::BASE).unwrap_or(address);
        let reply = self
            .server
            .api
            .handle(
                self.server.identity(),
                Request::new(&http::Method::GET, path),
            )
            .await;
        reply.header("etag").unwrap_or_default().to_owned()
    }
}

/// Returns each right alone, and the right to webhooks with each right to read.
fn cases() -> impl Iterator<Item = Vec<Right>> {
    let reads = Kind::ALL
        .iter()
        .map(|kind| vec![Right::Webhooks, Right::Operation(*kind, Operation::Read)]);
    Right::all().map(|right| vec![right]).chain(reads)
}

/// Feed, webhooks, batches, stored responses, filters and conditional requests respect rights. They
/// show no kind that the key may not read, and change only what its rights allow.
#[tokio::test]
async fn aut_04_exchange_gives_a_key_what_it_may_read() {
    let mut server = Server::start().await;
    let store = Arc::new(server.store.clone());
    server.api = crate::server::api(&server.store, |api| {
        api.batches()
            .change_feed(&store)
            .webhooks(&store)
            .conditional_requests(IfMatchPolicy::Optional)
    });
    let records = plant(&server).await;
    let webhooks = plant_webhooks(&server).await;
    let keyed = [("idempotency-key", "import-1")];
    let own = Key {
        server: &server,
        name: "owner",
        rights: Rights::all(),
    };
    assert_eq!(own.send("POST", "people", &keyed, &imported()).await.0, 201);
    let asked = exchange(&server, &records, &webhooks).await;
    let (mut shown, mut unchanged, mut managed) = (0, 0, 0);
    for rights in cases() {
        let key = Key {
            server: &server,
            name: "narrow",
            rights: Rights::only(rights.iter().copied()),
        };
        let has = |operation, kind| rights.contains(&Right::Operation(kind, operation));
        let reads = |kind| has(Operation::Read, kind) || has(Operation::List, kind);
        let may_manage = |kinds: &[Kind]| {
            rights.contains(&Right::Webhooks)
                && kinds.iter().all(|kind| has(Operation::Read, *kind))
        };
        let before = contents(&server, &records).await;
        for (method, address, headers, body) in &asked {
            let headers: Vec<_> = headers
                .iter()
                .map(|(name, value)| (*name, value.as_str()))
                .collect();
            let (status, text) = key.send(method, address, &headers, body).await;
            let request =
                format!("{rights:?}: {method} {address} {headers:?} {body}: {status}\n{text}");
            for kind in Kind::ALL.iter().copied() {
                let is_told = text.contains(&format!("\"kind\":\"{}\"", kind.singular()));
                let is_there = text.contains(&planted(kind)) || is_told;
                assert!(reads(kind) || !is_there, "{request}");
                shown += usize::from(is_there);
            }
            if let Some((kind, _)) = records.iter().find(|(_, record)| record == address) {
                let (may, operation) = match *method {
                    "GET" => (reads(*kind), Operation::Read),
                    "PUT" => (has(Operation::Update, *kind), Operation::Update),
                    _ => (has(Operation::Delete, *kind), Operation::Delete),
                };
                // A condition is evaluated after the right.
                assert!(
                    may || !kind.schema().has_operation(operation) || status == 403,
                    "{request}"
                );
            }
            let webhook = webhooks
                .iter()
                .zip(Kind::ALL)
                .find(|(webhook, _)| address.starts_with(webhook.as_str()));
            if let Some((webhook, kind)) = webhook {
                // A key with both rights has already deleted it.
                let refused = if before.contains_key(webhook) {
                    403
                } else {
                    404
                };
                assert!(may_manage(&[*kind]) || status == refused, "{request}");
                managed += usize::from(status < 300);
            } else {
                assert!(may_manage(&[]) || !text.contains("whsec_"), "{request}");
            }
        }
        let after = contents(&server, &records).await;
        for (address, (kinds, was)) in &before {
            let may_change = match records.iter().find(|(_, record)| record == address) {
                Some((kind, _)) => has(Operation::Update, *kind),
                None => may_manage(kinds),
            };
            let is = after.get(address).map(|(_, is)| is);
            assert!(
                may_change || is == Some(was),
                "{rights:?} changed {address}: {was} {is:?}"
            );
            unchanged += usize::from(!may_change);
        }
        for (address, (kinds, webhook)) in after
            .iter()
            .filter(|(address, _)| !before.contains_key(*address))
        {
            assert!(may_manage(kinds), "{rights:?} created {address}: {webhook}");
        }
    }
    assert!(
        shown > 50 && unchanged > 1_000 && managed > 50,
        "{shown} {unchanged} {managed}"
    );
}

/// FLT-13, AUT-04: a filter by a tag needs the rights to list taggings and to read tags, because its
/// result shows who has the tag.
#[tokio::test]
async fn flt_13_a_filter_needs_the_right_to_its_members() {
    let server = Server::start().await;
    let tag = server.make("tags", json!({"name": "a"})).await;
    let ada = server.make("people", json!({"given_name": "Ada"})).await;
    let person = json!({"_links": {"svc:person": {"href": ada}}});
    server.make(&format!("{tag}/taggings"), person).await;
    let filtered = "people?filter=tag%20eq%20'a'";
    let list_people = Right::Operation(Kind::Person, Operation::List);
    let list_taggings = Right::Operation(Kind::Tagging, Operation::List);
    let read_tags = Right::Operation(Kind::Tag, Operation::Read);
    for (name, rights, status) in [
        ("reader", Rights::read_only(), 200),
        (
            "all",
            Rights::only([list_people, list_taggings, read_tags]),
            200,
        ),
        ("no tags", Rights::only([list_people, list_taggings]), 403),
        ("no taggings", Rights::only([list_people, read_tags]), 403),
        ("no people", Rights::only([list_taggings, read_tags]), 403),
    ] {
        let key = Key {
            server: &server,
            name,
            rights,
        };
        let (found, body) = key.send("GET", filtered, &[], &Value::Null).await;
        assert_eq!(found, status, "{body}");
        assert_eq!(body.contains("Ada"), status == 200, "{body}");
    }
}

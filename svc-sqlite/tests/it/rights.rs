//! No answer shows a record that its key may not read (AUT-04, ERR-32, UND-31).

use crate::server::{Answer, Server};
use serde_json::{Value, json};
use svc_core::{
    Context,
    auth::{Caller, Operation, Right, Rights},
    model::Kind,
    schema::Type,
    value::Timestamp,
};

/// Who is known, by an address that the requests name.
const KNOWN: &str = "known@example.org";

fn planted(kind: Kind) -> String {
    format!("planted-{}", kind.plural())
}

/// A body with the planted value of its kind in every text that takes any.
fn body(kind: Kind) -> Value {
    let mut body = json!({});
    for field in kind.schema().fields.fields.iter().filter(|field| !field.is_computed()) {
        if matches!(field.ty, Type::String) && field.rules.is_empty() {
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
        Kind::Donation => body["amount"] = json!(5),
        _ => {}
    }
    body["identifiers"] = json!([format!("{}:1", planted(kind))]);
    body
}

/// A record of every kind, each with its planted value, and where it is.
async fn plant(server: &Server) -> Vec<(Kind, String)> {
    let mut records = Vec::new();
    let person = server.make("people", body(Kind::Person)).await;
    records.push((Kind::Person, person.clone()));
    for kind in Kind::ALL.iter().copied().filter(|kind| kind.schema().parent.is_none() && *kind != Kind::Person) {
        // Queries are not created by a client.
        if kind != Kind::Query {
            records.push((kind, server.make(kind.plural(), body(kind)).await));
        }
    }
    for kind in Kind::ALL.iter().copied() {
        let Some(parent) = kind.schema().parent else { continue };
        let (_, owner) = records.iter().find(|(of, _)| of.singular() == parent || kind == Kind::Canvass).unwrap();
        let mut body = body(kind);
        body["_links"] = json!({"svc:person": {"href": person}});
        let made = match kind {
            Kind::Canvass => server.post(&format!("{person}/record_canvass_helper"), json!({"canvass": body})).await,
            _ => server.post(&format!("{owner}/{}", kind.plural()), body).await,
        };
        assert!(matches!(made.status, 200 | 201), "{kind:?}: {}", made.json);
        records.push((kind, made.self_link()));
    }
    records
}

/// UND-22: a document that was read is no mistake, whatever of it only the server sets.
#[tokio::test]
async fn und_22_what_was_read_is_sent_back_without_a_warning() {
    let server = Server::start().await;
    for (kind, address) in plant(&server).await {
        let read = server.get(&address).await;
        let back = server.put(&address, read.json).await;
        if kind.schema().has_operation(Operation::Update) {
            assert_eq!((back.status, &back.warnings), (200, &Value::Null), "{kind:?}: {}", back.json);
        }
    }
}

/// Everything that may be asked of these records, with the answers to it.
async fn ask(server: &Server, cx: &Context, records: &[(Kind, String)]) -> Vec<(String, Answer)> {
    let person = json!({"email_addresses": [{"address": KNOWN}], "given_name": "Changed"});
    let (_, known) = &records[0];
    let mut asked = vec![
        ("POST", "people/person_signup".to_owned(), json!({"person": person})),
        ("POST", "people".to_owned(), json!({"person": person, "add_tags": ["none"]})),
        ("POST", "people".to_owned(), json!({"given_name": "New", "gender": 7})),
        ("POST", "people".to_owned(), json!({"given_name": "New"})),
    ];
    for (kind, address) in records {
        asked.extend([
            ("GET", kind.plural().to_owned(), Value::Null),
            ("GET", address.clone(), Value::Null),
            ("PUT", address.clone(), json!({})),
            ("PUT", address.clone(), json!({"identifiers": 7})),
            ("POST", kind.plural().to_owned(), json!({"question_type": "Paragraph"})),
        ]);
        let links = server.get(address).await.json["_links"].as_object().unwrap().clone();
        for (relation, link) in links {
            let href = link["href"].as_str().unwrap_or_default().to_owned();
            if relation.ends_with("_helper") {
                for action in [json!({"person": person}), json!({"person": person, "add_tags": ["none"]})] {
                    let mut call = action.clone();
                    call["canvass"] = json!({});
                    call["identifiers"] = json!([format!("{}:1", relation.trim_end_matches("_helper"))]);
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
        if server.api.route(address.strip_prefix(crate::server::BASE).unwrap_or(&address)).is_some() {
            let answer = server.call_as(cx, method, &address, body.clone()).await;
            answers.push((format!("{method} {address} {body}"), answer));
        }
    }
    answers
}

/// Each key has one right; what it was answered has no planted value but those of what it may read.
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
                let reads = matches!(right, Right::On(of, Operation::Read | Operation::List) if of == kind);
                let is_there = text.contains(&planted(kind));
                assert!(reads || !is_there, "a key with {right} alone sees {}: {request}\n{text}", planted(kind));
                shown += u64::from(is_there);
            }
        }
        if done == 0 {
            idle.push(right.to_string());
        }
    }
    // Nothing is deleted here, no client makes queries, a helper alone makes canvasses, memberships do not change, and there are no
    // webhooks.
    let others = ["queries.", ".delete", "canvasses.create", "taggings.update", "items.update", "webhooks."];
    idle.retain(|right| !others.iter().any(|other| right.contains(other)));
    assert_eq!((idle, shown > 50), (Vec::<String>::new(), true), "rights with which nothing was done");
    // Nobody was changed by a key that may not (UND-31).
    let (_, person) = &records[0];
    assert_eq!(server.get(person).await.json["given_name"], planted(Kind::Person), "UND-31");
    let update = Rights::only(["people.update", "helper.record_signature"].map(|it| it.parse().unwrap()));
    let cx = Context::new(server.tenant.clone(), Caller::with_rights(update), Timestamp::now());
    let (_, petition) = records.iter().find(|(kind, _)| *kind == Kind::Petition).unwrap();
    let call = json!({"person": {"email_addresses": [{"address": KNOWN}], "given_name": "Changed"}});
    let signed = server.call_as(&cx, "POST", &format!("{petition}/record_signature_helper"), call).await;
    assert_eq!(signed.status, 200, "{}", signed.json);
    assert_eq!(server.get(person).await.json["given_name"], "Changed", "UND-31: with the right it is");
}

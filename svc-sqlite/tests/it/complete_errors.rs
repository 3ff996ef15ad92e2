//! One response has every problem of a request: those of its body, and those that only the store
//! can detect.
//!
//! Requirements: ERR-39.

use std::collections::BTreeMap;

use crate::server::{Answer, Server, minimal};
use serde_json::{Value, json};
use svc_core::{
    auth::Operation,
    helper::HelperName,
    model::Kind,
    schema::{LinkTarget, LinkWrite, ValueType},
};

/// One problem: how it gets into a body, and the properties that identify it.
#[derive(Clone)]
struct Fault {
    family: &'static str,
    body: Value,
    names: String,
}

fn fault(family: &'static str, body: Value, names: impl Into<String>) -> Fault {
    Fault {
        family,
        body,
        names: names.into(),
    }
}

/// Merges bodies member by member.
fn merge(into: &mut Value, other: &Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (name, value) in other {
                merge(into.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (into, other) => *into = other.clone(),
    }
}

/// Returns a body without problems.
fn valid(kind: Kind, person: &str) -> Value {
    let mut body = match kind {
        Kind::Donation => json!({"amount": 5}),
        Kind::Answer => json!({"value": "x"}),
        kind => minimal(kind.plural()),
    };
    let mut links = kind
        .schema()
        .links
        .iter()
        .filter(|link| link.name == "person");
    if links.any(|link| {
        matches!(
            link.target,
            LinkTarget::One {
                write: LinkWrite::Required,
                ..
            }
        )
    }) {
        body["_links"] = json!({"svc:person": {"href": person}});
    }
    body
}

/// Returns a problem of each family in the fields, links and identifiers of a kind.
fn of_kind(kind: Kind) -> Vec<Fault> {
    let schema = kind.schema();
    let named = |wanted: fn(&ValueType) -> bool, but: &str| {
        let fields = schema
            .fields
            .fields
            .iter()
            .filter(|field| !field.is_computed() && field.name != but);
        fields
            .filter(|field| wanted(&field.ty))
            .map(|field| field.name)
            .next()
    };
    let mut faults = Vec::new();
    let text = named(|ty| matches!(ty, ValueType::String), "value");
    faults.extend(text.map(|name| fault("type", json!({name: 7}), name)));
    let rule = named(|ty| matches!(ty, ValueType::Timestamp), "");
    faults.extend(rule.map(|name| fault("rule", json!({name: "yesterday"}), name)));
    for link in schema.links {
        let LinkTarget::One { kind, write, .. } = link.target else {
            continue;
        };
        if write != LinkWrite::Never {
            let relation = format!("svc:{}", link.name);
            let nowhere = json!({"href": format!("{}{}/00000000-0000-7000-8000-000000000000", crate::server::BASE, kind.plural())});
            let path = format!("_links.{relation}");
            faults.push(fault("link", json!({"_links": {relation: nowhere}}), path));
        }
    }
    faults.push(fault(
        "identifier",
        json!({"identifiers": ["free:1", format!("{}:1", kind.singular())]}),
        "identifiers[1]",
    ));
    faults
}

/// Returns a problem of each family in the parts of a helper request other than its action.
fn of_helper(helper: HelperName, question: &str) -> Vec<Fault> {
    let mut faults = vec![
        fault("tag", json!({"add_tags": ["none"]}), "add_tags"),
        fault(
            "tag address",
            json!({"add_tags_uri": ["http://localhost/tags/none"]}),
            "add_tags_uri",
        ),
        fault("list", json!({"add_lists": ["none"]}), "add_lists"),
        fault(
            "question",
            json!({"add_questions_responses_uri": [{"question": question, "responses": ["none"]}]}),
            "add_questions_responses_uri[0].responses[0]",
        ),
        fault(
            "function type",
            json!({"add_lists_uri": [5]}),
            "add_lists_uri[0]",
        ),
    ];
    if helper.accepts_person() {
        faults.push(fault(
            "person",
            json!({"person": {"given_name": 7}}),
            "person.given_name",
        ));
        faults.push(fault(
            "own identifier",
            json!({"person": {"identifiers": ["here:none"]}}),
            "person.identifiers[0]",
        ));
    }
    faults
}

/// Returns the properties that a rejection names, with their number.
fn named(answer: &Answer) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for description in answer.descriptions() {
        let all: Vec<&str> = description["properties"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        *names.entry(all.join(" ")).or_default() += 1;
    }
    names
}

/// Returns the totals of everything that is stored.
async fn totals(server: &Server) -> Vec<u64> {
    let mut totals = Vec::new();
    for kind in Kind::ALL
        .iter()
        .filter(|kind| kind.schema().has_operation(Operation::List))
    {
        totals.push(server.total(kind.plural()).await);
    }
    totals
}

/// Sends each set of problems, at most one of a family, and compares the reported properties.
async fn all_sets(
    server: &Server,
    method: &str,
    address: &str,
    plain: &Value,
    faults: &[Fault],
) -> usize {
    let mut tried = 0;
    for set in 1_u32..1 << faults.len() {
        let chosen: Vec<&Fault> = faults
            .iter()
            .enumerate()
            .filter(|(place, _)| set >> place & 1 == 1)
            .map(|(_, it)| it)
            .collect();
        let mut families: Vec<&str> = chosen.iter().map(|fault| fault.family).collect();
        families.dedup();
        if families.len() < chosen.len() {
            continue;
        }
        let mut body = plain.clone();
        let mut expected = BTreeMap::new();
        for fault in &chosen {
            merge(&mut body, &fault.body);
            *expected.entry(fault.names.clone()).or_default() += 1;
        }
        let answer = server.call(method, address, body.clone()).await;
        assert_eq!(
            (answer.status, named(&answer)),
            (400, expected),
            "ERR-39: {method} {address} {body}: {}",
            answer.json
        );
        tried += 1;
    }
    tried
}

/// ERR-39, ERR-26: k problems of any families are k problems with the right paths in one response,
/// for every kind, on create and update.
#[tokio::test]
async fn err_39_every_kind() {
    let server = Server::start().await;
    let person = server
        .make("people", json!({"identifiers": ["person:1"]}))
        .await;
    let mut tried = 0;
    let containers = Kind::ALL
        .iter()
        .filter(|kind| kind.schema().parent.is_none() && **kind != Kind::Query);
    for kind in containers.copied() {
        let mut body = valid(kind, &person);
        if kind != Kind::Person {
            body["identifiers"] = json!([format!("{}:1", kind.singular())]);
            server.make(kind.plural(), body).await;
        }
        let other = server.make(kind.plural(), valid(kind, &person)).await;
        let before = totals(&server).await;
        tried += all_sets(
            &server,
            "POST",
            kind.plural(),
            &valid(kind, &person),
            &of_kind(kind),
        )
        .await;
        if kind.schema().has_operation(Operation::Update) {
            tried += all_sets(&server, "PUT", &other, &json!({}), &sent(kind)).await;
        }
        assert_eq!(totals(&server).await, before, "ERR-04: {kind:?}");
    }
    for kind in Kind::ALL
        .iter()
        .copied()
        .filter(|kind| kind.schema().has_operation(Operation::Create))
    {
        let Some(parent) = kind.schema().parent_kind() else {
            continue;
        };
        let owner = server.make(parent.plural(), valid(parent, &person)).await;
        let collection = format!("{owner}/{}", kind.plural());
        let mut first = valid(kind, &person);
        first["identifiers"] = json!([format!("{}:1", kind.singular())]);
        server.make(&collection, first).await;
        let before = totals(&server).await;
        let else_where = server.make("people", json!({"given_name": "Ada"})).await;
        let plain = valid(kind, &else_where);
        tried += all_sets(&server, "POST", &collection, &plain, &of_kind(kind)).await;
        let other = server.make(&collection, plain).await;
        if kind.schema().has_operation(Operation::Update) {
            tried += all_sets(&server, "PUT", &other, &json!({}), &sent(kind)).await;
        }
        server.delete(&other).await;
        server.delete(&else_where).await;
        assert_eq!(totals(&server).await, before, "ERR-04: {kind:?}");
    }
    assert!(tried > 200, "{tried} requests");
}

/// Returns the problems of an update. A link that only a create accepts is not a problem.
fn sent(kind: Kind) -> Vec<Fault> {
    let updates = |name: &str| {
        let link = kind
            .schema()
            .links
            .iter()
            .find(|link| name == format!("_links.svc:{}", link.name));
        link.is_none_or(
            |link| matches!(link.target, LinkTarget::One { update, .. } if update.accepts(true)),
        )
    };
    of_kind(kind)
        .into_iter()
        .filter(|fault| updates(&fault.names))
        .collect()
}

/// ERR-39: the same for every helper, whose person, tags, lists and answers are looked up in
/// addition to the check of its body.
#[tokio::test]
async fn err_39_every_helper() {
    let server = Server::start().await;
    let mut tried = 0;
    let person = server.make("people", json!({"given_name": "Ada"})).await;
    let choice = json!({"question_type": "SingleChoice", "responses": [{"key": "yes"}]});
    let question = server.make("questions", choice).await;
    for helper in HelperName::ALL
        .iter()
        .copied()
        .filter(|helper| *helper != HelperName::Schedule)
    {
        let kind = helper.recorded_kind();
        let (address, mut faults) = match helper.container_kind() {
            None => ("people/person_signup".to_owned(), Vec::new()),
            Some(container) => {
                let [owner, elsewhere] =
                    [(), ()].map(|()| server.make(container.plural(), valid(container, &person)));
                let (owner, elsewhere) = (owner.await, elsewhere.await);
                // An identifier of another container's action cannot be used for an action of this
                // one.
                let mut call = valid(kind, &person);
                call["identifiers"] = json!([format!("{}:1", kind.singular())]);
                let call = if kind == Kind::Canvass {
                    json!({"canvass": call})
                } else {
                    call
                };
                let made = server
                    .post(&format!("{elsewhere}/{}", helper.relation()), call)
                    .await;
                assert_eq!(made.status, 200, "{}", made.json);
                let faults = of_kind(kind)
                    .into_iter()
                    .map(|fault| within(kind, fault))
                    .collect();
                (format!("{owner}/{}", helper.relation()), faults)
            }
        };
        // One problem of the family "type" is in each body anyway. The posted person replaces the
        // link to a person.
        faults.retain(|fault: &Fault| fault.family != "type");
        faults.retain(|fault| !helper.accepts_person() || !fault.names.ends_with("svc:person"));
        faults.extend(of_helper(helper, &question));
        let plain = if helper.accepts_person() {
            json!({"person": {"given_name": "Ada"}})
        } else {
            json!({})
        };
        let mut plain = plain;
        merge(
            &mut plain,
            &match kind {
                Kind::Canvass => json!({"canvass": {}}),
                Kind::Person => json!({}),
                kind => {
                    let mut body = valid(kind, &person);
                    body.as_object_mut().unwrap().remove("_links");
                    body
                }
            },
        );
        // A request with only wrong tags is executed in part (ERR-29), so each one has a problem of
        // its body.
        let of_body = if helper == HelperName::PersonSignup {
            fault(
                "first",
                json!({"person": {"family_name": 7}}),
                "person.family_name",
            )
        } else {
            within(
                kind,
                fault("first", json!({"origin_system": 7}), "origin_system"),
            )
        };
        let before = totals(&server).await;
        for set in 0_u32..1 << faults.len() {
            let mut body = plain.clone();
            let mut expected = BTreeMap::from([(of_body.names.clone(), 1)]);
            merge(&mut body, &of_body.body);
            let mut families = Vec::new();
            for (_, fault) in faults
                .iter()
                .enumerate()
                .filter(|(place, _)| set >> place & 1 == 1)
            {
                merge(&mut body, &fault.body);
                *expected.entry(fault.names.clone()).or_default() += 1;
                families.push(fault.family);
            }
            let number = families.len();
            families.sort_unstable();
            families.dedup();
            // Half of the sets with many problems are sufficient.
            if families.len() < number || (number > 4 && set % 16 != 1) || expected.len() < number {
                continue;
            }
            let answer = server.post(&address, body.clone()).await;
            assert_eq!(
                (answer.status, named(&answer)),
                (400, expected),
                "ERR-39: {address} {body}: {}",
                answer.json
            );
            tried += 1;
        }
        assert_eq!(totals(&server).await, before, "ERR-04: {helper:?}");
    }
    assert!(tried > 1_000, "{tried} requests");
}

/// Returns a problem in the part of the body that has the fields. For a canvass this is a member.
///
/// Requirements: HLP-16.
fn within(kind: Kind, fault: Fault) -> Fault {
    if kind != Kind::Canvass {
        return fault;
    }
    Fault {
        body: json!({"canvass": fault.body}),
        names: format!("canvass.{}", fault.names),
        ..fault
    }
}

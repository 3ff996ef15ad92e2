//! The schemas of bodies and the behaviour of the server agree.

use serde_json::Value;
use svc_core::{
    auth::Operation,
    model::Kind,
    read::{Json, Object},
    schema::{FieldMode, FieldSpec},
};

use crate::documents::support::{
    generate::{self, Dice},
    server::Server,
};
use crate::documents::{faults, validator_of};

/// The number of bodies of each type for each kind.
const CASES: u64 = 40;

fn as_value(body: &Object) -> Value {
    serde_json::from_slice(&Json::Object(body.clone()).to_vec()).expect("JSON")
}

/// Where records of a kind are created: the collection, the container and the links that they need.
struct Ground {
    collection: String,
    links: Option<Json>,
}

fn ground(server: &Server, kind: Kind) -> Ground {
    let person = server.made("people", r#"{"given_name":"Ada"}"#);
    let collection = match kind.schema().parent_kind() {
        None => kind.plural().to_owned(),
        Some(Kind::Question) => {
            server.made("questions", r#"{"question_type":"Paragraph"}"#) + "/answers"
        }
        Some(parent) => {
            let name = format!(r#"{{"name":"of {}"}}"#, kind.plural());
            let body = match parent {
                Kind::Tag | Kind::List => &*name,
                _ => "{}",
            };
            format!("{}/{}", server.made(parent.plural(), body), kind.plural())
        }
    };
    let needs_person = kind.schema().links.iter().any(|link| {
        matches!(
            link.target,
            svc_core::schema::LinkTarget::One {
                write: svc_core::schema::LinkWrite::Required,
                ..
            }
        )
    });
    let link = || Json::Object(Object::from_iter([("href", Json::from(person.as_str()))]));
    let links = needs_person.then(|| Json::Object(Object::from_iter([("svc:person", link())])));
    Ground { collection, links }
}

/// Returns the kinds that clients create, each with its own context.
fn grounds(server: &Server) -> Vec<(Kind, Ground)> {
    let created = Kind::ALL
        .iter()
        .copied()
        .filter(|kind| server.api.offers(*kind, Operation::Create));
    // A canvass is only recorded by its helper (UND-38).
    created
        .filter(|kind| *kind != Kind::Canvass)
        .map(|kind| (kind, ground(server, kind)))
        .collect()
}

fn with_links(mut body: Object, ground: &Ground) -> Object {
    if let Some(links) = &ground.links {
        body.insert("_links", links.clone());
    }
    body
}

/// Returns a valid body with one fault, and the path of the fault.
fn one_fault(dice: &mut Dice, kind: Kind) -> (Object, String) {
    let fields: Vec<&FieldSpec> = kind
        .schema()
        .fields
        .fields
        .iter()
        .filter(|field| !field.is_computed())
        .collect();
    loop {
        let mut made = generate::body(dice, kind);
        let field = fields[dice.below(fields.len())];
        let mut paths = Vec::new();
        if field.mode == FieldMode::Required && dice.once_in(4) {
            made.remove(field.name);
            paths.push(field.name.to_owned());
        } else {
            made.insert(
                field.name,
                generate::wrong(dice, field, field.name, &mut paths),
            );
        }
        if let [path] = paths.as_slice() {
            return (made, path.clone());
        }
    }
}

#[test]
fn err_39_a_valid_body_is_valid_by_its_schema_and_is_taken() {
    let server = Server::with(|api| api);
    for (kind, ground) in grounds(&server) {
        let (create, read) = (
            validator_of(&server.api, kind.singular(), ".create"),
            validator_of(&server.api, kind.singular(), ""),
        );
        for seed in 0..CASES {
            let body = with_links(generate::body(&mut Dice::new(seed), kind), &ground);
            let value = as_value(&body);
            assert_eq!(faults(&create, &value), [""; 0], "{kind:?} {value}");
            let answer = server.post(&ground.collection, &value.to_string());
            assert!(
                matches!(answer.status, 200 | 201),
                "{kind:?} {value}: {}",
                answer.text
            );
            assert_eq!(
                faults(&read, &answer.json),
                [""; 0],
                "{kind:?} {value} gave {}",
                answer.text
            );
        }
    }
}

#[test]
fn err_39_a_body_with_one_fault_is_invalid_by_its_schema_and_gets_400() {
    let server = Server::with(|api| api);
    for (kind, ground) in grounds(&server) {
        if kind
            .schema()
            .fields
            .fields
            .iter()
            .all(FieldSpec::is_computed)
        {
            continue;
        }
        let create = validator_of(&server.api, kind.singular(), ".create");
        for seed in 0..CASES {
            let (body, at) = one_fault(&mut Dice::new(seed), kind);
            let value = as_value(&with_links(body, &ground));
            let answer = server.post(&ground.collection, &value.to_string());
            assert_eq!(answer.status, 400, "{kind:?} {at} in {value}");
            assert!(
                !faults(&create, &value).is_empty(),
                "{kind:?} {at} in {value}: {}",
                answer.text
            );
        }
    }
}

#[test]
fn cru_17_a_change_is_valid_by_its_schema_as_it_is_taken() {
    let server = Server::with(|api| api);
    for (kind, ground) in grounds(&server) {
        if !server.api.offers(kind, Operation::Update) {
            continue;
        }
        let update = validator_of(&server.api, kind.singular(), ".update");
        for seed in 0..CASES {
            let mut dice = Dice::new(seed);
            let mut first = Object::new();
            if kind == Kind::Question {
                first.insert("question_type", "MultiChoice");
                let response = [("key", Json::from("k"))].into_iter().collect();
                first.insert("responses", Json::Array(vec![Json::Object(response)]));
            }
            if kind == Kind::Person {
                first.insert("given_name", "Ada");
            }
            if matches!(kind, Kind::Tag | Kind::List) {
                first.insert("name", format!("name {seed}"));
            }
            let record = server.made(
                &ground.collection,
                &as_value(&with_links(first, &ground)).to_string(),
            );
            let mut change = generate::body(&mut dice, kind);
            for field in kind.schema().fields.fields {
                // The type of a question decides whether its responses are required
                // (RES-question-07).
                let is_free = field.mode != FieldMode::Required && field.name != "responses";
                if is_free && !field.is_computed() && dice.once_in(5) {
                    change.insert(field.name, Json::Null);
                }
            }
            // The question must still have choices (ERR-35).
            if change.get("question_type").and_then(Json::as_str) == Some("Paragraph") {
                change.insert("question_type", "SingleChoice");
            }
            let value = as_value(&change);
            assert_eq!(faults(&update, &value), [""; 0], "{kind:?} {value}");
            let answer = server.put(&record, &value.to_string());
            assert_eq!(answer.status, 200, "{kind:?} {value}: {}", answer.text);
            // Sending back a record as it was read changes nothing (UND-21).
            assert_eq!(
                faults(&update, &answer.json),
                [""; 0],
                "{kind:?} {}",
                answer.text
            );
            let (fault, at) = one_fault(&mut dice, kind);
            let value = as_value(&fault);
            let answer = server.put(&record, &value.to_string());
            let is_missing = kind
                .schema()
                .fields
                .field(&at)
                .is_some_and(|it| !fault.contains(it.name));
            assert_eq!(
                answer.status,
                if is_missing { 200 } else { 400 },
                "{kind:?} {at} in {value}: {}",
                answer.text
            );
            assert_eq!(
                faults(&update, &value).is_empty(),
                is_missing,
                "{kind:?} {at} in {value}"
            );
        }
    }
}

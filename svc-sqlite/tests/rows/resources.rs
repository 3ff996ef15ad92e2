//! RES: every field of every kind survives the round trip, every link leads where it should.

use serde_json::{Value, json};
use svc_conformance::row;

use crate::client::{Client, link, own};
use crate::family::{Case, Family};
use crate::fields::{CARRIERS, FIELDS, Field, LINKS, Shape};
use crate::fixture::Fixture;
use crate::kinds::{addresses_kind, kind, make};
use crate::values::{find, instant, invalid, place, same, spoken, valid};

/// One case per area of the catalogue.
macro_rules! areas {
    ($($name:ident),+ $(,)?) => { &[$((stringify!($name), |fixture| area(fixture, stringify!($name)))),+] };
}

const OBJECTS: &[Case] =
    areas!(referrer_data, share_options, target, postal_address, email_address, phone_number, person);
const CONTAINERS: &[Case] =
    areas!(petition, form, fundraising_page, event, advocacy_campaign, share_page, question, message);
const ACTIONS: &[Case] = areas!(signature, submission, donation, outreach, attendance, canvass);

pub(crate) static OBJECTS_FAMILY: Family = Family::new("RES objects and person", OBJECTS);
pub(crate) static CONTAINERS_FAMILY: Family = Family::new("RES containers", CONTAINERS);
pub(crate) static ACTIONS_FAMILY: Family = Family::new("RES actions", ACTIONS);

/// Fields and links of one area.
fn area(fixture: &Fixture, owner: &'static str) {
    let places: Vec<(&str, &str)> =
        CARRIERS.iter().filter(|(object, ..)| *object == owner).map(|(_, kind, place)| (*kind, *place)).collect();
    for (seed, field) in FIELDS.iter().filter(|field| field.owner == owner).enumerate() {
        if places.is_empty() {
            field_of(fixture, field, owner, &field.path, seed);
        }
        for (kind, place) in &places {
            field_of(fixture, field, kind, &format!("{place}.{}", field.path), seed);
        }
    }
    links(fixture, owner);
}

/// One field in one kind.
pub(crate) fn field_of(fixture: &Fixture, field: &Field, one: &str, path: &str, seed: usize) {
    match (&field.shape, field.computed) {
        (Shape::Reference, _) => {}
        // Answers given with a canvass become records of their own; they have their own test.
        _ if field.owner == "canvass" && field.path.starts_with("question_response") => {}
        (_, true) => computed(fixture, field, one, path),
        _ => round_trip(fixture, field, one, path, seed),
    }
}

/// The row of a type.
fn type_row(shape: &Shape) -> &'static str {
    match shape {
        Shape::Text => "TYP-01",
        Shape::Integer => "TYP-02",
        Shape::Float => "TYP-03",
        Shape::Number => "TYP-04",
        Shape::Boolean => "TYP-05",
        Shape::DateTime => "TYP-06",
        Shape::Date => "TYP-07",
        Shape::Enum(_) => "TYP-08",
        Shape::Flex(_) => "TYP-09",
        Shape::Object => "TYP-11",
        Shape::Texts | Shape::Objects | Shape::Reference => "TYP-12",
    }
}

/// What must stand beside a value so that the rest of the record makes sense.
fn body(one: &str, path: &str, value: &Value) -> Value {
    let mut body = place(path, value);
    match (one, path) {
        ("attendance", path) if path.starts_with("tickets[].") && path != "tickets[].title" => {
            body["tickets"][0]["title"] = json!("Standard");
        }
        ("donation", "voided_date") => body["voided"] = json!(true),
        ("question", path) if path.starts_with("responses") => body["question_type"] = json!("MultiChoice"),
        ("question", "question_type") => body["responses"] = json!([]),
        _ => {}
    }
    body
}

/// Every valid value is kept on create and on update; every invalid one is refused by name and changes nothing.
fn round_trip(fixture: &Fixture, field: &Field, one: &str, path: &str, seed: usize) {
    let (api, ledger) = (&fixture.api, &fixture.ledger);
    let dates = field.shape == Shape::DateTime;
    let mut values = valid(field.owner, &field.path, &field.shape, seed).into_iter();
    let first = values.next().expect("a valid value");
    let made = make(fixture, api, one, &body(one, path, &first));
    let read = api.reread(&made);
    let kept = same(&first, find(&read, path), dates);
    row!(ledger, field.row, kept && made == read, "{one} {path}: sent {first}, got {made} and {read}");
    row!(ledger, type_row(&field.shape), kept, "{one} {path}: sent {first}, got {read}");
    // A membership cannot be updated.
    if matches!(one, "tagging" | "item") {
        return;
    }
    for value in values {
        let put = api.put(&own(&made), &body(one, path, &value));
        row!(ledger, field.row, put.status == 200 && same(&value, find(&put.json, path), dates), "{one} {path}: {put}");
        let read = api.reread(&made);
        row!(ledger, field.row, read == put.json, "{one} {path}: {read} after {put}");
        row!(ledger, type_row(&field.shape), same(&value, find(&read, path), dates), "{one} {path}: {read}");
    }
    let before = api.reread(&made);
    for value in invalid(field) {
        let put = api.put(&own(&made), &body(one, path, &value));
        let inside = |name: &String| name.starts_with(&spoken(path));
        let named = put.problems().iter().any(|problem| problem.properties.iter().any(inside));
        row!(ledger, field.row, put.status == 400 && named, "{one} {path}: {value} is not refused: {put}");
        row!(ledger, "ERR-14", api.reread(&made) == before, "{one} {path}: {put}");
    }
}

/// A computed field is there, has its type, and takes no value from a client.
fn computed(fixture: &Fixture, field: &Field, one: &str, path: &str) {
    let (api, ledger) = (&fixture.api, &fixture.ledger);
    let sent = if field.shape == Shape::DateTime { json!("2001-02-03T04:05:06Z") } else { json!(987_654) };
    let made = make(fixture, api, one, &place(path, &sent));
    let put = api.put(&own(&made), &place(path, &sent)).ok();
    for record in [&made, &put, &api.reread(&made)] {
        let value = find(record, path);
        let typed = match field.shape {
            Shape::Integer => value.as_i64() == Some(0),
            Shape::DateTime => value.is_null(),
            _ => value.as_f64() == Some(0.0),
        };
        row!(ledger, field.row, typed, "{one} {path}: {record}");
    }
}

/// Every link of a kind is there and leads to what it says.
fn links(fixture: &Fixture, owner: &str) {
    let (api, ledger) = (&fixture.bound, &fixture.ledger);
    if LINKS.iter().all(|link| link.owner != owner) {
        return;
    }
    let person = api.create("people", &json!({}));
    let fields = if owner == "event" { api.linked(&json!({}), "organizer", &own(&person)) } else { json!({}) };
    let made = make(fixture, api, owner, &fields);
    let made = api.put(&own(&made), &json!({"origin_system": "changed"})).ok();
    for expected in LINKS.iter().filter(|link| link.owner == owner) {
        let rel = if expected.name == "self" { "self".to_owned() } else { api.rel(&expected.name) };
        let Some(target) = link(&made, &rel).map(ToOwned::to_owned) else {
            row!(ledger, expected.row, false, "no {rel} in {made}");
            return;
        };
        row!(
            ledger,
            expected.row,
            leads(api, owner, &expected.name, &target, &made),
            "{rel} leads to {target} in {made}"
        );
    }
}

/// Whether an address is of what the relation says.
fn leads(api: &Client, owner: &str, name: &str, target: &str, record: &Value) -> bool {
    if name.ends_with("_helper") {
        let body = if name == "record_attendance_helper" { json!({"status": "accepted"}) } else { json!({}) };
        return api.post(target, &body).status == 200;
    }
    let found = api.get(target).ok();
    match name {
        "self" => found == api.reread(record) && own(&found) == target,
        "creator" | "modified_by" | "organizer" | "person" => addresses_kind(target, "person") && own(&found) == target,
        "petition" | "form" | "advocacy_campaign" => addresses_kind(target, name) && own(&found) == target,
        many => {
            let members = &found["_links"][api.rel(many)];
            found["total_records"].is_u64() && members.is_array() && !target.is_empty() && kind(owner).one == owner
        }
    }
}

/// Whether a member of a record is a point in time.
pub(crate) fn is_instant(value: &Value) -> bool {
    value.as_str().and_then(instant).is_some()
}

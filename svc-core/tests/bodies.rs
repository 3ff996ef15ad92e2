//! Bodies of requests as drafts: what is read, and that everything wrong is named at once.

use svc_core::{
    Base, Problem,
    field_set::FieldSet,
    link::{ConventionalLayout, Dialect},
    model::{Kind, Person, Question},
    raw::RawDraft,
    read::{Bodies, Caps, Json, Limits, Links},
    value::Timestamp,
};

fn draft(kind: Kind, body: &str) -> (RawDraft, Vec<Problem>) {
    let (base, dialect, limits) = (Base::default(), Dialect::default(), Limits::default());
    let links = Links { base: &base, layout: &ConventionalLayout, dialect: &dialect };
    let bodies =
        Bodies { links, namespace: "demo", limits: &limits, caps: &Caps::STRANGERS, now: Timestamp::from_micros(0) };
    let writable = match kind {
        Kind::Question => FieldSet::<Question>::writable().bits(),
        _ => FieldSet::<Person>::writable().bits(),
    };
    let object = bodies.object(body.as_bytes()).expect("an object");
    bodies.draft(kind, writable, &object, None)
}

fn properties(problems: &[Problem]) -> Vec<String> {
    problems.iter().flat_map(|problem| problem.properties.iter().map(ToString::to_string)).collect()
}

#[test]
fn cru_16_null_on_create_means_absent() {
    let (draft, problems) = draft(Kind::Person, r#"{"given_name":null,"birthdate":{"year":null,"month":2}}"#);
    assert_eq!(problems, []);
    assert!(!draft.fields.contains("given_name"));
    assert_eq!(Json::Object(draft.fields).to_vec(), br#"{"birthdate":{"month":2}}"#);
}

#[test]
fn err_39_rules_between_fields_see_what_is_wrong_inside_them() {
    let body = r#"{"question_type":"Paragraph","responses":[7,{"key":"a","name":"no good"},{"key":"a","name":"b"}]}"#;
    let (_, problems) = draft(Kind::Question, body);
    let expected =
        ["responses[0]", "responses[1].name", "responses[2].key", "question_type", "responses"].map(str::to_owned);
    assert_eq!(properties(&problems), expected);
}

#[test]
fn res_phone_number_03_only_whole_numbers_are_phone_numbers() {
    let number = |number: &str| draft(Kind::Person, &format!(r#"{{"phone_numbers":[{{"number":{number}}}]}}"#)).1;
    assert_eq!(number("15550100101"), []);
    for wrong in ["1.5", "-1", "1e3"] {
        assert_eq!(properties(&number(wrong)), ["phone_numbers[0].number"]);
    }
}

#[test]
fn und_24_an_identifier_of_the_servers_own_is_named_by_its_place() {
    let (_, problems) = draft(Kind::Person, r#"{"identifiers":["no colon","crm:1","demo:other"]}"#);
    assert_eq!(properties(&problems), ["identifiers[0]", "identifiers[2]"]);
}

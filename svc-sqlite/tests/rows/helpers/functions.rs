//! Action functions of helpers.

use serde_json::{Value, json};
use svc_conformance::row;

use super::{all_helpers, helper, person_of};
use crate::client::{Reply, addresses, own};
use crate::fixture::{Fixture, Setup};
use crate::kinds::{least, unique};

/// Each action function on each helper.
pub(super) fn functions(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for (name, address, body) in all_helpers(api) {
        let tags: Vec<_> = (0..2).map(|_| api.create("tags", &least("tag"))).collect();
        let lists: Vec<_> = (0..2).map(|_| api.create("lists", &least("list"))).collect();
        let question = api.create("questions", &least("question"));
        let mut body = body;
        body["add_tags"] = json!([tags[0]["name"]]);
        body["add_tags_uri"] = json!([own(&tags[1])]);
        body["add_lists"] = json!([lists[0]["name"]]);
        body["add_lists_uri"] = json!([own(&lists[1])]);
        body["add_questions_responses_uri"] = json!([{"question": own(&question), "responses": ["a1"]}]);
        body["triggers"] = json!({"autoresponse": {"enabled": true, "identifiers": ["mailer:12"]}});
        let reply = api.post(&address, &body);
        row!(ledger, "HAF-01", reply.status == 200, "{name}: {reply}");
        let person = person_of(api, &reply.json);
        let follow = |many: &str, one: &str| -> Vec<String> {
            api.members(&api.href(&person, many)).iter().map(|member| api.href(member, one)).collect()
        };
        row!(ledger, "HAF-01", follow("taggings", "tag") == addresses(&tags), "{name}");
        row!(ledger, "HAF-01", follow("items", "list") == addresses(&lists), "{name}");
        row!(ledger, "HAF-01", follow("answers", "question") == [own(&question)], "{name}");
        row!(ledger, "HAF-07", api.total(&api.href(&question, "answers")) == 1, "{name}");
    }
}

/// A signature helper call with action functions, and the person it is about.
pub(super) fn call(f: &Fixture, functions: Value) -> (Reply, Option<Value>) {
    let api = &f.api;
    let (petition, address) = helper(api, "petition", "record_signature_helper");
    let mail = format!("{}@example.org", unique("call"));
    let mut body = functions;
    body["person"] = json!({"email_addresses": [{"address": mail}]});
    let reply = api.post(&address, &body);
    let made = api.members(&api.href(&petition, "signatures"));
    let person = made.first().map(|signature| api.follow(signature, "person"));
    (reply, person)
}

pub(super) fn tags_and_lists(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for (names, uris, one, many, member, codes) in [
        (
            "add_tags",
            "add_tags_uri",
            "tag",
            "tags",
            "taggings",
            [("HAF-02", "HAF-03", "TAG_NAME_DOES_NOT_EXIST"), ("HAF-04", "HAF-04", "TAG_URI_DOES_NOT_EXIST")],
        ),
        (
            "add_lists",
            "add_lists_uri",
            "list",
            "lists",
            "items",
            [("HAF-05", "HAF-05", "LIST_NAME_DOES_NOT_EXIST"), ("HAF-06", "HAF-06", "LIST_URI_DOES_NOT_EXIST")],
        ),
    ] {
        let made: Vec<_> = (0..3).map(|_| api.create(many, &least(one))).collect();
        let by_name: Vec<_> = made.iter().map(|record| record["name"].clone()).collect();
        let by_uri = addresses(&made);
        for ((function, given), (id, wrong_id, code)) in
            [(names, json!(by_name)), (uris, json!(by_uri))].into_iter().zip(codes)
        {
            let mut twice = given.clone();
            twice.as_array_mut().expect("a list").extend(given.as_array().cloned().unwrap_or_default());
            for sent in [given, twice] {
                let (reply, person) = call(f, json!({ function: sent }));
                let person = person.expect("a person");
                let found: Vec<_> = api.members(&api.href(&person, member)).iter().map(|m| api.href(m, one)).collect();
                row!(ledger, id, reply.status == 200 && found == by_uri, "{reply} {found:?}");
            }
            let before = api.total(&api.collection(many));
            let unknown = if function.ends_with("uri") { own(&api.entry()) } else { unique("no such") };
            let (reply, person) = call(f, json!({ function: [unknown] }));
            let kept = person.is_some() && api.total(&api.collection(many)) == before;
            row!(ledger, wrong_id, reply.refuses(code, function) && kept, "{reply}");
            if code == "TAG_NAME_DOES_NOT_EXIST" {
                row!(ledger, "ERR-37", reply.refuses(code, "add_tags"), "{reply}");
            }
        }
    }
    let gone = api.create("tags", &least("tag"));
    assert_eq!(api.delete(&own(&gone)).status, 204);
    let (reply, _) = call(f, json!({"add_tags_uri": [own(&gone), "https://elsewhere.example.org/tags/1"]}));
    row!(ledger, "HAF-04", reply.problems().len() == 2 && reply.says("TAG_URI_DOES_NOT_EXIST"), "{reply}");
}

pub(super) fn questions(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let make = |kind: &str| {
        let mut body = json!({"question_type": kind, "identifiers": [unique("survey:q")]});
        if kind != "Paragraph" {
            body["responses"] = json!([{"key": "a1"}, {"key": "b2"}, {"key": "c3"}]);
        }
        api.create("questions", &body)
    };
    let (single, multi, text) = (make("SingleChoice"), make("MultiChoice"), make("Paragraph"));
    let elements = json!([
        {"question": own(&single), "responses": ["b2"]},
        {"question": multi["identifiers"][1], "responses": ["a1", "c3"], "value": "Other"},
        {"question": text["identifiers"][0], "value": "In my own words"},
    ]);
    let (reply, person) = call(f, json!({"add_questions_responses_uri": elements}));
    let answers = api.members(&api.href(&person.expect("a person"), "answers"));
    row!(ledger, "HAF-07", reply.status == 200 && answers.len() == 3, "{reply} {answers:?}");
    let of: Vec<_> = answers.iter().map(|answer| api.href(answer, "question")).collect();
    row!(ledger, "HAF-08", of == [own(&single), own(&multi), own(&text)], "{answers:?}");
    let responses: Vec<_> = answers.iter().map(|answer| answer["responses"].clone()).collect();
    row!(ledger, "HAF-09", responses[..2] == [json!(["b2"]), json!(["a1", "c3"])], "{answers:?}");
    row!(ledger, "HAF-10", answers[2]["value"] == "In my own words" && answers[1]["value"] == "Other", "{answers:?}");
    for question in [&single, &multi, &text] {
        row!(ledger, "HAF-07", api.total(&api.href(question, "answers")) == 1, "{question}");
    }
    for (id, element, code) in [
        ("HAF-08", json!({"question": "survey:unknown", "responses": ["a1"]}), "QUESTION_DOES_NOT_EXIST"),
        ("HAF-08", json!({"question": api.base, "responses": ["a1"]}), "QUESTION_DOES_NOT_EXIST"),
        ("HAF-09", json!({"question": own(&single), "responses": ["zz"]}), "RESPONSE_KEY_DOES_NOT_EXIST"),
        ("HAF-09", json!({"question": own(&single), "responses": ["a1", "b2"]}), "TOO_MANY_RESPONSES"),
    ] {
        let (reply, person) = call(f, json!({"add_questions_responses_uri": [element]}));
        row!(ledger, id, reply.status == 400 && reply.says(code) && person.is_some(), "{reply}");
    }
}

pub(super) fn triggers(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for name in ["autoresponse", "sms_response", "call_response"] {
        for enabled in [true, false] {
            let body = json!({"triggers": {name: {"enabled": enabled, "identifiers": ["mailer:secret-12"]}}});
            let (reply, person) = call(f, body);
            row!(ledger, "HAF-11", reply.status == 200, "{reply}");
            row!(ledger, "HAF-12", reply.status == 200, "{reply}");
            let text = format!("{} {}", reply.text(), person.clone().unwrap_or_default());
            row!(ledger, "HAF-13", !text.contains("mailer:secret-12"), "{text}");
        }
        let wrong = [
            ("HAF-12", json!({name: {"enabled": "yes"}}), format!("triggers.{name}.enabled")),
            (
                "HAF-13",
                json!({name: {"enabled": true, "identifiers": ["no colon"]}}),
                format!("triggers.{name}.identifiers[0]"),
            ),
            ("HAF-11", json!({name: true}), format!("triggers.{name}")),
        ];
        for (id, body, property) in wrong {
            let (reply, person) = call(f, json!({"triggers": body}));
            row!(ledger, id, reply.refuses("FIELD_INVALID", &property) && person.is_none(), "{reply}");
        }
    }
    assert!(api.key.is_some());
}

/// Action functions that the server does not support fail for their entry.
pub(super) fn not_supported(f: &Fixture) {
    for (function, without, value, resource) in [
        ("add_tags", "haf.add_tags", json!(["x"]), "svc:tagging"),
        ("add_lists", "haf.add_lists", json!(["x"]), "svc:item"),
        ("add_questions_responses_uri", "haf.add_questions_responses_uri", json!([{"question": "a:b"}]), "svc:answer"),
    ] {
        let other = f.with(&Setup { without: vec![without.into()], ..Setup::default() });
        let (reply, person) = call(&other, json!({ function: value }));
        let entry = reply.entries().iter().find(|entry| entry["resource"] == resource).cloned().unwrap_or_default();
        row!(
            f.ledger,
            "ERR-38",
            entry["response_code"] == 500 && reply.says("NOT_SUPPORTED") && person.is_some(),
            "{reply}"
        );
    }
}

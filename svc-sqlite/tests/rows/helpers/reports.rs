//! What a helper reports of which not everything could be done.

use serde_json::json;
use svc_conformance::row;

use super::composed;
use super::functions::call;
use crate::client::own;
use crate::fixture::{Fixture, Setup};
use crate::kinds::least;

/// The default runner reports person 201 and action 400, and the person stays (HLP-10).
pub(super) fn composed_action_fails(f: &Fixture) {
    let f = &composed(f);
    let (api, ledger) = (&f.api, &f.ledger);
    let event = api.create("events", &json!({"capacity": 0}));
    let helper = api.href(&event, "record_attendance_helper");
    let people = api.total(&api.collection("people"));
    let reply = api.post(&helper, &json!({"status": "accepted", "person": {"given_name": "Late"}}));
    let entries: Vec<_> =
        reply.entries().iter().map(|entry| entry["response_code"].as_u64().unwrap_or_default()).collect();
    let reported =
        reply.error()["request_type"] == "non-atomic" && entries == [201, 400] && reply.says("CAPACITY_EXCEEDED");
    row!(ledger, "HLP-10", reply.status == 400 && reported, "{reply}");
    row!(ledger, "ERR-29", api.total(&api.collection("people")) == people + 1, "the person stays");
}

pub(super) fn non_atomic(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let tag = api.create("tags", &least("tag"));
    let (reply, person) =
        call(f, json!({"add_tags": [tag["name"], "no such tag"], "add_lists": ["no such list"], "comments": "Yes"}));
    row!(ledger, "ERR-29", person.is_some(), "{reply}");
    let error = reply.error();
    row!(
        ledger,
        "ERR-30",
        reply.status == 400 && error["request_type"] == "non-atomic" && error["response_code"] == 400,
        "{reply}"
    );
    let entries: Vec<_> = reply
        .entries()
        .iter()
        .map(|e| (e["resource"].as_str().unwrap_or_default(), e["response_code"].as_u64().unwrap_or_default()))
        .collect();
    let expected =
        [("svc:person", 201), ("svc:signature", 201), ("svc:tagging", 201), ("svc:tagging", 400), ("svc:item", 400)];
    row!(ledger, "ERR-31", entries == expected, "{reply}");
    let beside = &reply.json["svc:person"];
    row!(
        ledger,
        "ERR-32",
        own(beside) == own(&person.expect("a person")) && reply.json["svc:signature"]["comments"] == "Yes",
        "{reply}"
    );
    let plain = reply.entries().iter().all(|entry| entry.get("errors").is_none());
    row!(ledger, "ERR-33", plain, "{reply}");
    let other = f.with(&Setup { examples: true, ..Setup::default() });
    let (reply, _) = call(&other, json!({"add_tags": ["no such tag"]}));
    let entry = reply.entries().iter().find(|entry| entry["response_code"] == 400).cloned().unwrap_or_default();
    let spelled =
        entry["errors"][0]["code"] == "TAG_NAME_DOES_NOT_EXIST" && entry["errors"][0]["description"].is_string();
    row!(ledger, "ERR-33", spelled && entry.get("error_descriptions").is_none(), "{reply}");
    // What is wrong in the body alone refuses the whole call.
    let (reply, person) = call(f, json!({"add_tags": ["no such tag", 7]}));
    let refused = reply.status == 400 && reply.error()["request_type"] == "atomic";
    row!(ledger, "HLP-10", refused && person.is_none() && reply.refuses("FIELD_INVALID", "add_tags[1]"), "{reply}");
}

pub(super) fn atomic(f: &Fixture) {
    let other = f.with(&Setup { atomicity: svc_core::api::Atomicity::WholeCall, ..Setup::default() });
    let (api, ledger) = (&other.api, &f.ledger);
    let tag = api.create("tags", &least("tag"));
    let people = api.total(&api.collection("people"));
    let (reply, person) = call(&other, json!({"add_tags": [tag["name"], "no such tag"]}));
    row!(ledger, "ERR-34", reply.status == 400 && reply.error()["request_type"] == "atomic", "{reply}");
    let nothing = person.is_none()
        && api.total(&api.collection("people")) == people
        && api.total(&api.href(&tag, "taggings")) == 0;
    row!(ledger, "ERR-34", nothing && reply.says("TAG_NAME_DOES_NOT_EXIST"), "{reply}");
}

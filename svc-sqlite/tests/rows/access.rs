//! AUT: keys, rights, and calls without a key.

use serde_json::{Value, json};
use svc_conformance::row;

use crate::client::own;
use crate::family::{Case, Family};
use crate::fixture::{Fixture, Setup};
use crate::kinds::{ACTIONS, KINDS, kind, least};
use crate::world::World;

const CASES: &[Case] = &[
    ("an invalid key", invalid_key),
    ("without a key", without_key),
    ("a narrow key", narrow_key),
    ("another tenant", another_tenant),
    ("anonymous helpers", anonymous_helpers),
];

pub(crate) static FAMILY: Family = Family::new("AUT", CASES);

/// Every address of a world, with a few collections.
fn addresses_of(f: &Fixture, world: &World) -> Vec<String> {
    let mut list: Vec<String> = world.records.values().map(own).collect();
    for kind in KINDS.iter().filter(|kind| kind.under.is_none()) {
        list.push(f.api.collection(kind.many));
    }
    for kind in KINDS.iter().filter(|kind| kind.under.is_some_and(|under| under != "person")) {
        list.push(f.api.href(world.get(kind.under.unwrap_or_default()), kind.many));
    }
    list
}

/// The whole visible state of a world.
fn state(f: &Fixture, addresses: &[String]) -> Vec<Value> {
    addresses.iter().map(|address| f.api.get(address).ok()).collect()
}

fn invalid_key(f: &Fixture) {
    let ledger = &f.ledger;
    let world = World::new(&f.api);
    let addresses = addresses_of(f, &world);
    let before = state(f, &addresses);
    let helper = f.api.href(world.get("petition"), "record_signature_helper");
    let revoked = f.revoked_key();
    for key in ["no-such-key", "a|b", "", " ", revoked.as_str()] {
        let wrong = f.api.with_key(key);
        for reply in [
            wrong.get(&wrong.base),
            wrong.get(&f.api.collection("people")),
            wrong.post(&helper, &json!({"person": {}})),
        ] {
            row!(ledger, "AUT-03", reply.status == 401 && reply.body.is_empty(), "{key:?}: {reply}");
            row!(ledger, "ERR-08", reply.status == 401, "{reply}");
            let challenge = reply.header("www-authenticate").unwrap_or_default();
            row!(ledger, "AUT-07", challenge == "ApiKey header=\"SVC-API-Token\"", "{challenge}");
        }
        for address in &addresses {
            for reply in [
                wrong.get(address),
                wrong.put(address, &json!({"name": "x"})),
                wrong.delete(address),
                wrong.post(address, &json!({})),
            ] {
                row!(ledger, "AUT-03", reply.status == 401, "{reply}");
            }
        }
    }
    row!(ledger, "AUT-08", state(f, &addresses) == before);
    row!(ledger, "AUT-01", f.api.get(&f.api.collection("people")).status == 200);
}

fn without_key(f: &Fixture) {
    let (none, ledger) = (f.api.anonymous(), &f.ledger);
    let world = World::new(&f.api);
    let addresses = addresses_of(f, &world);
    let before = state(f, &addresses);
    for address in &addresses {
        for reply in [
            none.get(address),
            none.put(address, &json!({"name": "x"})),
            none.delete(address),
            none.post(address, &json!({"person": {}})),
        ] {
            row!(ledger, "AUT-07", reply.status == 401, "{reply}");
            row!(ledger, "AUT-01", reply.status == 401, "{reply}");
        }
    }
    let signup = none.post(&f.api.href(&f.api.entry(), "person_signup_helper"), &json!({"person": {}}));
    row!(ledger, "AUT-07", signup.status == 401, "{signup}");
    let schedule = f.api.href(world.get("message"), "schedule_helper");
    row!(
        ledger,
        "AUT-07",
        none.post(&schedule, &json!({"scheduled_start_date": "2026-03-01T12:00:00Z"})).status == 401
    );
    row!(ledger, "AUT-08", state(f, &addresses) == before);
}

/// A key with the rights `people.list`, `people.read` and `helper.record_signature`, and one that may only read.
fn narrow_key(f: &Fixture) {
    let (narrow, reader, ledger) = (&f.narrow, &f.reader, &f.ledger);
    let world = World::new(&f.api);
    let addresses = addresses_of(f, &world);
    let before = state(f, &addresses);
    row!(ledger, "AUT-04", narrow.get(&f.api.collection("people")).status == 200);
    row!(ledger, "AUT-04", narrow.get(&own(world.get("person"))).status == 200);
    for (one, record) in &world.records {
        let read = narrow.get(&own(record)).status;
        row!(ledger, "AUT-04", read == if *one == "person" { 200 } else { 403 }, "{one}: {read}");
        for caller in [narrow, reader] {
            let removed = caller.delete(&own(record));
            row!(ledger, "AUT-04", removed.status == 403 && removed.body.is_empty(), "{removed}");
            row!(ledger, "ERR-09", removed.status == 403, "{removed}");
            if !matches!(*one, "tagging" | "item") {
                let put = caller.put(&own(record), &json!({"origin_system": "x"}));
                row!(ledger, "AUT-04", put.status == 403, "{put}");
            }
        }
    }
    for kind in KINDS.iter().filter(|kind| kind.under.is_none() && kind.one != "query") {
        for caller in [narrow, reader] {
            let made = caller.post(&f.api.collection(kind.many), &least(kind.one));
            row!(ledger, "ERR-09", made.status == 403, "{made}");
        }
        row!(ledger, "AUT-04", reader.get(&f.api.collection(kind.many)).status == 200);
    }
    for (_, under, helper) in ACTIONS {
        let address = f.api.href(world.get(under), helper);
        let refused = reader.post(&address, &json!({"person": {}}));
        row!(ledger, "AUT-04", refused.status == 403, "{refused}");
        if *under != "petition" {
            row!(ledger, "AUT-04", narrow.post(&address, &json!({"person": {}})).status == 403);
        }
    }
    row!(ledger, "AUT-08", state(f, &addresses) == before);
    let helper = f.api.href(world.get("petition"), "record_signature_helper");
    row!(
        ledger,
        "AUT-04",
        narrow.post(&helper, &json!({"person": {}})).status == 200,
        "a helper call needs only its own right"
    );
}

/// What one key sees is 404 for the other, for every method, and links to it are unknown.
fn another_tenant(f: &Fixture) {
    let (other, ledger) = (&f.other, &f.ledger);
    let world = World::new(&f.api);
    let mut addresses = addresses_of(f, &world);
    addresses
        .retain(|address| !KINDS.iter().any(|kind| kind.under.is_none() && f.api.collection(kind.many) == *address));
    let before = state(f, &addresses);
    for address in &addresses {
        for reply in [
            other.get(address),
            other.put(address, &json!({"origin_system": "x"})),
            other.delete(address),
            other.post(address, &json!({})),
        ] {
            row!(ledger, "AUT-02", reply.status == 404, "{reply}");
            row!(ledger, "UND-37", reply.status == 404, "{reply}");
        }
    }
    let petition = other.create("petitions", &json!({}));
    let body = json!({
        "person": {}, "add_tags_uri": [own(world.get("tag"))], "add_lists_uri": [own(world.get("list"))],
        "add_tags": [world.get("tag")["name"]], "add_lists": [world.get("list")["name"]],
        "add_questions_responses_uri": [{"question": own(world.get("question")), "responses": ["a1"]}],
    });
    let reply = other.post(&other.href(&petition, "record_signature_helper"), &body);
    for code in [
        "TAG_URI_DOES_NOT_EXIST",
        "LIST_URI_DOES_NOT_EXIST",
        "TAG_NAME_DOES_NOT_EXIST",
        "LIST_NAME_DOES_NOT_EXIST",
        "QUESTION_DOES_NOT_EXIST",
    ] {
        row!(ledger, "AUT-02", reply.says(code), "{code}: {reply}");
    }
    let link = other.linked(&json!({}), "person", &own(world.get("person")));
    row!(ledger, "AUT-02", other.post(&other.href(&petition, "signatures"), &link).says("PERSON_NOT_FOUND"));
    row!(ledger, "AUT-08", state(f, &addresses) == before);
}

/// The six record helpers may be called without a key, and can be switched off.
fn anonymous_helpers(f: &Fixture) {
    let (none, ledger) = (f.api.anonymous(), &f.ledger);
    let world = World::new(&f.api);
    for (one, under, helper) in ACTIONS {
        let container = world.get(under);
        let actions = f.api.href(container, kind(one).many);
        let before = f.api.total(&actions);
        let reply = none.post(&f.api.href(container, helper), &json!({"person": {"given_name": "Stranger"}}));
        row!(ledger, "AUT-06", reply.status == 200 && f.api.total(&actions) == before + 1, "{reply}");
        row!(ledger, "HLP-07", reply.status == 200 && reply.text() == "{}", "{reply}");
    }
    let canvass = none.post(&f.api.href(world.get("person"), "record_canvass_helper"), &json!({"canvass": {}}));
    row!(ledger, "HLP-07", canvass.status == 200 && canvass.text() == "{}", "{canvass}");
    let missing =
        none.post(&format!("{}0/record_signature_helper", own(world.get("petition"))), &json!({"person": {}}));
    row!(ledger, "HLP-09", missing.status == 404 && missing.says("RESOURCE_NOT_FOUND"), "{missing}");
    let strict = f.with(&Setup { anonymous_helpers: false, ..Setup::default() });
    let petition = strict.api.create("petitions", &json!({}));
    let reply =
        strict.api.anonymous().post(&strict.api.href(&petition, "record_signature_helper"), &json!({"person": {}}));
    row!(ledger, "AUT-06", reply.status == 401 && strict.api.reread(&petition)["total_signatures"] == 0, "{reply}");
}

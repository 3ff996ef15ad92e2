//! HLP, HAF, SCH: helpers, their action functions, scheduling.

mod actions;
mod functions;
mod people;
mod reports;
mod schedule;

use http::Method;
use serde_json::{Value, json};
use svc_conformance::row;

use crate::client::{Client, link, own};
use crate::family::{Case, Family};
use crate::fixture::{Fixture, Setup};
use crate::kinds::{ACTIONS, kind, least};

const CASES: &[Case] = &[
    ("methods of helpers", methods),
    ("subsets of the body", subsets),
    ("the inline person", people::inline_person),
    ("matching", people::matching),
    ("matching without a key", people::matching_without_key),
    ("strangers learn nothing", people::strangers),
    ("each record helper", actions::record_helpers),
    ("attendance of ticketed events", actions::ticketed),
    ("canvass", actions::canvass),
    ("person signup", people::signup),
    ("a container that does not exist", no_container),
    ("posted again", actions::posted_again),
    ("action functions on every helper", functions::functions),
    ("tags and lists", functions::tags_and_lists),
    ("questions", functions::questions),
    ("triggers", functions::triggers),
    ("non-atomic", reports::non_atomic),
    ("atomic", reports::atomic),
    ("not supported", functions::not_supported),
    ("scheduling", schedule::scheduling),
    ("scheduling refused", schedule::scheduling_refused),
];

pub(crate) static FAMILY: Family = Family::new("HLP HAF SCH", CASES);

/// The same through the default runner: what it cannot do is said by its own cases.
const COMPOSED: &[Case] = &[
    ("methods of helpers", |f| methods(&composed(f))),
    ("subsets of the body", |f| subsets(&composed(f))),
    ("the inline person", |f| people::inline_person(&composed(f))),
    ("matching", |f| people::matching(&composed(f))),
    ("matching without a key", |f| people::matching_without_key(&composed(f))),
    ("strangers learn nothing", |f| people::strangers(&composed(f))),
    ("each record helper", |f| actions::record_helpers(&composed(f))),
    ("attendance of ticketed events", |f| actions::ticketed(&composed(f))),
    ("person signup", |f| people::signup(&composed(f))),
    ("a container that does not exist", |f| no_container(&composed(f))),
    ("tags and lists", |f| functions::tags_and_lists(&composed(f))),
    ("questions", |f| functions::questions(&composed(f))),
    ("non-atomic", |f| reports::non_atomic(&composed(f))),
    ("an action that cannot be stored", reports::composed_action_fails),
];

pub(crate) static COMPOSED_FAMILY: Family = Family::new("HLP HAF composed", COMPOSED);

/// The same service with the default runner.
fn composed(f: &Fixture) -> Fixture {
    f.with(&Setup { composed: true, ..Setup::default() })
}

/// What each record helper takes besides the person.
fn fields(one: &str) -> Value {
    let mut body = json!({"origin_system": "Elsewhere", "action_date": "2026-01-05T09:00:00Z", "referrer_data": {"source": "mail"}});
    let more = match one {
        "signature" => json!({"comments": "Yes"}),
        "donation" => {
            json!({"amount": 12.5, "currency": "EUR", "payment": {"method": "Cash"}, "recipients": [{"display_name": "r", "amount": 12.5}]})
        }
        "outreach" => {
            json!({"type": "phone", "duration": 60, "subject": "s", "message": "m", "targets": [{"title": "Mayor"}], "notes": "n"})
        }
        "attendance" => json!({"status": "accepted", "comment": "c", "attended": true}),
        _ => json!({}),
    };
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    body
}

/// The address of a helper on a fresh container.
fn helper(api: &Client, under: &str, name: &str) -> (Value, String) {
    let container = api.create(kind(under).many, &least(under));
    let address = api.href(&container, name);
    (container, address)
}

/// A body with an inline person.
fn with_person(body: &Value, person: Value) -> Value {
    let mut body = body.clone();
    body["person"] = person;
    body
}

/// Every helper with action functions: its name, its address, and a body without functions.
fn all_helpers(api: &Client) -> Vec<(String, String, Value)> {
    let mut list: Vec<_> = ACTIONS
        .iter()
        .map(|(one, under, name)| {
            ((*name).to_owned(), helper(api, under, name).1, with_person(&fields(one), json!({"source": name})))
        })
        .collect();
    let target = api.create("people", &json!({}));
    list.push((
        "record_canvass_helper".into(),
        api.href(&target, "record_canvass_helper"),
        json!({"canvass": {"success": true}}),
    ));
    list.push((
        "person_signup_helper".into(),
        api.href(&api.entry(), "person_signup_helper"),
        json!({"person": {"source": "signup"}}),
    ));
    list
}

/// The person that a helper's answer is about.
fn person_of(api: &Client, answer: &Value) -> Value {
    for name in ["person", "target"] {
        if link(answer, &api.rel(name)).is_some() {
            return api.follow(answer, name);
        }
    }
    answer.clone()
}

fn methods(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for (name, address, body) in all_helpers(api) {
        row!(ledger, "HLP-01", api.post(&address, &body).status == 200, "{name}");
        for method in [Method::DELETE, Method::PUT, Method::GET] {
            let reply = api.send(method, &address, &[("content-type", "application/json")], Some("{}".into()));
            row!(ledger, "HLP-01", reply.status == 500 && reply.says("NOT_IMPLEMENTED"), "{reply}");
            row!(ledger, "ERR-07", reply.status == 500 && reply.says("NOT_IMPLEMENTED"), "{reply}");
        }
    }
}

/// With and without person, with each action function or none.
fn subsets(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let tag = api.create("tags", &least("tag"));
    for (name, address, body) in all_helpers(api) {
        let with = api.post(&address, &body);
        row!(ledger, "HLP-02", with.status == 200, "{with}");
        let mut more = body.clone();
        more["add_tags"] = json!([tag["name"]]);
        row!(ledger, "HLP-02", api.post(&address, &more).status == 200, "{name}");
        let empty = api.send(Method::POST, &address, &[], None);
        let expected = if name == "person_signup_helper" { 400 } else { 200 };
        row!(ledger, "HLP-02", empty.status == expected, "an empty body is an empty object: {empty}");
    }
    let (_, address) = helper(api, "petition", "record_signature_helper");
    let made = api.post(&address, &json!({"comments": "no person"})).ok();
    row!(ledger, "UND-29", link(&made, "svc:person").is_none(), "{made}");
    let reply = api.post(&address, &json!({"comments": "x", "add_tags": [tag["name"]]}));
    row!(ledger, "UND-29", reply.status == 400 && reply.says("PERSON_REQUIRED"), "{reply}");
}

fn no_container(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for (one, under, name) in ACTIONS {
        let (container, address) = helper(api, under, name);
        assert_eq!(api.delete(&own(&container)).status, 204);
        let people = api.total(&api.collection("people"));
        for caller in [api.clone(), api.anonymous()] {
            let reply = caller.post(&address, &with_person(&fields(one), json!({"given_name": "x"})));
            row!(ledger, "HLP-23", reply.status == 404 && reply.says("RESOURCE_NOT_FOUND"), "{reply}");
        }
        row!(ledger, "HLP-23", api.total(&api.collection("people")) == people, "nothing is created");
    }
}

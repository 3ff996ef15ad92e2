//! What is easily forgotten: wrong parents, identifiers on update, transitions, trouble in the store, a service of helpers only.

use serde_json::{Value, json};
use svc_conformance::row;

use crate::client::{link, own, segments};
use crate::family::{Case, Family};
use crate::fixture::{Fixture, Setup};
use crate::kinds::{KINDS, make, unique};
use crate::world::World;

const CASES: &[Case] = &[
    ("wrong parents", wrong_parents),
    ("identifiers in use", identifiers_in_use),
    ("states", states),
    ("queries", queries),
    ("memberships", memberships),
    ("ids", ids),
    ("helpers only", helpers_only),
    ("a failing store", failing_store),
    ("a full store", full_store),
];

pub(crate) static FAMILY: Family = Family::new("corners", CASES);

/// A record is not found under another parent than its own, whatever the method.
fn wrong_parents(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let (world, others) = (World::new(api), World::new(api));
    let nested = KINDS.iter().filter(|kind| kind.under.is_some() && kind.one != "donation");
    for kind in nested {
        let (record, other) = (world.get(kind.one), others.get(kind.one));
        let (address, other) = (own(record), own(other));
        let mine = segments(&address).first().copied().unwrap_or_default().to_owned();
        let (stem, _) = other.rsplit_once('/').expect("a parent");
        let wrong = format!("{stem}/{mine}");
        row!(ledger, "COL-19", api.get(&wrong).status == 404, "{wrong}");
        row!(ledger, "COL-19", api.delete(&wrong).status == 404, "{wrong}");
        if !matches!(kind.one, "tagging" | "item") {
            let put = api.put(&wrong, &json!({"origin_system": "x"}));
            row!(ledger, "COL-19", put.status == 404 && put.says("RESOURCE_NOT_FOUND"), "{put}");
        }
        row!(ledger, "COL-19", api.reread(record) == *record, "nothing has changed: {record}");
    }
}

/// A foreign identifier belongs to one record of a kind, on update and in helpers, too (UND-24).
fn identifiers_in_use(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for kind in KINDS.iter().filter(|kind| !matches!(kind.one, "query" | "tagging" | "item" | "canvass")) {
        let id = unique("crm:taken");
        let first = make(f, api, kind.one, &json!({ "identifiers": [id] }));
        let second = make(f, api, kind.one, &json!({}));
        let put = api.put(&own(&second), &json!({ "identifiers": [unique("crm:free"), id] }));
        row!(ledger, "UND-24", put.refuses("IDENTIFIER_IN_USE", "identifiers[1]"), "{put}");
        row!(ledger, "CRU-20", api.reread(&second)["identifiers"] == second["identifiers"], "{put}");
        let again = api.put(&own(&first), &json!({ "identifiers": [id] }));
        row!(ledger, "UND-24", again.status == 200, "one's own are never in use: {again}");
        let own_one = api.put(&own(&second), &json!({ "identifiers": [first["identifiers"][0]] }));
        row!(ledger, "UND-24", own_one.says("IDENTIFIER_IN_USE"), "the server's own of another record: {own_one}");
        let kept = api.put(&own(&second), &json!({ "identifiers": [second["identifiers"][0]] })).ok();
        row!(ledger, "UND-25", kept["identifiers"] == json!([second["identifiers"][0]]), "{kept}");
        assert_eq!(api.delete(&own(&first)).status, 204);
        let freed = api.put(&own(&second), &json!({ "identifiers": [id] }));
        row!(ledger, "UND-24", freed.status == 200, "a deleted record gives its identifiers back: {freed}");
    }
}

/// Any listed state may replace any other (UND-11).
fn states(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let mails = ["subscribed", "unsubscribed", "bouncing", "spam complaints"];
    for (one, field, values) in [
        ("event", "status", &["confirmed", "tentative", "cancelled"][..]),
        ("event", "visibility", &["public", "private"]),
        ("event", "transparence", &["opaque", "transparent"]),
        ("event", "type", &["open", "ticketed"]),
        ("attendance", "status", &["declined", "tentative", "accepted", "needs action"]),
    ] {
        let made = make(f, api, one, &json!({}));
        for from in values {
            for to in values {
                for state in [from, to] {
                    let put = api.put(&own(&made), &json!({ field: state })).ok();
                    row!(ledger, "UND-11", put[field] == **state, "{put}");
                }
            }
        }
    }
    let person = api.create("people", &json!({}));
    for status in mails.iter().chain(mails.iter().rev()) {
        let put =
            api.put(&own(&person), &json!({"email_addresses": [{"address": "a@example.org", "status": status}]})).ok();
        row!(ledger, "UND-11", put["email_addresses"][0]["status"] == **status, "{put}");
    }
}

/// A query can be listed, read and changed; nothing else (UND-04, UND-12).
fn queries(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    f.seed_query("Active people");
    let query = api.members(&api.collection("queries")).first().cloned().expect("a query");
    row!(ledger, "UND-04", query["name"] == "Active people" && query["total_results"] == 0, "{query}");
    let sent = json!({"name": "n", "title": "t", "description": "d", "summary": "s", "browser_url": "b", "administrative_url": "a", "origin_system": "o"});
    let put = api.put(&own(&query), &sent).ok();
    row!(ledger, "UND-04", crate::values::same(&sent, &put, false) && api.reread(&query) == put, "{put}");
    for (field, wrong) in [("title", json!(7)), ("summary", json!({}))] {
        let reply = api.put(&own(&query), &json!({ field: wrong }));
        row!(ledger, "UND-04", reply.refuses("FIELD_INVALID", field), "{reply}");
    }
    for reply in [api.delete(&own(&query)), api.post(&api.collection("queries"), &json!({}))] {
        row!(ledger, "UND-12", reply.status == 500 && reply.says("NOT_IMPLEMENTED"), "{reply}");
    }
    row!(ledger, "HAL-15", own(&put) == own(&query) && api.get(&own(&query)).status == 200);
}

/// What a tagging and an item show (UND-05, UND-06).
fn memberships(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let world = World::new(api);
    for (id, one, under) in [("UND-05", "tagging", "tag"), ("UND-06", "item", "list")] {
        let record = world.get(one);
        row!(ledger, id, record["item_type"] == "svc:person", "{record}");
        let leads =
            api.href(record, under) == own(world.get(under)) && api.href(record, "person") == own(world.get("person"));
        row!(ledger, id, leads, "{record}");
        let more = json!({"item_type": "svc:petition", "origin_system": "x", "identifiers": [unique("x:1")]});
        let made = api.act(world.get(under), crate::kinds::kind(one).many, &api.create("people", &json!({})), &more);
        row!(ledger, id, made["item_type"] == "svc:person" && made["origin_system"] == "x", "{made}");
    }
}

/// An id is 1 to 64 letters, digits, dashes and underscores; anything else is no address (UND-41).
fn ids(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let people = api.collection("people");
    for id in ["a", "0198-a_B", &"x".repeat(64)] {
        let reply = api.get(&format!("{people}/{id}"));
        row!(ledger, "UND-41", reply.status == 404 && reply.body.is_empty(), "an id that nobody has: {reply}");
    }
    for id in [&"x".repeat(65), "a.b", "a:b", "a%20b", "%C3%BC", "~"] {
        let reply = api.get(&format!("{people}/{id}"));
        row!(
            ledger,
            "UND-35",
            reply.status == 404 && reply.says("RESOURCE_NOT_FOUND"),
            "no address of the interface: {reply}"
        );
    }
    let person = api.create("people", &json!({}));
    let upper = own(&person).to_uppercase().replace("HTTP://API.EXAMPLE.ORG/API/V1/PEOPLE/", &format!("{people}/"));
    row!(ledger, "UND-41", api.get(&upper).status == 404, "ids are compared as they are: {upper}");
}

/// A service may offer helpers only (CAP-10): no collection is linked or answers, the helpers work.
fn helpers_only(f: &Fixture) {
    let other = f.with(&Setup { helpers_only: true, ..Setup::default() });
    let (api, ledger) = (&other.api, &f.ledger);
    let entry = api.entry();
    row!(ledger, "CAP-10", KINDS.iter().all(|kind| link(&entry, &api.rel(kind.many)).is_none()), "{entry}");
    let signup = api.href(&entry, "person_signup_helper");
    let made = api.post(&signup, &json!({"person": {"given_name": "Ada"}}));
    row!(ledger, "CAP-10", made.status == 200 && made.json["given_name"] == "Ada", "{made}");
    for reply in [api.get(&format!("{}people", api.base)), api.post(&format!("{}petitions", api.base), &json!({}))] {
        row!(ledger, "ERR-07", reply.status == 500 && reply.says("NOT_IMPLEMENTED"), "{reply}");
    }
}

/// A store that fails is a 500 with a reference, and tells nothing of itself; when it is well again, so is the service.
fn failing_store(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let person = api.create("people", &json!({"given_name": "Ada"}));
    let people = api.collection("people");
    let total = api.total(&people);
    f.tamper("ALTER TABLE people RENAME TO lost");
    for reply in [
        api.get(&own(&person)),
        api.post(&people, &json!({})),
        api.put(&own(&person), &json!({})),
        api.delete(&own(&person)),
    ] {
        let problems = reply.entries().first().map(|entry| entry["error_descriptions"].clone()).unwrap_or_default();
        let reference = problems[0]["reference_code"].as_str().is_some_and(|code| code.len() == 36);
        let tells =
            ["people", "lost", "table", "sql"].iter().any(|word| problems.to_string().to_lowercase().contains(word));
        row!(ledger, "ERR-05", reply.status == 500 && reply.says("UNEXPECTED_ERROR") && !tells, "{reply}");
        row!(ledger, "ERR-06", reference, "{reply}");
        row!(ledger, "UND-36", reply.status == 500, "{reply}");
    }
    f.tamper("ALTER TABLE lost RENAME TO people");
    row!(ledger, "ERR-04", api.reread(&person) == person && api.total(&people) == total, "nothing was done by halves");
    row!(ledger, "UND-36", api.post(&people, &json!({})).status == 201);
}

/// A full disk is a 503 that says when to come again; what was acknowledged is there, and nothing else.
fn full_store(f: &Fixture) {
    let other = f.with(&Setup { pages: Some(400), ..Setup::default() });
    let (api, ledger) = (&other.api, &f.ledger);
    let people = api.collection("people");
    let mut kept = api.total(&people);
    let body = json!({ "family_name": "x".repeat(20_000) });
    let refused = loop {
        let reply = api.post(&people, &body);
        if reply.status != 201 {
            break reply;
        }
        kept += 1;
        assert!(kept < 1000, "the file never fills");
    };
    let soon = refused.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok());
    row!(ledger, "UND-36", refused.status == 503 && refused.says("UNAVAILABLE") && soon, "{refused}");
    let entry: Value = refused.entries().first().cloned().unwrap_or_default();
    row!(ledger, "ERR-28", entry["error_descriptions"][0]["reference_code"].is_string(), "{refused}");
    row!(ledger, "UND-36", api.total(&people) == kept && api.members(&people).len() as u64 == kept, "{kept}");
    row!(ledger, "UND-36", api.get(&api.base).status == 200, "reading goes on");
}

//! CRU: create, read, update, delete.

use http::Method;
use serde_json::{Value, json};
use svc_conformance::row;

use crate::client::{link, own, segments};
use crate::family::{Case, Family};
use crate::fixture::{Fixture, Setup};
use crate::kinds::{KINDS, Kind, contains, kind, least, make, unique};
use crate::resources::is_instant;
use crate::values::{instant, same};

const CASES: &[Case] = &[
    ("signatures", signatures),
    ("submissions", submissions),
    ("questions and share pages", questions),
    ("every kind is created, read and listed", created),
    ("every kind is updated", updated),
    ("every kind is deleted", deleted),
    ("a partial update", partial),
    ("nil", nil),
    ("arrays", arrays),
    ("read-only fields", read_only),
    ("a refused request", refused),
    ("what a write returns is there", read_your_writes),
    ("response style examples", examples),
    ("a whole document put back", whole_document),
    ("deletion of containers and people", dependents),
];

pub(crate) static FAMILY: Family = Family::new("CRU", CASES);

/// The field that a test changes.
fn text_field(kind: Kind) -> &'static str {
    if kind.one == "person" { "source" } else { "origin_system" }
}

/// The kinds a client can create.
fn creatable() -> impl Iterator<Item = Kind> {
    KINDS.iter().copied().filter(|kind| kind.one != "query")
}

/// The kinds a client can update.
fn updatable() -> impl Iterator<Item = Kind> {
    creatable().filter(|kind| !matches!(kind.one, "tagging" | "item"))
}

fn signatures(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let petition = api.create("petitions", &json!({}));
    let person = api.create("people", &json!({}));
    let sent = json!({
        "identifiers": [unique("other_system:77")], "origin_system": "Elsewhere", "action_date": "2026-01-05T09:00:00Z",
        "comments": "Yes", "referrer_data": {"source": "mail-3"},
    });
    let address = api.href(&petition, "signatures");
    let linked = api.linked(&sent, "person", &own(&person));
    let reply = api.post(&format!("{address}/"), &linked);
    row!(ledger, "UND-33", reply.header("location") == Some(own(&reply.json).as_str()), "{reply}");
    let made = reply.created();
    let mut fields = sent.clone();
    fields.as_object_mut().expect("an object").remove("identifiers");
    row!(ledger, "CRU-01", same(&fields, &made, false), "{made}");
    let ids = made["identifiers"].as_array().expect("identifiers");
    row!(ledger, "CRU-03", ids.len() == 2 && ids.get(1) == sent["identifiers"].get(0), "{made}");
    row!(ledger, "CRU-03", is_instant(&made["created_date"]) && is_instant(&made["modified_date"]), "{made}");
    row!(ledger, "CRU-02", api.href(&made, "person") == own(&person), "{made}");
    row!(ledger, "CRU-02", contains(api, &api.href(&person, "signatures"), &made));
    let foreign = own(&f.other.create("people", &json!({})));
    let gone = api.create("people", &json!({}));
    api.delete(&own(&gone));
    let elsewhere = own(&person).replace("//", "//elsewhere.");
    for wrong in [own(&gone), foreign, elsewhere, own(&petition), "nonsense".into(), String::new(), api.base.clone()] {
        let reply = api.post(&address, &api.linked(&json!({"comments": "no"}), "person", &wrong));
        row!(ledger, "CRU-02", reply.refuses("PERSON_NOT_FOUND", "_links.svc:person"), "{reply}");
    }
    let missing = api.post(&address, &json!({"comments": "no"}));
    row!(ledger, "CRU-02", missing.refuses("PERSON_NOT_FOUND", "_links.svc:person"), "{missing}");
    row!(ledger, "CRU-21", api.total(&address) == 1, "nothing of the refused ones is there");
    let put = api.put(&own(&made), &json!({"comments": "Changed"})).ok();
    let mut expected = made.clone();
    expected["comments"] = json!("Changed");
    expected["modified_date"] = put["modified_date"].clone();
    row!(ledger, "CRU-04", put == expected && api.reread(&made) == put, "{put}");
    row!(ledger, "CRU-05", f.removed(&made, &address), "{made}");
}

fn submissions(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let form = api.create("forms", &json!({}));
    let person = api.create("people", &json!({}));
    let sent =
        json!({"origin_system": "Elsewhere", "action_date": "2026-01-05", "referrer_data": {"website": "example.org"}});
    let address = api.href(&form, "submissions");
    let made = api.act(&form, "submissions", &person, &sent);
    row!(ledger, "CRU-06", same(&sent, &made, false), "{made}");
    let without = api.post(&address, &sent);
    row!(ledger, "CRU-06", without.refuses("PERSON_NOT_FOUND", "_links.svc:person"), "{without}");
    let leads = api.href(&made, "form") == own(&form) && api.href(&made, "person") == own(&person);
    row!(ledger, "CRU-07", leads && api.reread(&made) == made, "{made}");
    row!(ledger, "CRU-07", api.follow(&made, "answers")["total_records"] == 0, "{made}");
    let put = api.put(&own(&made), &json!({"referrer_data": {"source": "x"}})).ok();
    let merged = put["referrer_data"] == json!({"source": "x", "website": "example.org"});
    row!(ledger, "CRU-08", merged && put["origin_system"] == "Elsewhere" && api.reread(&made) == put, "{put}");
    row!(ledger, "UND-21", merged, "{put}");
    row!(ledger, "CRU-09", f.removed(&made, &address), "{made}");
}

fn questions(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let sent = json!({
        "identifiers": [unique("sys:q")], "name": "colour", "title": "Which colour?", "description": "<b>Pick</b>", "summary": "One",
        "question_type": "SingleChoice", "responses": [{"key": "r", "name": "red", "title": "Red"}, {"key": "g", "name": "green", "title": "Green"}],
    });
    let made = api.create("questions", &sent);
    let mut fields = sent.clone();
    fields.as_object_mut().expect("an object").remove("identifiers");
    row!(ledger, "CRU-10", same(&fields, &made, false) && api.reread(&made) == made, "{made}");
    row!(ledger, "CRU-10", api.follow(&made, "answers")["total_records"] == 0, "{made}");
    let put = api.put(&own(&made), &json!({"title": "Which one?"})).ok();
    let others = put["title"] == "Which one?" && put["responses"] == made["responses"] && put["name"] == "colour";
    row!(ledger, "CRU-11", others && api.reread(&made) == put, "{put}");
    let none = api.post(&api.collection("questions"), &json!({"name": "x"}));
    row!(ledger, "CRU-10", none.refuses("FIELD_REQUIRED", "question_type"), "{none}");
    let sent = json!({"origin_system": "x", "name": "share", "title": "Share", "description": "d", "summary": "s", "browser_url": "https://example.org/s",
        "administrative_url": "https://example.org/a", "share_url": "https://example.org/t", "share_options": [{"email_share": {"subject": "Look"}}]});
    let made = api.create("share_pages", &sent);
    row!(ledger, "CRU-12", same(&sent, &made, false) && api.reread(&made) == made, "{made}");
}

fn created(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for kind in creatable() {
        let made = make(f, api, kind.one, &json!({}));
        row!(ledger, "CRU-22", api.reread(&made) == made, "{}: {made}", kind.one);
        row!(ledger, "ERR-13", own(&made).starts_with(&api.base), "{made}");
        let collection = match kind.under {
            None => api.collection(kind.many),
            Some("person") => {
                own(&made).rsplit_once('/').map(|(collection, _)| collection.to_owned()).expect("a parent")
            }
            Some(under) => api.href(&api.follow(&made, under), kind.many),
        };
        row!(ledger, "CRU-22", contains(api, &collection, &made), "{collection} lacks {made}");
        row!(ledger, "COL-31", api.get(&collection).status == 200);
        if kind.under != Some("person") && !matches!(kind.one, "tagging" | "item") {
            let person = api.create("people", &json!({}));
            let body = api.linked(&least(kind.one), "person", &own(&person));
            let status = api.post(&collection, &body).status;
            row!(ledger, "CRU-13", status == 201, "{}: {status}", kind.one);
        }
    }
}

fn updated(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for kind in updatable() {
        let made = make(f, api, kind.one, &json!({}));
        let mut last = made.clone();
        for text in ["one", "two", "two"] {
            let put = api.put(&own(&made), &json!({ text_field(kind): text }));
            row!(ledger, "ERR-15", put.status == 200, "{put}");
            let put = put.json;
            row!(ledger, "ERR-15", put[text_field(kind)] == text && api.reread(&made) == put, "{put}");
            let time = |record: &Value| record["modified_date"].as_str().and_then(instant);
            row!(ledger, "CRU-19", time(&put) > time(&last), "{last} then {put}");
            last = put;
        }
        let mut expected = made.clone();
        expected[text_field(kind)] = json!("two");
        expected["modified_date"] = last["modified_date"].clone();
        row!(ledger, "CRU-15", last == expected, "{last}");
        let gone = api.put(&format!("{}0", own(&made)), &json!({}));
        row!(ledger, "UND-23", gone.status == 404 && gone.says("RESOURCE_NOT_FOUND"), "{gone}");
    }
    for one in ["tagging", "item"] {
        let made = make(f, api, one, &json!({}));
        let put = api.put(&own(&made), &json!({"origin_system": "x"}));
        row!(ledger, "ERR-07", put.status == 500 && put.says("NOT_IMPLEMENTED"), "{put}");
        row!(ledger, "ERR-04", api.reread(&made) == made);
    }
}

fn deleted(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for kind in creatable() {
        let made = make(f, api, kind.one, &json!({}));
        let address = own(&made);
        let made = if kind.under.is_some() { made } else { api.create(kind.many, &least(kind.one)) };
        let address = if kind.under.is_some() { address } else { own(&made) };
        let reply = api.delete(&address);
        row!(ledger, "CRU-14", reply.status == 204 && reply.body.is_empty(), "{reply}");
        row!(ledger, "ERR-17", reply.status == 204 && reply.body.is_empty(), "{reply}");
        let gone = api.get(&address);
        row!(ledger, "ERR-11", gone.status == 404 && gone.body.is_empty(), "{gone}");
        let again = api.delete(&address);
        row!(ledger, "ERR-16", again.status == 404 && again.says("RESOURCE_NOT_FOUND"), "{again}");
    }
}

fn partial(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let names = [
        "family_name",
        "given_name",
        "additional_name",
        "honorific_prefix",
        "honorific_suffix",
        "source",
        "employer",
        "browser_url",
    ];
    let full: serde_json::Map<_, _> = names.iter().map(|name| ((*name).to_owned(), json!("before"))).collect();
    let made = api.create("people", &Value::Object(full));
    let mut expected = made.clone();
    for round in 0..24_usize {
        let mask = round.wrapping_mul(37) & 0xff;
        let chosen = names.iter().enumerate().filter(|(bit, _)| mask >> bit & 1 == 1).map(|(_, name)| *name);
        let mut body = json!({});
        for name in chosen {
            body[name] = json!(format!("round {round}"));
            expected[name] = body[name].clone();
        }
        let put = api.put(&own(&made), &body).ok();
        expected["modified_date"] = put["modified_date"].clone();
        row!(ledger, "CRU-15", put == expected && api.reread(&made) == expected, "{body}: {put}");
    }
    let event = api.create(
        "events",
        &json!({"location": {"venue": "Hall", "locality": "Springfield"}, "contact": {"name": "Ada"}}),
    );
    let put = api.put(&own(&event), &json!({"location": {"venue": null, "region": "IL"}})).ok();
    let merged =
        put["location"] == json!({"locality": "Springfield", "region": "IL"}) && put["contact"]["name"] == "Ada";
    row!(ledger, "UND-21", merged, "{put}");
}

fn nil(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let sent = json!({
        "family_name": "x", "gender": "Other", "ethnicities": ["a"], "birthdate": {"year": 1990}, "email_addresses": [{"address": "a@example.org"}],
        "custom_fields": {"k": "v", "l": "w"}, "employer_address": {"venue": "x"}, "parties": [{"active": true}],
    });
    for name in sent.as_object().expect("an object").keys() {
        let made = api.create("people", &sent);
        let put = api.put(&own(&made), &json!({ name: null })).ok();
        row!(ledger, "CRU-17", put.get(name).is_none() && api.reread(&made) == put, "{name}: {put}");
    }
    let made = api.create("people", &sent);
    let put = api.put(&own(&made), &json!({"custom_fields": {"k": null}, "birthdate": {"month": 2}})).ok();
    row!(
        ledger,
        "CRU-17",
        put["custom_fields"] == json!({"l": "w"}) && put["birthdate"] == json!({"year": 1990, "month": 2}),
        "{put}"
    );
    let put = api.put(&own(&made), &json!({"custom_fields": {}})).ok();
    row!(ledger, "UND-21", put["custom_fields"] == json!({"l": "w"}), "an empty object wipes nothing: {put}");
}

fn arrays(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let list = json!([{"address": "a@example.org", "primary": true}, {"address": "b@example.org"}, {"address": "c@example.org", "status": "subscribed"}]);
    let made = api.create(
        "people",
        &json!({"email_addresses": list, "languages_spoken": ["en", "de"], "identifiers": [unique("s:1")]}),
    );
    let element = |at: usize| list[at].clone();
    for next in
        [json!([element(2), element(0)]), json!([element(1)]), json!([element(1), element(2), element(0)]), json!([])]
    {
        let put = api.put(&own(&made), &json!({ "email_addresses": next })).ok();
        let same = if next == json!([]) {
            put["email_addresses"].is_null() || put["email_addresses"] == next
        } else {
            put["email_addresses"] == next
        };
        row!(ledger, "CRU-18", same && api.reread(&made) == put, "{next} became {put}");
    }
    let put = api.put(&own(&made), &json!({"languages_spoken": ["de", "fr", "de"]})).ok();
    row!(ledger, "CRU-18", put["languages_spoken"] == json!(["de", "fr"]), "{put}");
    let other = unique("t:2");
    let put = api.put(&own(&made), &json!({ "identifiers": [other] })).ok();
    row!(ledger, "CRU-18", put["identifiers"] == json!([made["identifiers"][0], other]), "{put}");
}

fn read_only(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let petition = make(f, api, "petition", &json!({"title": "t"}));
    let person = api.create("people", &json!({}));
    let body = json!({"total_signatures": 99, "created_date": "2001-01-01T00:00:00Z", "id": "other", "no_such_field": {"x": 1}, "title": "u",
        "_links": {"self": {"href": own(&person)}, "svc:creator": {"href": own(&person)}}});
    let put = api.put(&own(&petition), &body).ok();
    let mut expected = petition.clone();
    expected["title"] = json!("u");
    expected["modified_date"] = put["modified_date"].clone();
    row!(ledger, "CRU-16", put == expected && api.reread(&petition) == expected, "{put}");
    row!(ledger, "UND-22", put.get("no_such_field").is_none());
    let event = api.create("events", &api.linked(&json!({}), "organizer", &own(&person)));
    row!(ledger, "CRU-16", api.href(&event, "organizer") == own(&person), "{event}");
    let put = api.put(&own(&event), &json!({"_links": {"svc:organizer": null}})).ok();
    row!(ledger, "CRU-16", put["_links"].get("svc:organizer").is_none(), "{put}");
}

fn refused(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for kind in updatable() {
        let made = make(f, api, kind.one, &json!({ text_field(kind): "kept" }));
        let put = api.put(&own(&made), &json!({ text_field(kind): "lost", "identifiers": ["no colon"] }));
        row!(ledger, "CRU-20", put.status == 400 && api.reread(&made) == made, "{put}");
        row!(ledger, "ERR-04", api.reread(&made) == made, "{put}");
        row!(ledger, "ERR-14", put.refuses("FIELD_INVALID", "identifiers[0]"), "{put}");
    }
    for kind in creatable().filter(|kind| kind.under.is_none()) {
        let collection = api.collection(kind.many);
        let before = api.total(&collection);
        let reply = api.post(&collection, &json!({ text_field(kind): 7 }));
        row!(ledger, "CRU-21", reply.status == 400 && api.total(&collection) == before, "{reply}");
        row!(ledger, "ERR-12", reply.refuses("FIELD_INVALID", text_field(kind)), "{reply}");
        row!(ledger, "ERR-04", api.total(&collection) == before, "{reply}");
        let empty = api.send(Method::POST, &collection, &[], None);
        row!(ledger, "UND-27", empty.says("BODY_MISSING") && api.total(&collection) == before, "{empty}");
    }
}

/// Every link that a write returns leads at once to what was written, and every collection among them has it.
fn read_your_writes(f: &Fixture) {
    let (api, ledger) = (&f.bound, &f.ledger);
    for kind in creatable() {
        let made = make(f, api, kind.one, &json!({}));
        for again in [false, updatable().any(|other| other.one == kind.one)] {
            let written = if again {
                api.put(&own(&made), &json!({ text_field(kind): "again" })).ok()
            } else {
                api.reread(&made)
            };
            for (rel, link) in written["_links"].as_object().into_iter().flatten() {
                let Some(href) = link["href"].as_str().filter(|_| !rel.ends_with("_helper")) else { continue };
                let found = api.get(href);
                row!(ledger, "CRU-22", found.status == 200, "{rel} of {written}: {found}");
            }
            row!(ledger, "CRU-22", api.reread(&written) == written, "{written}");
            for name in ["person", "target"] {
                if link(&written, &api.rel(name)).is_some() {
                    let person = api.follow(&written, name);
                    row!(ledger, "CRU-22", contains(api, &api.href(&person, kind.many), &written), "{written}");
                }
            }
        }
    }
}

/// The other of the two styles that the interface shows.
fn examples(f: &Fixture) {
    let other = f.with(&Setup { examples: true, ..Setup::default() });
    let (api, ledger) = (&other.api, &f.ledger);
    let reply = api.post(&api.collection("petitions"), &json!({}));
    row!(ledger, "CRU-13", reply.status == 200, "{reply}");
    let reply = api.delete(&own(&reply.json));
    let notice = reply.json["notice"].as_str().is_some_and(|notice| !notice.is_empty());
    row!(ledger, "CRU-14", reply.status == 200 && notice, "{reply}");
}

fn whole_document(f: &Fixture) {
    let (api, ledger) = (&f.bound, &f.ledger);
    for kind in updatable() {
        let made = make(f, api, kind.one, &json!({}));
        let mut body = made.clone();
        body[text_field(kind)] = json!("put back");
        let put = api.put(&own(&made), &body).ok();
        let mut expected = body;
        expected["modified_date"] = put["modified_date"].clone();
        expected["_links"] = put["_links"].clone();
        row!(ledger, "CRU-16", put == expected, "{put}");
    }
}

/// What stands and falls with a deleted record (UND-26).
fn dependents(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let world = crate::world::World::new(api);
    for one in ["petition", "form", "fundraising_page", "event", "advocacy_campaign", "question"] {
        let reply = api.delete(&own(world.get(one)));
        row!(ledger, "UND-26", reply.status == 400 && reply.says("HAS_DEPENDENTS"), "{one}: {reply}");
    }
    let person = world.get("person");
    let list_before = api.reread(world.get("list"))["total_items"].clone();
    assert_eq!(api.delete(&own(person)).status, 204);
    for one in ["tagging", "item", "answer", "canvass"] {
        row!(ledger, "UND-26", api.get(&own(world.get(one))).status == 404, "{one} outlives the person");
    }
    row!(ledger, "UND-26", list_before == 1 && api.reread(world.get("list"))["total_items"] == 0);
    for one in ["signature", "submission", "donation", "outreach", "attendance"] {
        let kept = api.reread(world.get(one));
        row!(ledger, "UND-26", kept["_links"].get("svc:person").is_none(), "{kept}");
        let under = kind(one).under.expect("a container");
        let counted = kind(one).counted.expect("a total");
        row!(ledger, "UND-26", api.reread(world.get(under))[counted] == 1, "totals do not change: {one}");
    }
    assert_eq!(segments("http://example.org/a/b").first(), Some(&"b"));
    let tag = api.create("tags", &least("tag"));
    let tagged = api.create("people", &json!({}));
    let tagging = api.act(&tag, "taggings", &tagged, &json!({}));
    assert_eq!(api.delete(&own(&tag)).status, 204);
    row!(ledger, "UND-26", api.get(&own(&tagging)).status == 404 && api.total(&api.href(&tagged, "taggings")) == 0);
}

//! HLP, HAF, SCH: helpers, their action functions, scheduling.

use http::Method;
use serde_json::{Value, json};
use svc_conformance::row;

use crate::client::{Client, Reply, addresses, link, own};
use crate::family::{Case, Family};
use crate::fields::Shape;
use crate::fixture::{Fixture, Setup};
use crate::kinds::{ACTIONS, addresses_kind, contains, kind, least, unique};
use crate::values::{same, valid};

const CASES: &[Case] = &[
    ("methods of helpers", methods),
    ("subsets of the body", subsets),
    ("the inline person", inline_person),
    ("matching", matching),
    ("matching without a key", matching_without_key),
    ("strangers learn nothing", strangers),
    ("each record helper", record_helpers),
    ("attendance of ticketed events", ticketed),
    ("canvass", canvass),
    ("person signup", signup),
    ("a container that does not exist", no_container),
    ("posted again", posted_again),
    ("action functions on every helper", functions),
    ("tags and lists", tags_and_lists),
    ("questions", questions),
    ("triggers", triggers),
    ("non-atomic", non_atomic),
    ("atomic", atomic),
    ("not supported", not_supported),
    ("scheduling", scheduling),
    ("scheduling refused", scheduling_refused),
];

pub(crate) static FAMILY: Family = Family::new("HLP HAF SCH", CASES);

/// The same through the default runner: what it cannot do is said by its own cases.
const COMPOSED: &[Case] = &[
    ("methods of helpers", |f| methods(&composed(f))),
    ("subsets of the body", |f| subsets(&composed(f))),
    ("the inline person", |f| inline_person(&composed(f))),
    ("matching", |f| matching(&composed(f))),
    ("matching without a key", |f| matching_without_key(&composed(f))),
    ("strangers learn nothing", |f| strangers(&composed(f))),
    ("each record helper", |f| record_helpers(&composed(f))),
    ("attendance of ticketed events", |f| ticketed(&composed(f))),
    ("person signup", |f| signup(&composed(f))),
    ("a container that does not exist", |f| no_container(&composed(f))),
    ("tags and lists", |f| tags_and_lists(&composed(f))),
    ("questions", |f| questions(&composed(f))),
    ("non-atomic", |f| non_atomic(&composed(f))),
    ("an action that cannot be stored", composed_action_fails),
];

pub(crate) static COMPOSED_FAMILY: Family = Family::new("HLP HAF composed", COMPOSED);

/// The same service with the default runner.
fn composed(f: &Fixture) -> Fixture {
    f.with(&Setup { composed: true, ..Setup::default() })
}

/// The default runner reports person 201 and action 400, and the person stays (HLP-10).
fn composed_action_fails(f: &Fixture) {
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

/// The row of each record helper.
const HELPER_ROWS: &[(&str, &str)] = &[
    ("HLP-11", "signature"),
    ("HLP-12", "submission"),
    ("HLP-13", "donation"),
    ("HLP-14", "outreach"),
    ("HLP-15", "attendance"),
];

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

fn inline_person(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let full = valid("person", "", &Shape::Object, 0).into_iter().next().expect("a person");
    for (round, (one, under, name)) in ACTIONS.iter().enumerate() {
        let mut person = full.clone();
        person["email_addresses"] =
            json!([{"address": format!("inline{round}@example.org"), "primary": true, "status": "subscribed"}]);
        let (_, address) = helper(api, under, name);
        let made = api.post(&address, &with_person(&fields(one), person.clone())).ok();
        let read = api.follow(&made, "person");
        row!(ledger, "HLP-03", same(&person, &read, false), "sent {person}, got {read}");
        let bad = with_person(
            &fields(one),
            json!({"email_addresses": [{"address": "a@example.org", "status": "sometimes"}], "gender": 7}),
        );
        let reply = api.post(&address, &bad);
        let named = reply.refuses("FIELD_INVALID", "person.gender")
            && reply.refuses("FIELD_INVALID", "person.email_addresses[0].status");
        row!(ledger, "HLP-03", named && reply.error()["request_type"] == "atomic", "{reply}");
    }
}

fn matching(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let (petition, address) = helper(api, "petition", "record_signature_helper");
    let post = |person: Value| api.follow(&api.post(&address, &json!({ "person": person })).ok(), "person");
    let first = post(json!({"given_name": "Ada", "source": "first", "birthdate": {"year": 1990},
        "email_addresses": [{"address": "Ada.Match@example.org", "primary": true, "status": "subscribed"}],
        "phone_numbers": [{"number": "15550100101"}]}));
    let again = post(
        json!({"given_name": "Ada", "family_name": "Match", "source": "second", "birthdate": {"month": 5},
        "email_addresses": [{"address": "ada.match@EXAMPLE.org", "status": "unsubscribed"}, {"address": "two@example.org", "primary": true}],
        "phone_numbers": []}),
    );
    row!(ledger, "HLP-04", own(&first) == own(&again), "matched by e-mail without case: {again}");
    row!(ledger, "HLP-04", again["source"] == "second" && again["family_name"] == "Match", "{again}");
    row!(ledger, "HLP-04", again["birthdate"] == json!({"year": 1990, "month": 5}), "{again}");
    let mails = again["email_addresses"].as_array().expect("addresses");
    let statuses: Vec<_> = mails.iter().map(|mail| &mail["status"]).collect();
    row!(ledger, "HLP-04", mails.len() == 2 && *statuses.first().expect("one") == "unsubscribed", "{again}");
    let primaries = mails.iter().filter(|mail| mail["primary"] == true).count();
    row!(
        ledger,
        "RES-email_address-02",
        primaries == 1 && mails.get(1).is_some_and(|mail| mail["primary"] == true),
        "{again}"
    );
    row!(ledger, "HLP-04", again["phone_numbers"] == first["phone_numbers"], "an empty array changes nothing: {again}");
    let id = unique("crm:match");
    let by_id = post(json!({"identifiers": [id], "given_name": "Ida"}));
    let same_id = post(json!({"identifiers": [id], "email_addresses": [{"address": "ada.match@example.org"}]}));
    row!(
        ledger,
        "HLP-04",
        own(&by_id) == own(&same_id) && own(&by_id) != own(&first),
        "an identifier goes before an address"
    );
    row!(ledger, "HLP-04", api.total(&api.href(&petition, "signatures")) == 4);
    let signup = api.post(
        &api.href(&api.entry(), "person_signup_helper"),
        &json!({"person": {"email_addresses": [{"address": "two@example.org"}]}}),
    );
    row!(ledger, "HLP-04", own(&signup.ok()) == own(&first), "the sign-up matches too");
}

/// A call without a key fills what is empty and appends, and overwrites nothing.
fn matching_without_key(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let person = api.create(
        "people",
        &json!({"given_name": "Ada", "source": "ours",
        "email_addresses": [{"address": "calm@example.org", "primary": true, "status": "unsubscribed"}]}),
    );
    let (petition, address) = helper(api, "petition", "record_signature_helper");
    let body = json!({"person": {"given_name": "Mallory", "family_name": "Filled",
        "email_addresses": [{"address": "CALM@example.org", "status": "subscribed"}, {"address": "new@example.org", "primary": true}]}});
    let reply = api.anonymous().post(&address, &body);
    row!(ledger, "HLP-07", reply.status == 200 && reply.text() == "{}", "{reply}");
    let after = api.reread(&person);
    row!(ledger, "HLP-04", after["given_name"] == "Ada" && after["family_name"] == "Filled", "{after}");
    row!(ledger, "HLP-04", after["email_addresses"][0]["status"] == "unsubscribed", "{after}");
    row!(ledger, "HLP-04", after["email_addresses"][1]["address"] == "new@example.org", "{after}");
    let signature = api.members(&api.href(&petition, "signatures"));
    row!(ledger, "HLP-07", signature.len() == 1 && api.href(signature.first().expect("one"), "person") == own(&person));
}

/// Anonymous answers for a known and an unknown address are equal but for dates and references.
fn strangers(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let none = api.anonymous();
    api.create("people", &json!({"email_addresses": [{"address": "known@example.org"}]}));
    for (one, under, name) in ACTIONS {
        let (_, address) = helper(api, under, name);
        for tags in [json!([]), json!([unique("no-such-tag")])] {
            let ask = |mail: &str| {
                let mut body = with_person(&fields(one), json!({"email_addresses": [{"address": mail}]}));
                body["add_tags"] = tags.clone();
                let reply = none.post(&address, &body);
                (reply.status, reply.body, reply.headers.len())
            };
            let known = ask("known@example.org");
            let unknown = ask(&format!("{}@example.org", unique("unknown")));
            row!(ledger, "HLP-07", known == unknown, "{name}: {known:?} {unknown:?}");
        }
    }
}

fn record_helpers(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for (id, one) in HELPER_ROWS {
        let kind = kind(one);
        let (_, under, name) = ACTIONS.iter().find(|(action, ..)| action == one).expect("an action");
        let (container, address) = helper(api, under, name);
        let foreign = unique("sys:action");
        let mut body = with_person(&fields(one), json!({"given_name": "Ada"}));
        body["identifiers"] = json!([foreign]);
        let made = api.post(&address, &body).ok();
        row!(ledger, id, same(&fields(one), &made, false) && made["identifiers"][1] == foreign.as_str(), "{made}");
        row!(ledger, "HLP-06", made == api.reread(&made), "{made}");
        row!(ledger, id, addresses_kind(&own(&made), one) && address.ends_with(name), "{made}");
        let person = api.follow(&made, "person");
        row!(ledger, id, contains(api, &api.href(&container, kind.many), &made), "{one} under its container");
        row!(ledger, id, contains(api, &api.href(&person, kind.many), &made), "{one} of its person");
        row!(ledger, id, api.href(&made, under) == own(&container), "{made}");
        let counted = kind.counted.expect("a total");
        let after = api.reread(&container);
        row!(ledger, id, after[counted] == 1, "{after}");
        if *one == "donation" {
            row!(ledger, id, after["total_amount"] == 12.5, "{after}");
        }
        let reached = match *one {
            "signature" => Some("RES-signature-08"),
            "outreach" => Some("RES-outreach-13"),
            _ => None,
        };
        if let Some(reached) = reached {
            row!(ledger, reached, own(&made) == own(&api.reread(&made)), "{made}");
        }
        if *one == "donation" {
            let three = own(&made) == own(&api.reread(&made)) && api.href(&made, "fundraising_page") == own(&container);
            row!(ledger, "RES-donation-21", three && api.href(&made, "person") == own(&person), "{made}");
        }
        if *one == "attendance" {
            row!(ledger, "RES-attendance-15", api.href(&made, "event") == own(&container), "{made}");
        }
        assert_eq!(api.delete(&own(&made)).status, 204);
        row!(ledger, id, api.reread(&container)[counted] == 0, "the total follows the delete");
    }
    donation_links(f);
}

fn donation_links(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let (_, donate) = helper(api, "fundraising_page", "record_donation_helper");
    for (one, under) in [("attendance", "event"), ("submission", "form")] {
        let container = api.create(kind(under).many, &json!({}));
        let action = api.act(&container, kind(one).many, &api.create("people", &json!({})), &json!({}));
        let inside = api.linked(&json!({"amount": 1, "person": {}}), one, &own(&action));
        let mut top = json!({"amount": 1, "person": {}});
        top[api.rel(one)] = json!({"href": own(&action)});
        for body in [inside, top] {
            let made = api.post(&donate, &body).ok();
            row!(ledger, "RES-donation-22", api.href(&api.reread(&made), one) == own(&action), "{made}");
        }
        let wrong = api.post(&donate, &api.linked(&json!({"amount": 1}), one, &own(&container)));
        row!(ledger, "RES-donation-22", wrong.refuses("LINK_NOT_FOUND", &format!("_links.svc:{one}")), "{wrong}");
    }
}

fn ticketed(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let event = api.create("events", &least("ticketed"));
    let helper = api.href(&event, "record_attendance_helper");
    let body = json!({"status": "accepted", "attended": true, "person": {"given_name": "Buyer"}, "tickets": [
        {"title": "Standard", "description": "d", "attended": true, "person": {"given_name": "Holder", "email_addresses": [{"address": "holder@example.org"}]}},
        {"title": "Balcony"},
    ]});
    let made = api.post(&helper, &body).ok();
    row!(
        ledger,
        "HLP-15",
        made["tickets"][0]["person"]["given_name"] == "Holder" && api.reread(&made) == made,
        "{made}"
    );
    row!(
        ledger,
        "RES-attendance-05",
        made.get("attended").is_none() && made["tickets"][0]["attended"] == true,
        "{made}"
    );
    row!(
        ledger,
        "RES-event-15",
        made["tickets"][1]["amount"] == 20.5 && made["tickets"][1]["currency"] == "USD",
        "{made}"
    );
    let after = api.reread(&event);
    let level = &after["ticket_levels"][0];
    row!(ledger, "RES-event-19", after["total_tickets"] == 2, "{after}");
    row!(ledger, "RES-event-20", after["total_amount"] == 30.5, "{after}");
    row!(ledger, "RES-event-16", level["total_tickets"] == 1, "{after}");
    row!(ledger, "RES-event-17", level["total_amount"].as_f64() == Some(10.0), "{after}");
    row!(ledger, "RES-event-18", after["total_accepted"] == 1, "{after}");
    row!(ledger, "RES-event-15", level["limit"] == 999_999, "{after}");
    let holders = api.members(&api.collection("people"));
    let holder = holders.iter().filter(|person| person["given_name"] == "Holder").count();
    row!(ledger, "RES-attendance-14", holder == 1, "the holder is a person too");
    for (status, count) in [("declined", 0), ("accepted", 1), ("needs action", 0), ("tentative", 0)] {
        let put = api.put(&own(&made), &json!({ "status": status })).ok();
        let after = api.reread(&event);
        row!(ledger, "RES-event-18", after["total_accepted"] == count, "{put} {after}");
        row!(ledger, "RES-event-19", after["total_tickets"] == count * 2, "{after}");
    }
    let open = api.create("events", &json!({"type": "open"}));
    let reply = api
        .post(&api.href(&open, "record_attendance_helper"), &json!({"person": {}, "tickets": [{"title": "Standard"}]}));
    row!(ledger, "RES-attendance-08", reply.refuses("TICKETS_NOT_ALLOWED", "tickets"), "{reply}");
    let unknown = api.post(&helper, &json!({"person": {}, "tickets": [{"title": "Standard"}, {"title": "Royal"}]}));
    row!(ledger, "RES-event-15", unknown.says("TICKET_LEVEL_DOES_NOT_EXIST"), "{unknown}");
}

fn canvass(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let target = api.create("people", &json!({"given_name": "Target"}));
    let canvasser = api.create("people", &json!({"given_name": "Canvasser"}));
    let question = api.create("questions", &least("question"));
    let helper = api.href(&target, "record_canvass_helper");
    let old = api.href(&target, "record_canvas_helper");
    row!(ledger, "RES-person-48", helper == old && api.post(&old, &json!({"canvass": {}})).status == 200, "{target}");
    let people = api.total(&api.collection("people"));
    let fields = json!({"origin_system": "x", "action_date": "2026-01-05", "contact_type": "in-person", "input_type": "mobile", "success": true, "status_code": ""});
    let mut inner = fields.clone();
    inner["canvasser"] = json!(own(&canvasser));
    inner["question_response"] = json!({"question": own(&question), "responses": ["b2"], "value": "Because"});
    let tag = api.create("tags", &least("tag"));
    let body = json!({"canvass": inner, "person": {"given_name": "Nobody"}, "add_tags": [tag["name"]]});
    let made = api.post(&helper, &body).ok();
    row!(ledger, "HLP-16", same(&fields, &made, false) && api.reread(&made) == made, "{made}");
    row!(ledger, "HLP-17", api.href(&made, "target") == own(&target), "{made}");
    row!(ledger, "HLP-18", api.total(&api.collection("people")) == people, "no second person");
    row!(ledger, "RES-canvass-07", api.href(&made, "canvasser") == own(&canvasser), "{made}");
    let answers = api.members(&api.href(&made, "answers"));
    let answer = answers.first().cloned().unwrap_or_default();
    row!(
        ledger,
        "RES-canvass-08",
        answers.len() == 1 && contains(api, &api.href(&target, "answers"), &answer),
        "{answers:?}"
    );
    row!(ledger, "RES-canvass-09", api.href(&answer, "question") == own(&question), "{answer}");
    row!(ledger, "RES-canvass-10", answer["value"] == "Because", "{answer}");
    row!(ledger, "RES-canvass-11", answer["responses"] == json!(["b2"]), "{answer}");
    let taggings = api.members(&api.href(&made, "taggings"));
    row!(
        ledger,
        "RES-canvass-12",
        taggings.len() == 1 && contains(api, &api.href(&target, "taggings"), &taggings[0]),
        "{made}"
    );
    let plain = api.post(&helper, &json!({"canvass": fields})).ok();
    row!(
        ledger,
        "RES-canvass-12",
        link(&plain, "svc:canvasser").is_none() && link(&plain, "svc:target").is_some(),
        "{plain}"
    );
    let three = json!([{"question": own(&question), "responses": ["a1"]}, {"question": question["identifiers"][0], "responses": ["b2"]}]);
    let made = api.post(&helper, &json!({"canvass": {"question_response": three}})).ok();
    row!(ledger, "RES-canvass-08", api.total(&api.href(&made, "answers")) == 2, "{made}");
    for link in [
        json!({"canvass": {"canvasser": {"href": own(&canvasser)}}}),
        json!({"canvass": api.linked(&json!({}), "canvasser", &own(&canvasser))}),
    ] {
        let made = api.post(&helper, &link).ok();
        row!(ledger, "RES-canvass-07", api.href(&made, "canvasser") == own(&canvasser), "{made}");
    }
    let wrong = api.post(&helper, &json!({"canvass": {"canvasser": own(&question)}}));
    row!(ledger, "RES-canvass-07", wrong.status == 400 && wrong.says("PERSON_NOT_FOUND"), "{wrong}");
    let before = api.total(&api.href(&target, "canvasses"));
    assert_eq!(api.delete(&own(&canvasser)).status, 204);
    let gone = api.post(&format!("{}/record_canvass_helper", own(&canvasser)), &json!({"canvass": {}}));
    row!(ledger, "HLP-17", gone.status == 404 && api.total(&api.href(&target, "canvasses")) == before, "{gone}");
}

fn signup(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let address = api.href(&api.entry(), "person_signup_helper");
    let made = api.post(&address, &json!({"person": {"given_name": "Ada"}})).ok();
    row!(ledger, "HLP-19", made["given_name"] == "Ada" && api.reread(&made) == made, "{made}");
    row!(ledger, "HLP-20", made["id"].as_str().is_some_and(|id| own(&made).ends_with(id)), "{made}");
    for name in ["answers", "attendance", "signatures", "submissions", "donations", "outreaches", "taggings", "items"] {
        row!(ledger, "HLP-21", api.follow(&made, name)["total_records"] == 0, "{name} of {made}");
    }
    row!(ledger, "RES-person-49", address.ends_with("/people/person_signup"));
    let page = api.get(&api.collection("people")).ok();
    row!(ledger, "RES-person-49", api.href(&page, "person_signup_helper") == address, "{page}");
    for path in ["people/person_signup_helper/", "people/person_signup_helper", "people/person_signup/"] {
        let reply = api.post(&format!("{}{path}", api.base), &json!({"person": {}}));
        row!(ledger, "HLP-19", reply.status == 200, "{reply}");
    }
    let reply = api.post(&address, &json!({"given_name": "no person"}));
    row!(ledger, "HLP-19", reply.refuses("FIELD_REQUIRED", "person"), "{reply}");
    let mail = json!({"person": {"email_addresses": [{"address": "collection@example.org"}]}});
    let first = api.post(&api.collection("people"), &mail);
    row!(
        ledger,
        "HLP-19",
        first.status == 201 && first.header("location") == Some(own(&first.json).as_str()),
        "{first}"
    );
    let second = api.post(&api.collection("people"), &mail);
    row!(ledger, "HLP-19", second.status == 200 && own(&second.json) == own(&first.json), "{second}");
    row!(ledger, "HLP-19", api.anonymous().post(&api.collection("people"), &mail).status == 401);
    let petition = api.create("petitions", &json!({}));
    let inline =
        api.post(&api.href(&petition, "signatures"), &json!({"comments": "x", "person": {"given_name": "Inline"}}));
    row!(
        ledger,
        "UND-31",
        inline.status == 201 && api.follow(&inline.json, "person")["given_name"] == "Inline",
        "{inline}"
    );
    let both = api.linked(&json!({"person": {}}), "person", &own(&made));
    let both = api.post(&api.href(&petition, "signatures"), &both);
    row!(
        ledger,
        "UND-31",
        both.refuses("FIELD_INVALID", "person") && both.refuses("FIELD_INVALID", "_links.svc:person"),
        "{both}"
    );
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

/// The same action identifier again is a retry (UND-24).
fn posted_again(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for (one, under, name) in ACTIONS {
        let (container, address) = helper(api, under, name);
        let mut body =
            with_person(&fields(one), json!({"email_addresses": [{"address": format!("{one}@example.org")}]}));
        body["identifiers"] = json!([unique("shop:order")]);
        let first = api.post(&address, &body).ok();
        body["origin_system"] = json!("Retry");
        let second = api.post(&address, &body).ok();
        row!(ledger, "UND-24", own(&second) == own(&first) && second["origin_system"] == "Retry", "{second}");
        body["origin_system"] = json!("Stranger");
        let stranger = api.anonymous().post(&address, &body);
        let unchanged = api.reread(&first)["origin_system"] == "Retry";
        row!(ledger, "UND-24", stranger.status == 200 && stranger.text() == "{}" && unchanged, "{stranger}");
        row!(ledger, "UND-24", api.reread(&container)[kind(one).counted.expect("a total")] == 1);
        let (_, elsewhere) = helper(api, under, name);
        let reply = api.post(&elsewhere, &body);
        row!(ledger, "UND-24", reply.refuses("IDENTIFIER_IN_USE", "identifiers[0]"), "{reply}");
    }
}

/// Each action function on each helper.
fn functions(f: &Fixture) {
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
fn call(f: &Fixture, functions: Value) -> (Reply, Option<Value>) {
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

fn tags_and_lists(f: &Fixture) {
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

fn questions(f: &Fixture) {
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

fn triggers(f: &Fixture) {
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

fn non_atomic(f: &Fixture) {
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

fn atomic(f: &Fixture) {
    let other = f.with(&Setup { atomic: true, ..Setup::default() });
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

/// Action functions that the server does not support fail for their entry.
fn not_supported(f: &Fixture) {
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

fn scheduling(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let message = api.create("messages", &json!({"subject": "Hello", "type": "email"}));
    let helper = api.href(&message, "schedule_helper");
    row!(ledger, "HLP-22", helper == format!("{}/schedule", own(&message)), "{helper}");
    let dates = json!({"scheduled_start_date": "2026-03-01T12:00:00Z", "scheduled_stop_date": "2026-03-02T12:00:00Z"});
    let reply = api.post(&helper, &dates);
    row!(
        ledger,
        "SCH-02",
        reply.status == 200 && reply.json["notice"].as_str().is_some_and(|notice| !notice.is_empty()),
        "{reply}"
    );
    row!(ledger, "HLP-22", reply.status == 200, "{reply}");
    let read = api.reread(&message);
    row!(ledger, "SCH-01", same(&dates, &read, true), "{read}");
    row!(ledger, "RES-message-01", read["scheduled_start_date"] == "2026-03-01T12:00:00Z", "{read}");
    row!(ledger, "RES-message-02", read["scheduled_stop_date"] == "2026-03-02T12:00:00Z", "{read}");
    let other = json!({"scheduled_start_date": "2026-04-01T12:00:00Z", "scheduled_end_date": "2026-04-02T12:00:00Z", "add_tags": ["ignored"]});
    let reply = api.post(&helper, &other);
    let read = api.reread(&message);
    row!(ledger, "SCH-07", reply.status == 200 && read["scheduled_stop_date"] == "2026-04-02T12:00:00Z", "{read}");
    row!(ledger, "SCH-08", read["scheduled_start_date"] == "2026-04-01T12:00:00Z", "{read}");
    row!(ledger, "SCH-09", reply.status == 200, "{reply}");
    let put = api.put(&own(&message), &dates).ok();
    row!(ledger, "RES-message-01", put["scheduled_start_date"] == "2026-04-01T12:00:00Z", "{put}");
    let reply = api.delete(&helper);
    row!(
        ledger,
        "SCH-05",
        reply.status == 200 && reply.json["notice"].as_str().is_some_and(|notice| !notice.is_empty()),
        "{reply}"
    );
    let read = api.reread(&message);
    row!(ledger, "SCH-04", read["scheduled_start_date"].is_null() && read["scheduled_stop_date"].is_null(), "{read}");
    let again = api.delete(&helper);
    row!(ledger, "SCH-08", again.status == 400 && again.says("MESSAGE_NOT_SCHEDULED"), "{again}");
    let start = api.post(&helper, &json!({"scheduled_start_date": "2026-03-01T12:00:00Z"}));
    row!(ledger, "SCH-03", start.status == 200, "{start}");
}

fn scheduling_refused(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let message = api.create("messages", &json!({}));
    let helper = api.href(&message, "schedule_helper");
    for (body, property) in [
        (json!({"scheduled_start_date": "yesterday"}), "scheduled_start_date"),
        (json!({"scheduled_start_date": "2026-03-01T12:00:00Z", "scheduled_stop_date": 7}), "scheduled_stop_date"),
    ] {
        let reply = api.post(&helper, &body);
        row!(ledger, "SCH-06", reply.refuses("FIELD_INVALID", property), "{reply}");
    }
    let missing = api.post(&helper, &json!({"scheduled_stop_date": "2026-03-01T12:00:00Z"}));
    row!(ledger, "SCH-06", missing.refuses("FIELD_REQUIRED", "scheduled_start_date"), "{missing}");
    let turned = api.post(
        &helper,
        &json!({"scheduled_start_date": "2026-03-02T12:00:00Z", "scheduled_stop_date": "2026-03-01T12:00:00Z"}),
    );
    row!(ledger, "SCH-06", turned.says("START_DATE_AFTER_END_DATE") && turned.status == 400, "{turned}");
    row!(ledger, "SCH-06", api.reread(&message) == message, "{message}");
    assert_eq!(api.delete(&own(&message)).status, 204);
    let start = json!({"scheduled_start_date": "2026-03-01T12:00:00Z"});
    for reply in [api.post(&helper, &start), api.delete(&helper)] {
        row!(ledger, "SCH-06", reply.status == 404 && reply.says("RESOURCE_NOT_FOUND"), "{reply}");
    }
}

//! Record helpers: actions, tickets, canvasses.

use serde_json::json;
use svc_conformance::row;

use super::{fields, helper, with_person};
use crate::client::{link, own};
use crate::fixture::Fixture;
use crate::kinds::{ACTIONS, addresses_kind, contains, kind, least, unique};
use crate::values::same;

/// The row of each record helper.
const HELPER_ROWS: &[(&str, &str)] = &[
    ("HLP-11", "signature"),
    ("HLP-12", "submission"),
    ("HLP-13", "donation"),
    ("HLP-14", "outreach"),
    ("HLP-15", "attendance"),
];

pub(super) fn record_helpers(f: &Fixture) {
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

pub(super) fn ticketed(f: &Fixture) {
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

pub(super) fn canvass(f: &Fixture) {
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

/// The same action identifier again is a retry (UND-24).
pub(super) fn posted_again(f: &Fixture) {
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

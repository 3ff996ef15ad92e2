//! ERR and LIM: rules on a body, all errors at once, limits.

use http::Method;
use serde_json::{Value, json};
use svc_conformance::row;

use crate::client::{Problem, own};
use crate::family::{Case, Family};
use crate::fields::{CARRIERS, FIELDS, Field, Shape};
use crate::fixture::{Fixture, Setup};
use crate::kinds::{KINDS, least, make, unique};
use crate::values::{invalid, place, spoken, valid};

const CASES: &[Case] = &[
    ("question rules", question_rules),
    ("all errors at once", all_at_once),
    ("any faults in any kind", any_faults),
    ("unsupported operations", unsupported),
    ("unknown addresses", unknown),
    ("one primary", one_primary),
    ("person rules", person_rules),
    ("phone numbers", phone_numbers),
    ("money and voided donations", donations),
    ("capacity", capacity),
    ("ticket limits", ticket_limits),
    ("targets", targets),
    ("event dates", event_dates),
    ("hostile bodies", hostile),
    ("media types and sizes", media),
    ("paging parameters", page_parameters),
    ("names in use", names_in_use),
];

pub(crate) static FAMILY: Family = Family::new("ERR LIM", CASES);

fn named<'p>(problems: &'p [Problem], code: &str) -> Option<&'p Problem> {
    problems.iter().find(|problem| problem.code == code)
}

fn question_rules(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let questions = api.collection("questions");
    let paragraph =
        api.post(&questions, &json!({"question_type": "Paragraph", "responses": [{"key": "a", "name": "b"}]}));
    let problem =
        named(&paragraph.problems(), "PARAGRAPH_CANNOT_HAVE_RESPONSES").map(|problem| problem.properties.clone());
    row!(
        ledger,
        "ERR-35",
        paragraph.status == 400 && problem == Some(vec!["question_type".into(), "responses".into()]),
        "{paragraph}"
    );
    let choice = api.create("questions", &least("question"));
    for body in [json!({"question_type": "Paragraph"}), json!({"question_type": "Paragraph", "title": "x"})] {
        let put = api.put(&own(&choice), &body);
        row!(ledger, "ERR-35", put.says("PARAGRAPH_CANNOT_HAVE_RESPONSES") && api.reread(&choice) == choice, "{put}");
    }
    let text = api.create("questions", &json!({"question_type": "Paragraph"}));
    let put = api.put(&own(&text), &json!({"responses": [{"key": "a"}]}));
    row!(ledger, "ERR-35", put.says("PARAGRAPH_CANNOT_HAVE_RESPONSES"), "against the stored type: {put}");
    for at in 0..3_usize {
        let mut responses: Vec<Value> =
            (0..3).map(|n| json!({"key": format!("k{n}"), "name": format!("name_{n}")})).collect();
        if let Some(bad) = responses.get_mut(at) {
            bad["name"] = json!("not allowed!");
        }
        let reply = api.post(&questions, &json!({"question_type": "MultiChoice", "responses": responses}));
        let property = format!("responses[{at}].name");
        let hint = named(&reply.problems(), "RESPONSE_NAME_INVALID").and_then(|problem| problem.hint.clone());
        let good = reply.refuses("RESPONSE_NAME_INVALID", &property) && hint.as_deref() == Some("^[A-Za-z0-9_]+$");
        row!(ledger, "ERR-36", good, "{reply}");
        row!(ledger, "RES-question-09", good, "{reply}");
    }
    let twice = json!({"question_type": "SingleChoice", "responses": [{"key": "a"}, {"key": "b"}, {"key": "a"}]});
    let reply = api.post(&questions, &twice);
    row!(ledger, "ERR-40", reply.refuses("RESPONSE_KEY_NOT_UNIQUE", "responses[2].key"), "{reply}");
    row!(ledger, "LIM-06", reply.refuses("RESPONSE_KEY_NOT_UNIQUE", "responses[2].key"), "{reply}");
    let reply = api.post(&questions, &json!({"question_type": "SingleChoice", "responses": [{"key": "not-alnum"}]}));
    row!(ledger, "RES-question-08", reply.refuses("RESPONSE_KEY_INVALID", "responses[0].key"), "{reply}");
}

fn all_at_once(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let body = json!({"question_type": "Paragraph", "responses": [{"key": "a", "name": "ok"}, {"key": "b", "name": "ok2"}, {"key": "c", "name": "not ok"}]});
    let reply = api.post(&api.collection("questions"), &body);
    let both =
        reply.says("PARAGRAPH_CANNOT_HAVE_RESPONSES") && reply.refuses("RESPONSE_NAME_INVALID", "responses[2].name");
    row!(ledger, "ERR-39", both, "{reply}");
    let before = api.total(&api.collection("people"));
    // Faults are added one by one: k faults give k descriptions with their paths.
    let faults: &[(&str, Value)] = &[
        ("gender", json!("unknown")),
        ("family_name", json!(7)),
        ("birthdate", json!({"month": 13, "day": 0})),
        ("email_addresses", json!([{"address": "a@example.org"}, {"address": "no at", "status": 7}])),
        ("custom_fields", json!({"x": 7})),
        ("identifiers", json!(["a:1", "no colon"])),
        ("postal_addresses", json!([{"country": "USA", "location": {"latitude": 91}}])),
        ("languages_spoken", json!("en")),
    ];
    let paths: &[&[&str]] = &[
        &["gender"],
        &["family_name"],
        &["birthdate.month", "birthdate.day"],
        &["email_addresses[1].address", "email_addresses[1].status"],
        &["custom_fields.x"],
        &["identifiers[1]"],
        &["postal_addresses[0].country", "postal_addresses[0].location.latitude"],
        &["languages_spoken"],
    ];
    for mask in 1_usize..=255 {
        if mask % 7 != 1 && mask != 255 {
            continue;
        }
        let mut body = json!({"given_name": "fine"});
        let mut expected = Vec::new();
        for (bit, ((name, value), paths)) in faults.iter().zip(paths).enumerate() {
            if mask >> bit & 1 == 1 {
                body[*name] = value.clone();
                expected.extend(paths.iter().copied());
            }
        }
        let reply = api.post(&api.collection("people"), &body);
        let problems = reply.problems();
        let found = expected
            .iter()
            .all(|path| problems.iter().any(|problem| problem.properties.iter().any(|name| name == path)));
        row!(ledger, "ERR-39", found && problems.len() >= expected.len(), "{expected:?}: {reply}");
        row!(ledger, "ERR-26", found, "{reply}");
    }
    row!(ledger, "ERR-39", api.total(&api.collection("people")) == before, "nothing is stored");
}

/// Random subsets of all fields of each kind are made wrong: each is named.
fn any_faults(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or_default() % below
    };
    for kind in KINDS.iter().filter(|kind| !matches!(kind.one, "query" | "canvass")) {
        let own_fields = FIELDS.iter().filter(|field| field.owner == kind.one).map(|field| (field, field.path.clone()));
        let carried = CARRIERS.iter().filter(|(_, one, _)| *one == kind.one).flat_map(|(object, _, place)| {
            FIELDS
                .iter()
                .filter(move |field| field.owner == *object)
                .map(move |field| (field, format!("{place}.{}", field.path)))
        });
        let fields: Vec<_> =
            own_fields.chain(carried).filter(|(field, _)| !field.computed && field.shape != Shape::Reference).collect();
        if fields.is_empty() {
            continue;
        }
        let container = kind.under.map(|under| f.container(api, under));
        let collection =
            container.map_or_else(|| api.collection(kind.many), |container| api.href(&container, kind.many));
        let person = own(&f.container(api, "person"));
        for _ in 0..12 {
            let mut chosen: Vec<(&Field, &str)> = Vec::new();
            for _ in 0..=random(8) {
                let (field, path) = &fields[random(fields.len())];
                let apart = |other: &str| !path.starts_with(other) && !other.starts_with(path.as_str());
                if chosen.iter().all(|(_, other)| apart(other)) {
                    chosen.push((field, path));
                }
            }
            let mut body = api.linked(&json!({}), "person", &person);
            for (field, path) in &chosen {
                let wrong = invalid(field);
                merge(&mut body, place(path, &wrong[random(wrong.len())]));
            }
            let reply = api.post(&collection, &body);
            let problems = reply.problems();
            let named = |path: &str| {
                problems.iter().any(|problem| problem.properties.iter().any(|name| name.starts_with(&spoken(path))))
            };
            let all = chosen.iter().all(|(_, path)| named(path));
            row!(ledger, "ERR-39", reply.status == 400 && all && problems.len() >= chosen.len(), "{chosen:?}: {reply}");
        }
    }
}

/// Puts one body into another, member by member; arrays of one by their element.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (Value::Array(into), Value::Array(from)) => {
            into.iter_mut().zip(from).for_each(|(into, from)| merge(into, from));
        }
        (into, from) => *into = from,
    }
}

fn unsupported(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let query = api.post(&api.collection("queries"), &json!({"name": "x"}));
    row!(ledger, "ERR-07", query.status == 500 && query.says("NOT_IMPLEMENTED"), "{query}");
    let donation = api.post(&api.collection("donations"), &json!({"amount": 1}));
    row!(ledger, "ERR-07", donation.status == 500 && donation.says("NOT_IMPLEMENTED"), "{donation}");
    for kind in KINDS.iter().filter(|kind| kind.under.is_none()) {
        for method in [Method::PUT, Method::DELETE] {
            let reply = api.send(
                method,
                &api.collection(kind.many),
                &[("content-type", "application/json")],
                Some("{}".into()),
            );
            row!(ledger, "ERR-07", reply.status == 500 && reply.says("NOT_IMPLEMENTED"), "{reply}");
        }
    }
    let person = api.create("people", &json!({}));
    let reply = api.post(&own(&person), &json!({}));
    row!(ledger, "ERR-07", reply.status == 500 && reply.says("NOT_IMPLEMENTED"), "{reply}");
    let fewer = f.with(&Setup {
        without: vec!["petitions.update".into(), "petitions.delete".into(), "tags.list".into()],
        ..Setup::default()
    });
    let petition = fewer.api.create("petitions", &json!({"title": "kept"}));
    for reply in [fewer.api.put(&own(&petition), &json!({"title": "lost"})), fewer.api.delete(&own(&petition))] {
        row!(ledger, "ERR-07", reply.status == 500 && reply.says("NOT_IMPLEMENTED"), "{reply}");
        row!(ledger, "CAP-04", reply.status == 500 && fewer.api.reread(&petition) == petition, "{reply}");
    }
}

fn unknown(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for path in [
        "nothing",
        "people/x/y/z",
        "people//",
        "../people",
        "people/..%2f",
        "docs/v1/nothing",
        "%00",
        "petitions/1/answers",
    ] {
        let reply = api.send_raw(Method::GET, &format!("{}{path}", api.base), &[], None);
        row!(ledger, "UND-35", reply.status == 404 && reply.says("RESOURCE_NOT_FOUND"), "{reply}");
    }
    for kind in KINDS.iter().filter(|kind| kind.under.is_none()) {
        let address = format!("{}/no-such-id", api.collection(kind.many));
        let read = api.get(&address);
        row!(ledger, "ERR-11", read.status == 404 && read.body.is_empty(), "{read}");
    }
    let switched = f.with(&Setup { error_bodies: svc_core::api::ErrorBodies::Everywhere, ..Setup::default() });
    let read = switched.api.get(&format!("{}/no-such-id", switched.api.collection("people")));
    row!(ledger, "ERR-11", read.status == 404 && read.says("RESOURCE_NOT_FOUND"), "error bodies everywhere: {read}");
}

fn one_primary(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let people = api.collection("people");
    for (id, name, yes, extra) in [
        ("RES-postal_address-02", "postal_addresses", json!(true), ("locality", "Springfield")),
        ("RES-email_address-02", "email_addresses", json!(true), ("address", "a@example.org")),
        ("RES-phone_number-02", "phone_numbers", json!("true"), ("number", "15550100101")),
        ("RES-phone_number-02", "phone_numbers", json!(true), ("number", "15550100101")),
    ] {
        let element = json!({"primary": yes, extra.0: extra.1});
        let one = json!({ name: [element, {extra.0: extra.1}] });
        let made = api.create("people", &one);
        row!(ledger, id, made[name][0]["primary"] == yes && made[name][1].get("primary").is_none(), "{made}");
        let reply = api.post(&people, &json!({ name: [element, element] }));
        row!(ledger, id, reply.status == 400 && reply.says("MULTIPLE_PRIMARY"), "{reply}");
        let put = api.put(&own(&made), &json!({ name: [element, {extra.0: extra.1}, element] }));
        row!(ledger, id, put.says("MULTIPLE_PRIMARY") && api.reread(&made) == made, "{put}");
    }
}

fn person_rules(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let gender = |body: Value| api.create("people", &body)["gender"].clone();
    for plain in ["Female", "Male"] {
        row!(ledger, "RES-person-08", gender(json!({ "gender_identity": plain })) == plain);
        row!(ledger, "RES-person-08", gender(json!({"gender_identity": plain, "gender": "Other"})) == plain);
    }
    for (identity, expected) in
        [("trans female", "Female"), ("A woman, mostly", "Female"), ("cis MALE", "Male"), ("transgender man", "Male")]
    {
        row!(ledger, "RES-person-09", gender(json!({ "gender_identity": identity })) == expected, "{identity}");
    }
    row!(ledger, "RES-person-09", gender(json!({"gender_identity": "agender", "gender": "Other"})) == "Other");
    let made = api.create(
        "people",
        &json!({"ethnicities": ["b", "a", "b"], "languages_spoken": ["en", "en"], "profiles": [{"handle": "@ada"}]}),
    );
    row!(ledger, "RES-person-16", made["ethnicities"] == json!(["b", "a"]), "{made}");
    row!(ledger, "RES-person-17", made["languages_spoken"] == json!(["en"]), "{made}");
    row!(ledger, "RES-person-35", made["profiles"][0]["handle"] == "ada", "{made}");
    let people = api.collection("people");
    for (id, name, value) in [
        ("RES-person-22", "month", 13),
        ("RES-person-22", "month", 0),
        ("RES-person-23", "day", 32),
        ("RES-person-24", "year", 84),
        ("RES-person-24", "year", 10_000),
    ] {
        let reply = api.post(&people, &json!({"birthdate": {name: value}}));
        row!(ledger, id, reply.refuses("FIELD_INVALID", &format!("birthdate.{name}")), "{reply}");
    }
    let reply = api.post(&people, &json!({"custom_fields": {"a": "b", "c": 7}}));
    row!(ledger, "RES-person-36", reply.refuses("FIELD_INVALID", "custom_fields.c"), "{reply}");
    for (id, value, property) in [
        ("RES-postal_address-09", json!({"country": "Germany"}), "country"),
        ("RES-postal_address-12", json!({"location": {"latitude": 90.01}}), "location.latitude"),
        ("RES-postal_address-13", json!({"location": {"longitude": -180.5}}), "location.longitude"),
    ] {
        let reply = api.post(&people, &json!({"postal_addresses": [value]}));
        row!(ledger, id, reply.refuses("FIELD_INVALID", &format!("postal_addresses[0].{property}")), "{reply}");
    }
    let reply = api.post(&people, &json!({"email_addresses": [{"address": "nobody"}]}));
    row!(ledger, "RES-email_address-03", reply.refuses("FIELD_INVALID", "email_addresses[0].address"), "{reply}");
}

fn phone_numbers(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for (sent, kept) in [
        (json!("+1 (555) 010-0101"), "15550100101"),
        (json!(15_550_100_102_i64), "15550100102"),
        (json!("44.20.7946.0958"), "442079460958"),
    ] {
        let made = api.create("people", &json!({"phone_numbers": [{"number": sent}]}));
        let good = made["phone_numbers"][0]["number"] == kept && api.reread(&made) == made;
        row!(ledger, "RES-phone_number-03", good, "{sent}: {made}");
        row!(ledger, "LIM-03", good, "{made}");
    }
    for wrong in [json!("call me"), json!("1555x"), json!(1.5), json!(-1), json!("")] {
        let reply = api.post(&api.collection("people"), &json!({"phone_numbers": [{"number": wrong}]}));
        row!(ledger, "LIM-03", reply.refuses("FIELD_INVALID", "phone_numbers[0].number"), "{wrong}: {reply}");
    }
    for kept in [json!("true"), json!("false"), json!(true), json!(false)] {
        let made = api.create("people", &json!({"phone_numbers": [{"number": "15550100101", "primary": kept}]}));
        row!(ledger, "RES-phone_number-01", made["phone_numbers"][0]["primary"] == kept, "{made}");
    }
}

fn donations(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let page = api.create("fundraising_pages", &json!({"currency": "EUR"}));
    let person = api.create("people", &json!({}));
    let give = |body: Value| api.act(&page, "donations", &person, &body);
    let totals = || {
        let page = api.reread(&page);
        (page["total_donations"].as_i64(), page["total_amount"].to_string())
    };
    let first = give(json!({"amount": 0.1, "currency": "EUR"}));
    give(json!({"amount": 0.2}));
    row!(ledger, "RES-fundraising_page-10", totals() == (Some(2), "0.3".into()), "{:?}", totals());
    give(json!({"amount": 5, "currency": "USD"}));
    row!(
        ledger,
        "RES-fundraising_page-10",
        totals() == (Some(3), "0.3".into()),
        "another currency does not count: {:?}",
        totals()
    );
    row!(ledger, "RES-fundraising_page-09", totals().0 == Some(3));
    let put = api.put(&own(&first), &json!({"voided": true})).ok();
    row!(ledger, "RES-donation-18", crate::resources::is_instant(&put["voided_date"]), "{put}");
    row!(
        ledger,
        "RES-fundraising_page-10",
        totals() == (Some(3), "0.2".into()),
        "voided ones are out of the sum: {:?}",
        totals()
    );
    let put = api.put(&own(&first), &json!({"voided": false})).ok();
    row!(ledger, "RES-donation-18", put.get("voided_date").is_none(), "{put}");
    let both = give(json!({"voided": true, "voided_date": "2026-01-05T09:00:00Z", "amount": 3}));
    row!(ledger, "RES-donation-18", both["voided"] == true && both["voided_date"] == "2026-01-05T09:00:00Z", "{both}");
    let reply = api.post(&api.collection("fundraising_pages"), &json!({"currency": "euro"}));
    row!(ledger, "RES-fundraising_page-11", reply.refuses("FIELD_INVALID", "currency"), "{reply}");
}

fn capacity(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let event = api.create("events", &json!({"capacity": 2}));
    let helper = api.href(&event, "record_attendance_helper");
    let come = |status: &str| api.post(&helper, &json!({"status": status, "person": {}}));
    let first = come("accepted").ok();
    row!(ledger, "LIM-04", come("declined").status == 200, "a declined one holds no place");
    row!(ledger, "LIM-04", come("accepted").status == 200);
    let people = api.total(&api.collection("people"));
    let full = come("accepted");
    row!(ledger, "LIM-04", full.status == 400 && full.says("CAPACITY_EXCEEDED"), "{full}");
    let unchanged = api.total(&api.collection("people")) == people && api.reread(&event)["total_accepted"] == 2;
    row!(ledger, "LIM-04", unchanged && full.error()["request_type"] == "atomic", "nothing is stored");
    row!(ledger, "RES-event-27", full.says("CAPACITY_EXCEEDED"), "{full}");
    assert_eq!(api.put(&own(&first), &json!({"status": "declined"})).status, 200);
    row!(ledger, "LIM-04", come("accepted").status == 200, "a place was given back");
    let put = api.put(&own(&first), &json!({"status": "accepted"}));
    row!(ledger, "LIM-04", put.says("CAPACITY_EXCEEDED"), "{put}");
    let lower = api.put(&own(&event), &json!({"capacity": 1}));
    row!(ledger, "RES-event-27", lower.status == 200, "{lower}");
    let negative = api.put(&own(&event), &json!({"capacity": -1}));
    row!(ledger, "RES-event-27", negative.refuses("FIELD_INVALID", "capacity"), "{negative}");
}

fn ticket_limits(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let event = api.create("events", &json!({"type": "ticketed", "ticket_levels": [{"title": "Standard", "limit": 3, "amount": 2.5, "currency": "EUR"}]}));
    let helper = api.href(&event, "record_attendance_helper");
    let buy =
        |count: usize| api.post(&helper, &json!({"person": {}, "tickets": vec![json!({"title": "Standard"}); count]}));
    let first = buy(2).ok();
    let over = buy(2);
    row!(ledger, "LIM-05", over.status == 400 && over.says("TICKET_LIMIT_EXCEEDED"), "{over}");
    row!(ledger, "LIM-05", buy(1).status == 200);
    let over = buy(1);
    row!(ledger, "LIM-05", over.says("TICKET_LIMIT_EXCEEDED"), "{over}");
    let sold = api.reread(&event);
    let level = &sold["ticket_levels"][0];
    row!(
        ledger,
        "RES-event-15",
        level["limit"] == 0 && level["total_tickets"] == 3 && level["total_amount"] == 7.5,
        "{sold}"
    );
    assert_eq!(api.delete(&own(&first)).status, 204);
    let back = api.reread(&event);
    row!(ledger, "RES-event-15", back["ticket_levels"][0]["limit"] == 2 && back["total_tickets"] == 1, "{back}");
    row!(ledger, "LIM-05", buy(2).status == 200);
    let put = api
        .put(
            &own(&event),
            &json!({"ticket_levels": [{"title": "Standard", "limit": 1, "amount": 2.5, "currency": "EUR"}]}),
        )
        .ok();
    row!(
        ledger,
        "RES-event-15",
        put["ticket_levels"][0]["limit"] == 1 && put["ticket_levels"][0]["total_tickets"] == 3,
        "{put}"
    );
    row!(ledger, "LIM-05", buy(1).status == 200 && buy(1).says("TICKET_LIMIT_EXCEEDED"));
    let other = api.post(&helper, &json!({"person": {}, "tickets": [{"title": "Standard", "currency": "USD"}]}));
    row!(ledger, "RES-event-15", other.status == 400, "another currency than the level's: {other}");
}

fn targets(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let list = valid("advocacy_campaign", "target_list", &Shape::Objects, 0).into_iter().next().expect("targets");
    let campaign = api.create("advocacy_campaigns", &json!({ "target_list": list }));
    row!(ledger, "RES-target-01", crate::values::same(&list, &campaign["target_list"], false), "{campaign}");
    let outreach = make(f, api, "outreach", &json!({ "targets": list }));
    row!(ledger, "RES-target-01", crate::values::same(&list, &outreach["targets"], false), "{outreach}");
    let helped = api.post(&api.href(&campaign, "record_outreach_helper"), &json!({"targets": list, "person": {}})).ok();
    row!(ledger, "RES-target-01", crate::values::same(&list, &helped["targets"], false), "{helped}");
    for one in ["signature", "submission", "donation", "outreach", "attendance"] {
        let data = json!({"source": "s", "referrer": "r", "website": "example.org", "url": "https://example.org/x"});
        let made = make(f, api, one, &json!({ "referrer_data": data }));
        row!(ledger, "RES-referrer_data-01", made["referrer_data"] == data && api.reread(&made) == made, "{made}");
    }
}

fn event_dates(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let turned = json!({"start_date": "2026-03-02T10:00:00Z", "end_date": "2026-03-01T10:00:00Z"});
    let reply = api.post(&api.collection("events"), &turned);
    let good = reply.status == 400 && reply.says("START_DATE_AFTER_END_DATE");
    row!(ledger, "RES-event-24", good, "{reply}");
    let event = api.create("events", &json!({"start_date": "2026-03-02T10:00:00Z"}));
    let put = api.put(&own(&event), &json!({"end_date": "2026-03-01T10:00:00Z"}));
    row!(ledger, "RES-event-24", put.says("START_DATE_AFTER_END_DATE"), "against the stored start: {put}");
    row!(ledger, "RES-event-23", api.reread(&event)["start_date"] == "2026-03-02T10:00:00Z");
}

/// Bodies that a careless reader takes: each is refused, and nothing is stored.
fn hostile(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let deep = format!("{}{}", r#"{"a":"#.repeat(70), "1".to_owned() + &"}".repeat(70));
    let bodies: &[(&str, String)] = &[
        ("JSON_INVALID", "{".into()),
        ("JSON_INVALID", "[]".into()),
        ("JSON_INVALID", "null".into()),
        ("JSON_INVALID", "{} {}".into()),
        ("JSON_INVALID", r#"{"given_name":"a",}"#.into()),
        ("JSON_INVALID", "{'given_name':'a'}".into()),
        ("JSON_INVALID", deep),
        ("JSON_INVALID", "given_name=Ada&family_name=L".into()),
        ("JSON_INVALID", r#"{"given_name":"a\u0000b"}"#.into()),
        ("JSON_INVALID", "{\"given_name\":\"a\u{0}b\"}".into()),
        ("JSON_INVALID", r#"{"given_name":"\ud800"}"#.into()),
        ("JSON_INVALID", r#"{"given_name":"\udc00\ud800"}"#.into()),
        ("JSON_INVALID", r#"{"birthdate":{"year":123456789012345678901234567890}}"#.into()),
        ("JSON_INVALID", r#"{"birthdate":{"year":1e999}}"#.into()),
        ("JSON_INVALID", r#"{"birthdate":{"year":NaN}}"#.into()),
        ("JSON_INVALID", "\u{feff}{}".into()),
        ("DUPLICATE_KEY", r#"{"given_name":"a","given_name":"b"}"#.into()),
        ("DUPLICATE_KEY", r#"{"given_name":"a","given\u005fname":"b"}"#.into()),
    ];
    let people = api.collection("people");
    let before = api.total(&people);
    for (code, body) in bodies {
        let reply = api.post_text(&people, body);
        row!(ledger, "ERR-12", reply.status == 400 && reply.says(code), "{reply}");
        row!(ledger, "UND-27", reply.status == 400 && reply.says(code), "{reply}");
    }
    let raw = api.send(
        Method::POST,
        &people,
        &[("content-type", "application/json")],
        Some(b"{\"given_name\":\"\xff\"}".to_vec().into()),
    );
    row!(ledger, "ERR-12", raw.says("JSON_INVALID"), "{raw}");
    row!(ledger, "CRU-21", api.total(&people) == before, "nothing is stored");
    for text in ["'; DROP TABLE person; --", "../../etc/passwd", "%00", "\" OR 1=1", "$(id)"] {
        let address = format!("{}/{}", people, text.replace(' ', "%20").replace('"', "%22").replace('\'', "%27"));
        let reply = api.get(&address);
        row!(ledger, "ERR-11", reply.status == 404, "{reply}");
        let made = api.create("people", &json!({ "given_name": text }));
        row!(ledger, "TYP-01", made["given_name"] == text && api.reread(&made) == made, "{made}");
    }
}

fn media(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let people = api.collection("people");
    let post = |media: &str, body: &str| {
        api.send(Method::POST, &people, &[("content-type", media)], Some(body.to_owned().into()))
    };
    for good in [
        "application/json",
        "application/hal+json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/vnd.x+json",
    ] {
        row!(ledger, "UND-27", post(good, "{}").status == 201, "{good}");
    }
    for bad in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml"]
    {
        let reply = post(bad, "{}");
        row!(ledger, "UND-27", reply.status == 415 && reply.says("MEDIA_TYPE_NOT_SUPPORTED"), "{reply}");
    }
    let coded = api.send(
        Method::POST,
        &people,
        &[("content-type", "application/json"), ("content-encoding", "gzip")],
        Some("{}".into()),
    );
    row!(ledger, "UND-27", coded.status == 415, "{coded}");
    let large = format!("{{\"given_name\":\"{}\"}}", "x".repeat(1_100_000));
    let reply = api.post_text(&people, &large);
    row!(ledger, "UND-17", reply.status == 413 && reply.says("BODY_TOO_LARGE"), "status {}", reply.status);
    let none = api.send(Method::POST, &format!("{people}?given_name=Ada"), &[], None);
    let text = none.problems().iter().map(|problem| problem.description.clone()).collect::<String>();
    row!(ledger, "UND-27", none.says("BODY_MISSING") && text.contains("JSON") && text.contains("query"), "{none}");
}

fn page_parameters(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    let people = api.collection("people");
    for bad in [
        "page=0",
        "page=-1",
        "page=x",
        "page=",
        "page=1.5",
        "per_page=0",
        "per_page=x",
        "page=1&page=2",
        "per_page=1&per_page=2",
    ] {
        let reply = api.get(&format!("{people}?{bad}"));
        row!(ledger, "UND-19", reply.status == 400 && reply.says("PAGE_INVALID"), "{bad}: {reply}");
    }
    for fine in
        ["page=2", "page=99999999999999999999999", "unknown=1&unknown=2", "after=damaged", "background_request=true"]
    {
        let reply = api.get(&format!("{people}?{fine}"));
        row!(ledger, "UND-14", reply.status == 200, "{fine}: {reply}");
        row!(ledger, "UND-14", !reply.text().contains("background_request"), "{reply}");
    }
}

fn names_in_use(f: &Fixture) {
    let (api, ledger) = (&f.api, &f.ledger);
    for (id, many) in [("UND-02", "tags"), ("UND-03", "lists")] {
        let name = unique("name");
        let first = api.create(many, &json!({ "name": name }));
        let reply = api.post(&api.collection(many), &json!({ "name": name }));
        row!(ledger, id, reply.refuses("NAME_IN_USE", "name"), "{reply}");
        let second = api.create(many, &json!({ "name": unique("name") }));
        let put = api.put(&own(&second), &json!({ "name": name }));
        row!(ledger, id, put.refuses("NAME_IN_USE", "name"), "{put}");
        row!(ledger, id, api.put(&own(&first), &json!({ "name": name })).status == 200, "one's own name is free");
        row!(ledger, id, f.other.create(many, &json!({ "name": name }))["name"] == name.as_str(), "per tenant");
    }
}

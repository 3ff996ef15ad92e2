//! The documents contain the constraints of a server, and the examples comply with them.
//!
//! Requirements: CAP-04 to CAP-08.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use svc_core::{
    api::ResourceConfig,
    field, fields,
    helper::{PersonSignup, RecordAttendance},
    model::{Attendance, Event, Person, attendance, event, person},
    writable,
};
use svc_docs::documents::{DocPages, json_schema, openapi};

use crate::documents::support::{
    server::{Server, builder},
    typed_backend::Memory,
};
use crate::documents::{faults, validator, validator_of};

fn server() -> Server {
    let store = Arc::new(Memory::default());
    let people = |x: ResourceConfig<Person, Memory>| {
        x.list()
            .get()
            .create()
            .update()
            .find()
            .readable_fields(fields!(person::{given_name, family_name, languages_spoken, email_addresses::{address, primary}}))
            .writable_fields(
                writable!(person::{given_name, family_name, languages_spoken, email_addresses::{address, primary}}),
            )
            .required_fields(writable!(person::{family_name, email_addresses::{address}}))
            .max_length(person::key::family_name, 3)
            .max_length(person::key::languages_spoken, 5)
            .max_length(field!(person::email_addresses::address), 200)
            .max_items(person::key::email_addresses, 2)
            .max_items(person::key::languages_spoken, 1)
            .without_link(person::link::modified_by)
    };
    let events = |x: ResourceConfig<Event, Memory>| {
        x.list()
            .get()
            .create()
            .update()
            .required_fields(writable!(event::{title, start_date}))
            .value_range(event::key::capacity, 0..=50)
            .default(event::key::capacity, 20)
            .value_range(field!(event::ticket_levels::amount), 0..=20)
            .without_link(event::link::creator)
            .without_link(event::link::organizer)
            .without_link(event::link::modified_by)
    };
    let attendances = |x: ResourceConfig<Attendance, Memory>| {
        x.list_under::<Event>()
            .get()
            .create()
            .update()
            .allowed_values(attendance::key::status, ["declined", "tentative"])
            .default(attendance::key::status, "tentative")
            .writable_fields(writable!(attendance::{status, comment}))
            .readable_fields(fields!(attendance::{status, comment}))
    };
    let api = builder()
        .resource::<Person, _>(&store, people)
        .resource::<Event, _>(&store, events)
        .resource::<Attendance, _>(&store, attendances)
        .compose_helper::<PersonSignup>()
        .compose_helper::<RecordAttendance>();
    Server {
        api: api.build().expect("an API"),
        store,
    }
}

/// The snapshot has every definition of the constrained kinds, so that a change of one is visible.
/// `INSTA_UPDATE=always` updates it.
#[test]
fn cap_05_the_schemas_say_what_is_narrower() {
    let server = server();
    let document = openapi(&server.api, server.api.base_url());
    let schemas = document["components"]["schemas"]
        .as_object()
        .expect("schemas");
    let is_shown = |name: &str| {
        name.starts_with("email_address")
            || [
                "person.create",
                "person.update",
                "event.create",
                "event.update",
                "attendance.create",
            ]
            .contains(&name)
            || [
                "attendance",
                "record_attendance_helper",
                "ticket_levels",
                "ticket_levels.create",
            ]
            .contains(&name)
    };
    let mut shown: BTreeMap<&str, Value> = schemas
        .iter()
        .filter(|(name, _)| is_shown(name))
        .map(|(name, schema)| (name.as_str(), schema.clone()))
        .collect();
    for (name, schema) in &mut shown {
        // Of an event, only the constrained fields.
        if let Some(properties) = schema["properties"]
            .as_object_mut()
            .filter(|_| name.starts_with("event"))
        {
            properties.retain(|name, _| {
                ["title", "start_date", "capacity", "ticket_levels", "_links"]
                    .contains(&name.as_str())
            });
        }
    }
    let text = serde_json::to_string_pretty(&shown).expect("JSON");
    insta::with_settings!({ snapshot_path => "../../golden", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("narrowed_schemas", text);
    });
}

/// UND-40: if a server does not store `svc:creator`, no body and no response of it contains the
/// link.
#[test]
fn und_40_a_link_that_is_not_kept_is_in_no_document() {
    let server = server();
    for document in ["event", "person", "record_attendance_helper"] {
        let text = json_schema(&server.api, server.api.base_url(), document)
            .expect("a document")
            .to_string();
        assert!(
            !text.contains("svc:creator") && !text.contains("svc:organizer"),
            "UND-40 {document}: {text}"
        );
    }
    let text = openapi(&server.api, server.api.base_url()).to_string();
    assert!(
        !text.contains("svc:creator") && !text.contains("svc:modified_by"),
        "UND-40"
    );
}

/// ERR-39: the server rejects what a schema rejects, and accepts what it accepts.
#[test]
fn err_39_schema_and_server_agree_on_what_is_narrower() {
    let server = server();
    let event = |more: Value| {
        let mut body = json!({"title": "t", "start_date": "2026-01-05T09:00:00Z"});
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        ("events", "event", body)
    };
    let person = |body: Value| ("people", "person", body);
    let good = [
        event(json!({})),
        event(
            json!({"capacity": 50, "ticket_levels": [{"title": "a", "amount": 20}], "type": "ticketed"}),
        ),
        event(json!({"capacity": null})),
        person(
            json!({"family_name": "äöü", "email_addresses": [{"address": "a@x.org", "status": 7}]}),
        ),
        person(json!({"family_name": "a", "email_addresses": null, "languages_spoken": ["en-GB"]})),
    ];
    let bad = [
        event(json!({"title": null})),
        event(json!({"capacity": 51})),
        event(json!({"capacity": -1})),
        event(json!({"ticket_levels": [{"title": "a", "amount": 20.01}], "type": "ticketed"})),
        person(json!({"given_name": "a"})),
        person(json!({"family_name": "äöüä"})),
        person(json!({"family_name": "a", "email_addresses": [{"primary": true}]})),
        person(json!({"family_name": "a", "languages_spoken": ["en", "en-GB-oed"]})),
    ];
    for (is_good, (to, name, body)) in good
        .map(|it| (true, it))
        .into_iter()
        .chain(bad.map(|it| (false, it)))
    {
        let valid = faults(&validator_of(&server.api, name, ".create"), &body);
        assert_eq!(valid.is_empty(), is_good, "{body}: {valid:?}");
        let answer = server.post(to, &body.to_string());
        assert_eq!(
            answer.status,
            if is_good { 201 } else { 400 },
            "{body}: {}",
            answer.text
        );
        if is_good {
            let read = faults(&validator_of(&server.api, name, ""), &answer.json);
            assert_eq!(read, [""; 0], "{}", answer.text);
        }
    }
}

/// UND-40: the server accepts the requests that the pages show, and treats fields as the pages
/// describe.
#[test]
fn und_40_pages_and_examples_keep_to_what_is_narrower() {
    let server = server();
    let docs = DocPages::new(&server.api, server.api.base_url(), 0);
    let creates = docs
        .page("people")
        .expect("a page")
        .requests
        .into_iter()
        .chain(docs.page("events").expect("one").requests);
    let mut count = 0;
    for request in creates.filter(|request| request.method == "POST") {
        count += 1;
        let body: Value =
            serde_json::from_slice(&request.body.as_ref().expect("a body").to_vec()).expect("JSON");
        assert_eq!(
            server.post(&request.address, &body.to_string()).status,
            201,
            "{body}"
        );
    }
    assert_eq!(count, 2);
    let event = docs.page("event").expect("a page");
    let capacity = event
        .fields
        .iter()
        .find(|field| field.name == "capacity")
        .expect("a field");
    assert_eq!(capacity.default.as_deref(), Some("20"), "CAP-08");
    assert!(
        capacity.text.ends_with("; from 0 to 50"),
        "{}",
        capacity.text
    );
    assert!(
        event
            .fields
            .iter()
            .any(|field| field.name == "title" && field.required),
        "CAP-05"
    );
    let attendance = docs.page("attendance").expect("a page");
    let status = attendance
        .fields
        .iter()
        .find(|field| field.name == "status")
        .expect("a field");
    assert_eq!(status.values, ["declined", "tentative"], "TYP-08");
    let person = docs.page("person").expect("a page");
    let addresses = person
        .fields
        .iter()
        .find(|field| field.name == "email_addresses")
        .expect("a field");
    let said =
        "; supported members: `primary`, `address`; `address` required, at most 200 characters";
    assert!(addresses.text.ends_with(said), "{}", addresses.text);
    let shown = person
        .requests
        .iter()
        .find_map(|request| request.answer.as_ref())
        .expect("an answer")
        .to_vec();
    let shown: Value = serde_json::from_slice(&shown).expect("JSON");
    assert_eq!(
        shown["email_addresses"][0]
            .as_object()
            .expect("an object")
            .len(),
        2,
        "CAP-04: {shown}"
    );
}

#[test]
fn und_40_the_schema_of_the_declaration_knows_ranges_and_lengths() {
    let server = server();
    let about = crate::documents::served(&server, "docs/capabilities").expect("a document");
    assert_eq!(
        about["collections"]["events"]["fields"]["capacity"]["maximum"],
        "50"
    );
    assert_eq!(
        about["collections"]["people"]["fields"]["email_addresses"]["max_items"],
        2
    );
    let schema =
        json_schema(&server.api, server.api.base_url(), "capabilities").expect("a document");
    assert_eq!(faults(&validator(&schema), &about), [""; 0]);
    let field = &schema["$defs"]["field"]["properties"];
    for name in ["minimum", "maximum", "max_length", "max_items"] {
        assert!(field.get(name).is_some(), "{name}");
    }
}

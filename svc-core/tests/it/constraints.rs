//! Constraints of a vendor's tables: they are registered, enforced, documented and declared.
//!
//! Requirements: CAP-04 to CAP-08.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};
use svc_core::{
    ApiBuilder,
    api::{Behaviour, ResourceConfig, capabilities},
    auth::{Caller, Rights},
    field, fields,
    helper::{PersonSignup, RecordAttendance},
    model::{Attendance, Event, Kind, Person, Petition, attendance, event, person, petition},
    schema::Constraints,
    value::Amount,
    writable,
};

use crate::support::{
    server::{Answered, Server, builder},
    typed_backend::Memory,
};

fn people(x: ResourceConfig<Person, Memory>) -> ResourceConfig<Person, Memory> {
    x.list()
        .get()
        .create()
        .update()
        .find()
        .required_fields(writable!(person::{family_name, email_addresses::{address}}))
        .readable_fields(
            fields!(person::{given_name, family_name, source, languages_spoken, email_addresses::{address, primary}}),
        )
        .writable_fields(
            writable!(person::{given_name, family_name, source, languages_spoken, email_addresses::{address, primary}}),
        )
        .default(person::key::source, "web")
        .max_length(person::key::languages_spoken, 5)
        .max_length(field!(person::email_addresses::address), 20)
}

fn attendances(x: ResourceConfig<Attendance, Memory>) -> ResourceConfig<Attendance, Memory> {
    x.list_under::<Event>()
        .get()
        .create()
        .update()
        .allowed_values(
            attendance::key::status,
            ["accepted", "declined", "tentative"],
        )
        .default(
            attendance::key::status,
            attendance::AttendanceStatus::Accepted,
        )
}

fn events(x: ResourceConfig<Event, Memory>) -> ResourceConfig<Event, Memory> {
    x.list()
        .get()
        .create()
        .update()
        .required_fields(writable!(event::{title, start_date}))
        .value_range(event::key::capacity, 0..=2_147_483_647)
        .max_length(event::key::title, 8)
        .max_items(event::key::ticket_levels, 2)
        .value_range(field!(event::ticket_levels::amount), 1..=100)
        .without_link(event::link::creator)
}

fn narrow(store: &Arc<Memory>) -> ApiBuilder {
    builder()
        .resource::<Person, _>(store, people)
        .resource::<Event, _>(store, events)
        .resource::<Attendance, _>(store, attendances)
        .compose_helper::<PersonSignup>()
        .compose_helper::<RecordAttendance>()
}

fn server() -> Server {
    let store = Arc::new(Memory::default());
    Server {
        api: narrow(&store).build().unwrap(),
        store,
    }
}

fn texts(answer: &Answered) -> Vec<String> {
    let all = answer.json["svc:error"]["resource_status"][0]["error_descriptions"]
        .as_array()
        .cloned();
    let one = |it: &Value| {
        format!(
            "{} [{}]",
            it["description"].as_str().unwrap(),
            it["hint"].as_str().unwrap_or("-")
        )
    };
    all.unwrap_or_default().iter().map(one).collect()
}

fn at(server: &Server, kind: &str) -> Value {
    let document = capabilities(&server.api, server.api.base_url());
    serde_json::to_value(&document.collections[kind].fields).unwrap()
}

#[test]
fn cap_05_required_fields_are_asked_for_on_create_and_kept_on_update() {
    let server = server();
    let answer = server.post("events", r#"{"title": null, "capacity": 3}"#);
    assert_eq!(
        answer.problems(),
        ["FIELD_REQUIRED title", "FIELD_REQUIRED start_date"],
        "CAP-05, ERR-39"
    );
    let event = server.made(
        "events",
        r#"{"title": "A", "start_date": "2026-03-01T10:00:00Z"}"#,
    );
    let answer = server.put(
        &event,
        r#"{"title": null, "start_date": null, "capacity": 4}"#,
    );
    assert_eq!(
        answer.problems(),
        ["FIELD_REQUIRED title", "FIELD_REQUIRED start_date"],
        "CAP-05, CRU-17"
    );
    assert_eq!(
        server.put(&event, r#"{"capacity": 4}"#).status,
        200,
        "CRU-15: an omitted field does not change"
    );

    // Each e-mail address object needs an address, but none has to be sent.
    let answer = server.post(
        "people",
        r#"{"family_name": "B", "email_addresses": [{"primary": true}]}"#,
    );
    assert_eq!(
        answer.problems(),
        ["FIELD_REQUIRED email_addresses[0].address"],
        "CAP-05"
    );
    server.made("people", r#"{"family_name": "B"}"#);

    let answer = server.post(
        "people/person_signup",
        r#"{"person": {"given_name": "Ada"}}"#,
    );
    assert_eq!(
        answer.problems(),
        ["FIELD_REQUIRED person.family_name"],
        "HLP-20"
    );
    let helper = format!("{event}/record_attendance_helper");
    let answer = server.post(
        &helper,
        r#"{"status": "needs action", "person": {"given_name": "Ada"}}"#,
    );
    let expected = ["FIELD_REQUIRED person.family_name", "FIELD_INVALID status"];
    assert_eq!(
        answer.problems(),
        expected,
        "HLP-02, ERR-39: problems of the inline person and of the action"
    );
}

#[test]
fn typ_08_fewer_values_and_their_default() {
    let server = server();
    let event = server.made(
        "events",
        r#"{"title": "A", "start_date": "2026-03-01T10:00:00Z"}"#,
    );
    let person = server.made("people", r#"{"family_name": "B"}"#);
    let body = |status: Value| {
        json!({"status": status, "_links": {"svc:person": {"href": person}}}).to_string()
    };
    let attendances = format!("{event}/attendances");
    for wrong in [json!("needs action"), json!("maybe"), json!(7)] {
        let answer = server.post(&attendances, &body(wrong));
        assert_eq!(answer.problems(), ["FIELD_INVALID status"], "TYP-08");
        assert!(
            texts(&answer)[0].ends_with("[accepted, declined, tentative]"),
            "ERR-27: {:?}",
            texts(&answer)
        );
    }
    let made = server.post(&attendances, &body(Value::Null));
    assert_eq!(made.json["status"], "accepted", "CAP-08, CRU-16");
    let own = made.link("self").unwrap();
    assert_eq!(
        server.put(own, r#"{"status": "declined"}"#).json["status"],
        "declined"
    );
    assert_eq!(
        server.put(own, r#"{"comment": "c"}"#).json["status"],
        "declined",
        "CRU-15"
    );
    assert_eq!(
        server.put(own, r#"{"status": null}"#).json["status"],
        "accepted",
        "CRU-17: a cleared field gets its default"
    );
}

/// HLP-04: a default does not replace a known value if the field is not sent.
#[test]
fn hlp_04_a_default_replaces_nothing_that_is_known() {
    let server = server();
    let person = r#"{"person": {"family_name": "L", "email_addresses": [{"address": "a@x.org"}]}}"#;
    let ada = server.post("people/person_signup", person);
    assert_eq!(ada.json["source"], "web", "CAP-08");
    let own = ada.link("self").unwrap();
    assert_eq!(
        server.put(own, r#"{"source": "fair"}"#).json["source"],
        "fair"
    );
    let again = server.post("people/person_signup", person);
    assert_eq!(
        (again.link("self"), &again.json["source"]),
        (Some(own), &json!("fair")),
        "HLP-04"
    );
}

#[test]
fn err_39_ranges_and_lengths_are_told_together() {
    let server = server();
    let body = json!({
        "title": "äöüäöüäöü", "start_date": "2026-03-01T10:00:00Z", "capacity": 2_147_483_648_i64, "type": "ticketed",
        "ticket_levels": [{"title": "a", "amount": 0.5}, {"title": "b", "amount": 100}],
    });
    let answer = server.post("events", &body.to_string());
    let expected = [
        "FIELD_INVALID title",
        "FIELD_INVALID capacity",
        "FIELD_INVALID ticket_levels[0].amount",
    ];
    let mut problems = answer.problems();
    problems.sort_by_key(|problem| expected.iter().position(|known| known == problem));
    assert_eq!(problems, expected, "ERR-39");
    let told = texts(&answer);
    for text in [
        "`title` must have at most 8 characters. [^.{0,8}$]",
        "`capacity` must be between 0 and 2147483647. [0..2147483647]",
        "`ticket_levels[0].amount` must be between 1 and 100. [1..100]",
    ] {
        assert!(
            told.iter().any(|told| told == text),
            "ERR-25, ERR-27: {text}: {told:?}"
        );
    }
    let fits = json!({"title": "äöüäöüäö", "start_date": "2026-03-01T10:00:00Z", "capacity": 2_147_483_647});
    assert_eq!(
        server.post("events", &fits.to_string()).status,
        201,
        "characters, not bytes"
    );
    let body = r#"{"family_name": "B", "languages_spoken": ["en", "en-GB-oed"], "email_addresses": [{"address": "a-very-long-name@example.org"}]}"#;
    let problems = server.post("people", body).problems();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems.contains(&"FIELD_INVALID languages_spoken[1]".to_owned()),
        "{problems:?}"
    );
    assert!(
        problems.contains(&"FIELD_INVALID email_addresses[0].address".to_owned()),
        "{problems:?}"
    );
}

#[test]
fn cap_04_members_that_a_server_has_not_are_unknown_to_it() {
    let server = server();
    let body = r#"{"family_name": "B", "email_addresses": [{"address": "a@x.org", "status": 7, "address_type": "work"}]}"#;
    let made = server.post("people", body);
    assert_eq!(
        made.json["email_addresses"],
        json!([{"address": "a@x.org"}]),
        "TYP-11"
    );
    let told: Vec<&Value> = made.json["ext:warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["error_code"])
        .collect();
    assert_eq!(told, ["PROPERTY_UNKNOWN", "PROPERTY_UNKNOWN"], "UND-22");
    let strict = HeaderMap::from_iter([(
        HeaderName::from_static("prefer"),
        HeaderValue::from_static("handling=strict"),
    )]);
    let refused = server.send_with(
        &strict,
        Caller::with_rights(Rights::all()),
        &Method::POST,
        "people",
        body,
    );
    assert_eq!(
        (refused.status, refused.problems().len()),
        (400, 2),
        "RFC 7240"
    );
    assert_eq!(
        at(&server, "people")
            .as_object()
            .unwrap()
            .keys()
            .collect::<Vec<_>>(),
        [
            "email_addresses",
            "family_name",
            "given_name",
            "languages_spoken",
            "source"
        ]
    );
    let inner = at(&server, "people")["email_addresses"]["fields"].clone();
    assert_eq!(
        inner.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["address", "primary"],
        "CAP-04"
    );
}

/// CAP-04: a member that the server does not have is never sent, whatever the store returns.
#[test]
fn cap_04_a_store_that_returns_more_is_held_back() {
    let full = Server::with(|api| api);
    let body = r#"{"family_name": "B", "source": "s", "email_addresses": [{"address": "a@x.org", "status": "bouncing", "primary": true}]}"#;
    let own = full.made("people", body);
    let api = narrow(&full.store).build().unwrap();
    let server = Server {
        api,
        store: full.store,
    };
    let shown = server.get(&own);
    assert_eq!(
        shown.json["email_addresses"],
        json!([{"primary": true, "address": "a@x.org"}])
    );
    let listed = server.get("people");
    assert_eq!(
        listed.json["_embedded"]["svc:people"][0]["email_addresses"],
        shown.json["email_addresses"]
    );
}

#[test]
fn cap_04_a_link_that_is_not_kept_is_unknown() {
    let server = server();
    let body = r#"{"title": "A", "start_date": "2026-03-01T10:00:00Z", "_links": {"svc:creator": {"href": "https://nobody.example.org/"}}}"#;
    let made = server.post("events", body);
    assert_eq!(
        (made.status, &made.json["ext:warnings"][0]["error_code"]),
        (201, &json!("PROPERTY_UNKNOWN")),
        "UND-22"
    );
    assert!(made.link("svc:creator").is_none());
}

#[test]
fn cap_05_the_capability_document_says_all_of_it() {
    let server = server();
    let events = at(&server, "events");
    let required = |name: &str| events[name]["required"].clone();
    assert_eq!(
        [
            required("title"),
            required("start_date"),
            required("summary")
        ],
        [true, true, false],
        "CAP-05"
    );
    assert_eq!(
        (
            &events["title"]["max_length"],
            &events["summary"]["max_length"]
        ),
        (&json!(8), &Value::Null)
    );
    assert_eq!(events["ticket_levels"]["max_items"], 2, "CAP-04");
    let range = |field: &Value| (field["minimum"].clone(), field["maximum"].clone());
    assert_eq!(
        range(&events["capacity"]),
        (json!("0"), json!("2147483647"))
    );
    assert_eq!(
        range(&events["ticket_levels"]["fields"]["amount"]),
        (json!("1"), json!("100"))
    );
    let status = &at(&server, "attendances")["status"];
    assert_eq!(
        status["values"],
        json!(["accepted", "declined", "tentative"]),
        "TYP-08"
    );
    assert_eq!(status["default"], "accepted", "CAP-08");
}

/// CAP-04: constraints that a program finds out at start-up are declared and enforced like those
/// set at compile time.
#[test]
fn cap_04_a_program_hands_over_what_it_learns_when_it_starts() {
    let mut tables = Constraints::default();
    tables.entry(&["summary"]).required = true;
    tables.entry(&["title"]).max_length = Some(5);
    tables.entry(&["capacity"]).max = Some(Amount::from(1000));
    tables.entry(&["description"]).omit();
    tables.entry(&["location", "venue"]).omit();
    let store = Arc::new(Memory::default());
    let api = narrow(&store)
        .constraints(Kind::Event, tables)
        .build()
        .unwrap();
    let server = Server { api, store };
    let body = json!({
        "title": "123456", "capacity": 1001, "start_date": "2026-03-01T10:00:00Z", "description": "d",
        "location": {"venue": "v", "locality": "l"},
    });
    let mut problems = server.post("events", &body.to_string()).problems();
    problems.sort();
    assert_eq!(
        problems,
        [
            "FIELD_INVALID capacity",
            "FIELD_INVALID title",
            "FIELD_REQUIRED summary"
        ]
    );
    let events = at(&server, "events");
    assert_eq!(
        (
            &events["description"],
            &events["location"]["fields"]["venue"]
        ),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        (
            &events["capacity"]["minimum"],
            &events["capacity"]["maximum"]
        ),
        (&json!("0"), &json!("1000"))
    );
    let mut body = body;
    (body["title"], body["capacity"], body["summary"]) = (json!("12345"), json!(7), json!("s"));
    let made = server.post("events", &body.to_string());
    assert_eq!(
        (made.status, &made.json["location"]),
        (201, &json!({"locality": "l"})),
        "TYP-11"
    );
    assert_eq!(
        (&made.json["description"], &made.json["title"]),
        (&Value::Null, &json!("12345"))
    );
}

#[test]
fn cap_04_every_contradiction_is_told_at_once() {
    let store = Arc::new(Memory::default());
    let mut tables = Constraints::default();
    tables.entry(&["nmae"]).required = true;
    tables.entry(&["title", "text"]).required = true;
    tables
        .entry(&["share_options", "network_a_share", "titel"])
        .omit();
    tables.entry(&["total_signatures"]).min = Some(Amount::from(5));
    tables.entry(&["total_signatures"]).max = Some(Amount::from(4));
    let mut tags = Constraints::default();
    tags.entry(&["name"]).required = true;
    let api = builder()
        .resource::<Petition, _>(&store, |x| {
            x.get()
                .create()
                .writable_fields(writable!(petition::{title, summary}))
                .required_fields(writable!(petition::{name}))
                .default(petition::key::title, "t")
                .required_fields(writable!(petition::{title}))
                .value_range(petition::key::summary, 1..=2)
                .allowed_values(petition::key::summary, ["a"])
                .max_length(petition::key::total_signatures, 3)
                .default(petition::key::description, "d")
        })
        .resource::<Attendance, _>(&store, |x| {
            x.get()
                .allowed_values(attendance::key::status, ["accepted", "maybe"])
                .default(attendance::key::status, "declined")
                .max_length(attendance::key::comment, 0)
                .max_length(attendance::key::attended, 4)
                .max_items(attendance::key::comment, 2)
                .max_items(attendance::key::tickets, 0)
        })
        .resource::<Event, _>(&store, |x| {
            x.get()
                .default(event::key::capacity, "11")
                .value_range(event::key::capacity, 0..=10)
                .default(event::key::location, "x")
        })
        .constraints(Kind::Petition, tables)
        .constraints(Kind::Tag, tags);
    let problems = api
        .build()
        .expect_err("contradictions")
        .problems()
        .join("\n");
    insta::with_settings!({ snapshot_path => "../golden", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("contradictions", problems);
    });
}

/// CAP-04: a list with more entries than declared is rejected together with other problems.
#[test]
fn cap_04_a_list_has_at_most_as_many_entries() {
    let server = server();
    let level = |title: &str, amount: i64| json!({"title": title, "amount": amount});
    let body = json!({
        "title": "a", "start_date": "2026-03-01T10:00:00Z", "type": "ticketed",
        "ticket_levels": [level("a", 5), level("b", 0), level("c", 5)],
    });
    let answer = server.post("events", &body.to_string());
    let told = texts(&answer);
    assert_eq!(
        told,
        [
            "`ticket_levels[1].amount` must be between 1 and 100. [1..100]",
            "`ticket_levels` has 3 entries, but can have at most 2. [-]",
        ]
    );
}

/// CAP-04: naming all members declares no constraint, and the records are not parsed.
#[test]
fn cap_04_a_set_of_all_members_narrows_nothing() {
    let store = Arc::new(Memory::default());
    let all = |x: ResourceConfig<Person, Memory>| {
        x.get().writable_fields(
            writable!(person::{email_addresses::{primary, address, address_type, status}}),
        )
    };
    let api = builder()
        .resource::<Person, _>(&store, all)
        .build()
        .unwrap();
    let server = Server { api, store };
    let fields = at(&server, "people");
    assert_eq!(
        fields["email_addresses"]["fields"]
            .as_object()
            .unwrap()
            .len(),
        4
    );
    assert_eq!(fields["given_name"]["writable"], false);
}

/// HLP-04: the suite expects one action for each person from servers that declare it.
#[test]
fn hlp_04_one_action_of_a_person_is_declared() {
    let store = Arc::new(Memory::default());
    let api = narrow(&store)
        .behaviour(Behaviour::OneActionPerPerson)
        .build()
        .unwrap();
    assert!(api.behaviours().contains(&"one_action_per_person"));
}

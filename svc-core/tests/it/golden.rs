//! Whole documents as files in `tests/golden`, so that every change is visible.
//! `INSTA_UPDATE=always` rewrites them.

use std::sync::Arc;

use svc_core::{
    api::{Behaviour, ResponseStyle},
    auth::Caller,
    fields,
    helper::RecordSignature,
    model::{Person, Petition, Signature},
    read::{Json, JsonLimits},
    writable,
};

use crate::support::{
    server::{Answered, Server, builder},
    typed_backend::Memory,
};

/// Formats a document with one member per line, in the order in which it is sent.
fn pretty(json: &Json, indent: usize, out: &mut String) {
    let line = |out: &mut String, indent: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(indent));
    };
    match json {
        Json::Object(object) if !object.is_empty() => {
            out.push('{');
            for (place, (name, value)) in object.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { "," });
                line(out, indent + 1);
                out.push_str(&Json::from(name).to_string());
                out.push_str(": ");
                pretty(value, indent + 1, out);
            }
            line(out, indent);
            out.push('}');
        }
        Json::Array(items) if items.iter().any(|item| item.as_object().is_some()) => {
            out.push('[');
            for (place, item) in items.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { "," });
                line(out, indent + 1);
                pretty(item, indent + 1, out);
            }
            line(out, indent);
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

fn golden(name: &str, answer: &Answered) {
    let mut text = format!("{}\n", answer.status);
    pretty(
        &Json::read(answer.text.as_bytes(), &JsonLimits::default()).expect("JSON"),
        0,
        &mut text,
    );
    insta::with_settings!({ snapshot_path => "../golden", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

const PERSON: &str = r#"{
    "identifiers": ["other_system:77"],
    "given_name": "Zoë \"Z\"", "family_name": "Example", "gender_identity": "Female", "languages_spoken": ["de", "en", "de"],
    "party_identification": "Independent", "birthdate": {"year": 1990, "month": 2, "day": 28},
    "postal_addresses": [{"primary": true, "address_lines": ["1 Main St"], "country": "DE",
        "location": {"latitude": 52.52, "longitude": 13.405, "accuracy": "Rooftop"}}],
    "email_addresses": [{"primary": true, "address": "zoe@example.org", "status": "subscribed"}],
    "phone_numbers": [{"number": "+1 (555) 010-0100", "primary": "true", "sms_capable": true}],
    "profiles": [{"provider": "birdsite", "handle": "@zoe"}],
    "custom_fields": {"shoe size": "38"}
}"#;

/// Returns a server with some records of each sort.
fn server(style: ResponseStyle) -> Server {
    Server::with(|api| api.response_style(style))
}

const PARTLY_FAILING: &str =
    r#"{"comments": "yes", "person": {"given_name": "Zoë"}, "add_tags": ["a", "none"]}"#;

fn partly_failed(server: &Server) -> Answered {
    server.made("tags", r#"{"name": "a"}"#);
    let petition = server.made("petitions", "{}");
    server.post(
        &format!("{petition}/record_signature_helper"),
        PARTLY_FAILING,
    )
}

#[test]
fn ent_01_the_entry_point() {
    golden("entry_point", &server(ResponseStyle::Table).get(""));
}

#[test]
fn hal_17_a_person() {
    golden(
        "person",
        &server(ResponseStyle::Table).post("people", PERSON),
    );
}

#[test]
fn col_20_a_page_of_a_collection() {
    let server = server(ResponseStyle::Table);
    for title in ["First", "Second", "Third", "Fourth", "Fifth"] {
        server.made("petitions", &format!(r#"{{"title":"{title}"}}"#));
    }
    golden("page", &server.get("petitions?per_page=2&page=2"));
    golden("empty_page", &server.get("events"));
}

#[test]
fn err_18_an_atomic_error() {
    let body = r#"{"gender": "f", "birthdate": {"month": 13}, "email_addresses": [{"address": "x"}], "identifiers": ["x"]}"#;
    golden(
        "atomic_error",
        &server(ResponseStyle::Table).post("people", body),
    );
}

#[test]
fn err_30_a_non_atomic_report_in_both_styles_and_to_a_stranger() {
    golden(
        "non_atomic_report_table",
        &partly_failed(&server(ResponseStyle::Table)),
    );
    golden(
        "non_atomic_report_examples",
        &partly_failed(&server(ResponseStyle::Examples)),
    );
    let server = server(ResponseStyle::Table);
    let petition = server.made("petitions", "{}");
    let answer = server.send_as(
        Caller::anonymous(),
        &http::Method::POST,
        &format!("{petition}/record_signature_helper"),
        PARTLY_FAILING,
    );
    golden("non_atomic_report_stranger", &answer);
}

#[test]
fn und_40_the_capability_document() {
    let store = Arc::new(Memory::default());
    let api = builder()
        .resource::<Petition, _>(&store, |x| x.list().get())
        .resource::<Person, _>(&store, |x| {
            x.get()
                .create()
                .update()
                .find()
                .readable_fields(fields!(person::{ given_name, birthdate, gender }))
        })
        .resource::<Signature, _>(&store, |x| {
            x.list_under::<Petition>()
                .get()
                .create()
                .writable_fields(writable!(signature::{ comments, action_date }))
        })
        .compose_helper::<RecordSignature>()
        .behaviour(Behaviour::CapacityEnforced)
        .build()
        .unwrap();
    let mut document = Server { api, store }.get("docs/capabilities");
    // The long list of a person's fields is already in another snapshot.
    let fields = document.json["collections"]["people"]["fields"]
        .as_object_mut()
        .unwrap();
    fields
        .retain(|name, _| ["given_name", "birthdate", "gender", "source"].contains(&name.as_str()));
    document.text = document.json.to_string();
    golden("capabilities", &document);
}

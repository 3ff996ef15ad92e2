//! `compare`: which data two servers can exchange, and which is lost.
//!
//! Requirements: CAP-04, CAP-05, CAP-06, TYP-08.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use http::{Request, Response};
use serde_json::Value;

use crate::support::{Server, ended, program, run};

const CRM: &str = r#"
declaration_version = 1
action_functions = ["add_tags"]
[collections.people]
singular = "person"
operations = ["list", "read", "create", "update"]
[collections.people.fields]
given_name = { type = "string" }
party_identification = { type = "string" }
gender = { type = "enum", values = ["Female", "Male", "Other"] }
birthdate = { type = "object", fields = { month = { type = "integer" }, day = { type = "integer" } } }
custom_fields = { type = "object" }
[collections.petitions]
singular = "petition"
operations = ["list", "read", "create"]
[collections.petitions.fields]
title = { type = "string" }
total_signatures = { type = "integer", computed = true, writable = false }
[helpers.person_signup]
relation = "svc:person_signup_helper"
"#;

const MAILER: &str = r#"{
  "declaration_version": 1,
  "collections": {
    "people": {
      "singular": "person", "operations": ["list", "read"],
      "fields": {
        "given_name": {"type": "string"},
        "family_name": {"type": "string", "required": true},
        "gender": {"type": "enum", "values": ["Female", "Male"]},
        "party_identification": {"type": "flexenum", "writable": false},
        "birthdate": {"type": "object", "fields": {"month": {"type": "integer"}, "year": {"type": "integer"}}}
      }
    },
    "petitions": {
      "singular": "petition", "operations": ["list", "read", "create", "delete"],
      "fields": {
        "title": {"type": "integer"},
        "total_signatures": {"type": "integer", "computed": true, "writable": false}
      }
    }
  },
  "helpers": {"record_signature": {"relation": "svc:record_signature_helper"}},
  "action_functions": ["add_tags", "add_lists"]
}"#;

fn compared(folder: &Path, arguments: &[&str]) -> (i32, String) {
    ended(
        &program(folder)
            .arg("compare")
            .args(arguments)
            .output()
            .expect("the program"),
    )
}

#[test]
fn two_servers_are_held_side_by_side() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("crm.toml"), CRM).expect("written");
    fs::write(folder.path().join("mailer.json"), MAILER).expect("written");
    let said = |arguments: &[&str]| {
        let (code, said) = compared(
            folder.path(),
            &[&["crm.toml", "mailer.json"], arguments].concat(),
        );
        assert_eq!(code, 0, "{said}");
        said
    };
    insta::assert_snapshot!("text", said(&[]));
    insta::assert_snapshot!("markdown", said(&["--format", "markdown"]));
    let json: Value = serde_json::from_str(&said(&["--format", "json"])).expect("JSON");
    insta::assert_json_snapshot!("json", json);
    let (code, said) = compared(folder.path(), &["crm.toml", "missing.json"]);
    assert!(code == 2 && said.contains("missing.json"), "{said}");
    fs::write(folder.path().join("other.json"), "{}").expect("written");
    let (code, said) = compared(folder.path(), &["crm.toml", "other.json"]);
    assert!(
        code == 2 && said.contains("other.json is neither a capability document nor a report"),
        "{said}"
    );
}

/// Removes the status from every e-mail address in responses.
fn forgets(_: &Request<Bytes>, response: Response<Bytes>) -> Response<Bytes> {
    let (parts, body) = response.into_parts();
    let Ok(mut document) = serde_json::from_slice::<Value>(&body) else {
        return Response::from_parts(parts, body);
    };
    let list = document
        .get_mut("email_addresses")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten();
    list.filter_map(Value::as_object_mut)
        .for_each(|address| drop(address.remove("status")));
    Response::from_parts(parts, Bytes::from(document.to_string()))
}

/// A report contains more than a declaration: a field that was not stored is lost.
#[test]
fn what_a_report_saw_not_to_be_stored_is_lost() {
    let (good, forgetful, folder) = (
        Server::good(),
        Server::start(forgets),
        tempfile::tempdir().expect("a folder"),
    );
    let (code, said) = run(
        folder.path(),
        &forgetful.base,
        &["--only", "typ/person", "--report", "json=forgetful.json"],
    );
    assert_eq!(code, 1, "{said}");
    let (code, said) = run(
        folder.path(),
        &good.base,
        &["--only", "ENT-09", "--report", "json=good.json"],
    );
    assert_eq!(code, 0, "{said}");
    let (_, said) = compared(folder.path(), &["good.json", "forgetful.json"]);
    let line = said
        .lines()
        .find(|line| line.trim_start().starts_with("email_addresses[].status "))
        .expect("a line");
    assert!(
        line.contains("lost: declared, not stored") && line.trim_end().ends_with("whole"),
        "{line}"
    );
}

//! `svc-demo export`: prints the documents about the API, without a server.
//!
//! Requirements: CAP-04, UND-40.

use std::process::{Command, Output};

use serde_json::Value;

fn export(arguments: &[&str]) -> Output {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_svc-demo"));
    demo.args(arguments).output().expect("the program starts")
}

fn printed(arguments: &[&str]) -> Value {
    let output = export(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn und_40_each_document_is_printed_as_a_server_with_these_options_has_it() {
    let document = printed(&[
        "--without-capability",
        "people.delete",
        "--prefix",
        "abc",
        "export",
        "openapi",
    ]);
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(
        document["servers"][0]["url"],
        "http://127.0.0.1:8080/api/v1"
    );
    let person = &document["paths"]["/people/{person_id}"];
    assert!(person.get("delete").is_none() && person.get("put").is_some());
    assert_eq!(
        document["components"]["securitySchemes"]["key"]["name"],
        "ABC-API-Token"
    );
    let schema = printed(&[
        "--base-url",
        "https://crm.example.org/x/",
        "export",
        "schema",
        "person",
    ]);
    assert_eq!(
        schema["$id"],
        "https://crm.example.org/x/docs/schemas/person.json"
    );
    let about = printed(&["export", "capabilities"]);
    assert_eq!(
        about["schemas"]["person"],
        "http://127.0.0.1:8080/api/v1/docs/schemas/person.json"
    );
}

/// The tables of a cluster: every table is distributed by tenant or is on every node, and a store
/// that is opened later uses them.
#[test]
fn the_tables_of_a_cluster_are_printed() {
    let output = export(&["--schema", "crm", "export", "schema", "--citus"]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("text");
    let tables = text.matches("CREATE TABLE").count();
    let spread = [
        "create_distributed_table('crm.",
        "create_reference_table('crm.",
    ]
    .map(|way| text.matches(way).count());
    assert_eq!(
        (tables, spread.iter().sum::<usize>(), spread[1]),
        (23, 23, 5),
        "{text}"
    );
    assert!(
        text.contains("INSERT INTO crm.migration VALUES (1, 'tables', '") && !text.contains('{'),
        "{text}"
    );
    assert!(
        text.contains(
            "create_distributed_table('crm.record', 'tenant', colocate_with => 'crm.ledger')"
        ),
        "{text}"
    );
    let refused = export(&["--schema", "not a name", "export", "schema", "--citus"]);
    assert!(
        !refused.status.success()
            && String::from_utf8_lossy(&refused.stderr).contains("not a name")
    );
}

#[test]
fn nothing_is_left_among_the_temporary_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Command::new(env!("CARGO_BIN_EXE_svc-demo"))
        .args(["export", "capabilities"])
        .env("TMPDIR", folder.path())
        .output()
        .expect("the program starts");
    assert!(
        demo.status.success(),
        "{}",
        String::from_utf8_lossy(&demo.stderr)
    );
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        0
    );
}

#[test]
fn und_40_schemas_are_listed_and_others_are_refused() {
    let names = export(&["export", "schema"]);
    let names = String::from_utf8_lossy(&names.stdout).into_owned();
    assert!(
        names.lines().any(|name| name == "record_signature_helper") && names.lines().count() > 25,
        "{names}"
    );
    let refused = export(&["export", "schema", "nobody"]);
    assert!(
        !refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("petition")
    );
}

//! The effect of the options of `run`, and the conclusions of a report: the program against the
//! second service.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use serde_json::{Value, json};
use svc_conformance::Report;
use svc_self_test::independent_server::ServerOptions;

use crate::support::{Server, ended, folder, program, run};

fn as_it_is(_: &Request<Bytes>, response: Response<Bytes>) -> Response<Bytes> {
    response
}

fn plain_text(_: &Request<Bytes>, mut response: Response<Bytes>) -> Response<Bytes> {
    response
        .headers_mut()
        .insert("content-type", "text/plain".parse().expect("a value"));
    response
}

fn clean(folder: &Path) -> (i32, String) {
    let journals = fs::read_dir(folder.join("out"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let journals: Vec<PathBuf> = journals
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    assert_eq!(journals.len(), 1, "{journals:?}");
    ended(
        &program(folder)
            .args(["clean-up", "--key", "k-one"])
            .arg(&journals[0])
            .output()
            .expect("the program"),
    )
}

#[test]
fn what_is_excepted_is_not_judged() {
    let (server, folder) = (Server::start(plain_text), folder());
    let only = ["--only", "HAL-03", "--only", "ENT-09"];
    assert_eq!(run(folder.path(), &server.base, &only).0, 1);
    let (code, said) = run(
        folder.path(),
        &server.base,
        &[&only[..], &["--exclude", "HAL-03"]].concat(),
    );
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("RESULT conformant: ") && !said.contains("HAL-03"),
        "{said}"
    );
}

#[test]
fn kept_records_stay_until_they_are_cleaned() {
    let (server, folder) = (Server::good(), folder());
    let before = server.records();
    let (code, said) = run(
        folder.path(),
        &server.base,
        &["--only", "RES-share_page-01", "--no-clean-up"],
    );
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("clean-up was turned off") && said.contains("svc-conformance clean-up "),
        "{said}"
    );
    assert!(server.records() > before);
    let (code, said) = clean(folder.path());
    assert_eq!((code, server.records()), (0, before), "{said}");
}

/// Also tests the exit code of a run with an undecided requirement that applies.
#[test]
fn exit_code_3_where_the_budget_of_records_is_spent() {
    let (server, folder) = (Server::good(), folder());
    let before = server.records();
    let arguments = ["--only", "typ/*", "--max-records", "4", "--no-clean-up"];
    let (code, said) = run(folder.path(), &server.base, &arguments);
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("the budget of 4 records is used up") && said.contains("RESULT undecided"),
        "{said}"
    );
    assert_eq!(server.records(), before + 4, "{said}");
}

#[test]
fn prefix_and_key_header_of_the_command_line_go_before_those_of_the_declaration() {
    let folder = folder();
    let server = Server::with(as_it_is, |address| ServerOptions {
        base: format!("http://{address}/rest/"),
        prefix: "osdi".to_owned(),
        key_header: "OSDI-API-Token".to_owned(),
        ..ServerOptions::default()
    });
    let entry = server.get(&server.base);
    let mut declared = server.get(
        entry["_links"]["service-meta"]["href"]
            .as_str()
            .expect("a link"),
    );
    declared["dialect"]["prefix"] = json!("svc");
    declared["dialect"]["key_header"] = json!("SVC-API-Token");
    fs::write(folder.path().join("declared.json"), declared.to_string()).expect("written");
    let arguments = [
        "--declaration",
        "declared.json",
        "--only",
        "ENT-09",
        "--only",
        "RES-share_page-01",
    ];
    let (code, said) = run(folder.path(), &server.base, &arguments);
    assert_ne!(code, 0, "{said}");
    let named = ["--prefix", "osdi", "--key-header", "OSDI-API-Token"];
    let (code, said) = run(
        folder.path(),
        &server.base,
        &[&arguments[..], &named].concat(),
    );
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("declaration: read from a file"), "{said}");
}

#[test]
fn another_machine_is_only_read_until_writes_are_allowed() {
    let folder = folder();
    // This address is the local machine, but does not look local.
    let server = Server::with(as_it_is, |address| ServerOptions {
        base: format!("http://0.0.0.0:{}/rest/", address.port()),
        ..ServerOptions::default()
    });
    let before = server.records();
    let arguments = ["--only", "ENT-09", "--only", "typ/person", "--no-clean-up"];
    let (code, said) = run(folder.path(), &server.base, &arguments);
    assert_eq!((code, server.records()), (0, before), "{said}");
    let report = |arguments: &[&str]| {
        let (_, said) = run(
            folder.path(),
            &server.base,
            &[arguments, &["--report", "json=-"]].concat(),
        );
        serde_json::from_str::<Report>(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    };
    let read = report(&arguments[..4]);
    let end = |report: &Report| {
        report
            .checks
            .iter()
            .find(|check| check.id == "typ/person")
            .map(|check| check.end.clone())
    };
    assert_eq!(
        end(&read).as_deref(),
        Some("disabled: writes to this server are not allowed")
    );
    let written = report(&[&arguments[..4], &["--allow-writes"]].concat());
    assert_eq!(end(&written).as_deref(), Some("done"));
    assert!(
        written.clean_up.created > 0 && written.clean_up.left.is_empty(),
        "{written}"
    );
    assert_eq!(server.records(), before);
}

#[test]
fn earlier_reports_are_shown_on_the_page() {
    let (broken, good, folder) = (Server::start(plain_text), Server::good(), folder());
    let only = ["--only", "HAL-03", "--only", "ENT-09"];
    let (code, _) = run(
        folder.path(),
        &broken.base,
        &[&only[..], &["--report", "json=monday.json"]].concat(),
    );
    assert_eq!(code, 1);
    let page = [
        "--report",
        "html=page.html",
        "--previous-report",
        "monday.json",
    ];
    let (code, said) = run(folder.path(), &good.base, &[&only[..], &page].concat());
    assert_eq!(code, 0, "{said}");
    let page = fs::read_to_string(folder.path().join("page.html")).expect("a page");
    let earlier = page.split("Earlier reports").nth(1).expect("the trend");
    for (passed, failed) in [(1, 1), (2, 0)] {
        let cells = format!("<td class=\"pass\">{passed}</td><td class=\"fail\">{failed}</td>");
        assert!(earlier.contains(&cells), "{cells}: {page}");
    }
    let (code, said) = run(
        folder.path(),
        &good.base,
        &["--previous-report", "page.html"],
    );
    assert!(
        code == 2 && said.contains("page.html is not a JSON report"),
        "{said}"
    );
}

/// Side effects need their option on the local machine as well.
#[test]
fn nothing_is_scheduled_until_side_effects_are_allowed() {
    let (server, folder) = (Server::good(), folder());
    let arguments = ["--only", "sch/schedule-and-cancel"];
    let (code, said) = run(folder.path(), &server.base, &arguments);
    assert_eq!(code, 3, "{said}");
    let (code, said) = run(
        folder.path(),
        &server.base,
        &[&arguments[..], &["--allow-side-effects"]].concat(),
    );
    assert_eq!(code, 0, "{said}");
}

#[test]
fn exit_code_1_where_the_profile_needs_more_than_is_declared() {
    let folder = folder();
    let server = Server::with(as_it_is, |address| ServerOptions {
        base: format!("http://{address}/rest/"),
        read_only: true,
        ..ServerOptions::default()
    });
    let arguments = ["--only", "ENT-09", "--profile"];
    let (code, said) = run(
        folder.path(),
        &server.base,
        &[&arguments[..], &["read-only"]].concat(),
    );
    assert_eq!(code, 0, "{said}");
    let (code, said) = run(
        folder.path(),
        &server.base,
        &[&arguments[..], &["actions"]].concat(),
    );
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("PROFILE actions requires a way to create a person"),
        "{said}"
    );
}

/// The exit code and the wording of a report for its findings; the worst finding is first.
#[test]
fn a_report_ends_with_the_exit_code_of_the_worst_it_has() {
    let (server, folder) = (Server::good(), folder());
    let (code, said) = run(
        folder.path(),
        &server.base,
        &["--only", "ENT-01", "--only", "ENT-09", "--report", "json=-"],
    );
    assert_eq!(code, 0, "{said}");
    let good: Value = serde_json::from_str(&said).expect("JSON");
    // Requirements, and other changes of the report: members of `clean_up`, or lists.
    let ended = |rows: &[(&str, &str)], changes: &[(&str, Value)]| {
        let mut report = good.clone();
        for row in report["rows"].as_array_mut().expect("rows") {
            if let Some((_, outcome)) = rows.iter().find(|(id, _)| row["id"] == *id) {
                row["outcome"] = json!(outcome);
            }
        }
        for (pointer, value) in changes {
            *report.pointer_mut(pointer).expect("a member") = value.clone();
        }
        let report: Report = serde_json::from_value(report).expect("a report");
        (report.exit_code(), report.verdict())
    };
    let left = ("/clean_up/failed", json!(true));
    let waiver = (
        "/broken_waivers",
        json!(["ENT-09: the waiver expired on 2020-01-01"]),
    );
    let lack = (
        "/profile_lacks",
        json!(["all requires a collection or a helper; the declaration has none"]),
    );
    assert_eq!(ended(&[], &[]), (0, "conformant"));
    assert_eq!(
        ended(&[("ENT-01", "waived")], &[]),
        (0, "conformant with deviations")
    );
    assert_eq!(ended(&[("ENT-01", "warn")], &[]), (0, "conformant"));
    assert_eq!(ended(&[], std::slice::from_ref(&left)), (6, "conformant"));
    assert_eq!(
        ended(&[("ENT-01", "inconclusive")], std::slice::from_ref(&left)),
        (3, "undecided")
    );
    assert_eq!(
        ended(&[("ENT-01", "disabled"), ("ENT-09", "not_applicable")], &[]),
        (3, "undecided")
    );
    assert_eq!(
        ended(&[("UND-40", "inconclusive")], &[]),
        (0, "conformant"),
        "only MUST rows have to be decided"
    );
    assert_eq!(
        ended(&[("ENT-01", "error"), ("ENT-09", "inconclusive")], &[]),
        (5, "undecided")
    );
    assert_eq!(
        ended(&[("ENT-01", "fail"), ("ENT-09", "error")], &[left]),
        (1, "not conformant")
    );
    assert_eq!(ended(&[], &[waiver]), (1, "not conformant"));
    assert_eq!(ended(&[], &[lack]), (1, "not conformant"));
}

/// A mistyped member would count as "not supported". Therefore each one is reported with the known
/// names, and no request is sent.
#[test]
fn exit_code_2_for_members_of_a_declaration_file_that_nobody_knows() {
    let (server, folder) = (Server::good(), folder());
    let entry = server.get(&server.base);
    let published = server.get(
        entry["_links"]["service-meta"]["href"]
            .as_str()
            .expect("a link"),
    );
    let (toml, json) = (
        folder.path().join("declared.toml"),
        folder.path().join("declared.json"),
    );
    fs::write(&json, published.to_string()).expect("written");
    let little = ["--only", "ENT-09", "--declaration"];
    let (code, said) = run(
        folder.path(),
        &server.base,
        &[&little[..], &["declared.json"]].concat(),
    );
    assert_eq!(
        code, 0,
        "a published declaration can be used as a file: {said}"
    );
    let mistyped = r#"
        declaration_version = 1
        source = "probed"
        behaviors = ["validates_types"]
        [dialect]
        prefx = "svc"
        [collections.people]
        operations = ["list", "raed"]
        [collections.people.fields.given_name]
        type = "string"
        writeable = false
        [collections.people.fields.email_addresses]
        type = "object[]"
        [collections.people.fields.email_addresses.fields.address]
        typ = "string"
        [collections.poeple]
        operations = ["list"]
        [helpers.record_signature]
        anonymus = true
    "#;
    fs::write(&toml, mistyped).expect("written");
    let mut changed = published;
    changed["limits"]["maxpagesize"] = json!(25);
    changed["collections"]["people"]["field"] = json!({});
    fs::write(&json, changed.to_string()).expect("written");
    let unknown: [(&str, &[&str]); 2] = [
        (
            "declared.toml",
            &[
                "behaviors (allowed here: _links, action_functions, authentication, base_url, behaviours, ",
                "dialect.prefx (allowed here: extension_prefix, key_header, ",
                "collections.people.operations: raed (allowed here: create, delete, list, read, update)",
                "collections.people.fields.given_name.writeable (allowed here: computed, default, ",
                "collections.people.fields.email_addresses.fields.address.typ (allowed here: ",
                "collections.poeple (allowed here: ",
                "helpers.record_signature.anonymus (allowed here: anonymous, relation)",
            ],
        ),
        (
            "declared.json",
            &[
                "limits.maxpagesize (allowed here: max_pagesize, per_page)",
                "collections.people.field (allowed here: ",
            ],
        ),
    ];
    for (file, problems) in unknown {
        let (code, said) = run(
            folder.path(),
            "http://127.0.0.1:9/",
            &["--declaration", file],
        );
        assert_eq!(code, 2, "{said}");
        assert_eq!(
            said.matches("(allowed here: ").count(),
            problems.len(),
            "{said}"
        );
        for problem in problems {
            assert!(said.contains(problem), "{problem}: {said}");
        }
        assert!(said.contains(file), "{said}");
    }
}

/// Number of records that the counting server has created.
static CREATED: Mutex<usize> = Mutex::new(0);
static CREATES: Condvar = Condvar::new();

fn counts(request: &Request<Bytes>, response: Response<Bytes>) -> Response<Bytes> {
    if request.method() == Method::POST && response.status().is_success() {
        *CREATED.lock().expect("a number") += 1;
        CREATES.notify_all();
    }
    response
}

#[cfg(unix)]
#[test]
fn exit_code_5_for_a_run_that_is_interrupted_and_clean_removes_its_records() {
    let (server, folder) = (Server::start(counts), folder());
    let before = server.records();
    let child = program(folder.path())
        .args([
            "run",
            &server.base,
            "--key",
            "k-one",
            "--quiet",
            "--rate",
            "300/s",
            "--only",
            "typ/*",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    let reached = CREATES.wait_timeout_while(
        CREATED.lock().expect("a number"),
        Duration::from_secs(60),
        |created| *created < 3,
    );
    assert!(
        !reached.expect("a number").1.timed_out(),
        "the run creates three records"
    );
    let number = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .expect("a process");
    rustix::process::kill_process(number, rustix::process::Signal::INT).expect("a signal");
    let (code, said) = ended(&child.wait_with_output().expect("ended"));
    assert_eq!(code, 5, "{said}");
    assert!(
        said.contains("interrupted. To delete what the run created: svc-conformance clean-up out"),
        "{said}"
    );
    let (code, said) = clean(folder.path());
    assert_eq!((code, server.records()), (0, before), "{said}");
}

/// A fixture is given by its kind and address. An unknown kind or a missing record is reported in
/// one line before anything is written.
#[test]
fn a_fixture_is_given_on_the_command_line() {
    let (server, folder) = (Server::good(), tempfile::tempdir().expect("a folder"));
    let before = server.records();
    let (code, said) = run(folder.path(), &server.base, &["--fixture", "evnt=1"]);
    assert!(
        code == 2
            && said.contains(
                "`evnt=1` must have the form NAME=ADDRESS, where NAME is one of: person, "
            ),
        "{said}"
    );
    let nowhere = format!("event={}events/none", server.base);
    let (code, said) = run(folder.path(), &server.base, &["--fixture", &nowhere]);
    assert!(
        code == 2
            && said.lines().count() == 1
            && said.contains("does not exist: its URL returns 404"),
        "{said}"
    );
    assert_eq!(server.records(), before);

    let events = server.get(&server.base)["_links"]["svc:events"]["href"]
        .as_str()
        .expect("a link")
        .to_owned();
    let made = server.request("POST", &events, "{\"title\": \"Meeting\"}");
    let own = made["_links"]["self"]["href"]
        .as_str()
        .expect("an address")
        .to_owned();
    let arguments = [
        "plan",
        &server.base,
        "--key",
        "k-one",
        "--fixture",
        &format!("event={own}"),
    ];
    let (code, said) = ended(
        &program(folder.path())
            .args(arguments)
            .output()
            .expect("the program"),
    );
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("fixtures, records that a run cannot create") && said.contains(&own),
        "{said}"
    );
}

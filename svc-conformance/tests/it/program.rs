//! The program against a server on a port: its exit codes, its files, and what remains afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::Value;

use crate::support::{Server, ended, folder, program, reserved_address, run};

/// Two requirements that every server with an entry point fulfils.
const LITTLE: &[&str] = &["--only", "ENT-01", "--only", "ENT-09"];

fn plain_text(_: &Request<Bytes>, mut response: Response<Bytes>) -> Response<Bytes> {
    response
        .headers_mut()
        .insert("content-type", "text/plain".parse().expect("a value"));
    response
}

fn keeps_everything(request: &Request<Bytes>, mut response: Response<Bytes>) -> Response<Bytes> {
    if request.method() == http::Method::DELETE {
        *response.status_mut() = StatusCode::CONFLICT;
    }
    response
}

fn publishes_nothing(_: &Request<Bytes>, response: Response<Bytes>) -> Response<Bytes> {
    response.map(|body| {
        String::from_utf8_lossy(&body)
            .replace("service-meta", "related")
            .into()
    })
}

fn redirects(_: &Request<Bytes>, mut response: Response<Bytes>) -> Response<Bytes> {
    *response.status_mut() = StatusCode::MOVED_PERMANENTLY;
    response.headers_mut().insert(
        "location",
        "https://crm.example.org/api/".parse().expect("a value"),
    );
    response
}

/// Number of records that the counting server has created.
static CREATED: Mutex<usize> = Mutex::new(0);
static CREATES: Condvar = Condvar::new();

fn counts(request: &Request<Bytes>, response: Response<Bytes>) -> Response<Bytes> {
    if request.method() == http::Method::POST && response.status().is_success() {
        *CREATED.lock().expect("a number") += 1;
        CREATES.notify_all();
    }
    response
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn exit_code_0_for_a_server_that_conforms() {
    let (server, folder) = (Server::good(), folder());
    let (code, said) = run(folder.path(), &server.base, LITTLE);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("RESULT conformant: "), "{said}");
    // Nothing was created and nothing failed, so no file remains.
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn exit_code_1_for_a_row_that_does_not_hold_with_all_reports_and_a_replay() {
    let (server, good, folder) = (Server::start(plain_text), Server::good(), folder());
    let formats = [
        "text", "json", "junit", "tap", "html", "markdown", "matrix", "badge", "costs",
    ];
    let reports: Vec<String> = formats
        .iter()
        .map(|format| format!("{format}=report.{format}"))
        .collect();
    let mut arguments = vec!["--only", "HAL-03", "--only", "ENT-09"];
    arguments.extend(reports.iter().flat_map(|report| ["--report", report]));
    let (code, said) = run(folder.path(), &server.base, &arguments);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("FAIL HAL-03") && said.contains("RESULT not conformant"),
        "{said}"
    );
    let file = |name: &str| text(&folder.path().join(name));
    let json: Value = serde_json::from_str(&file("report.json")).expect("JSON");
    let schema: Value = serde_json::from_str(svc_conformance::Format::SCHEMA).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let problems: Vec<String> = validator
        .iter_errors(&json)
        .map(|error| error.to_string())
        .take(5)
        .collect();
    assert_eq!(problems, Vec::<String>::new());
    assert!(file("report.junit").contains("<failure message="));
    assert!(
        file("report.tap").starts_with("TAP version 14\n1..")
            && file("report.tap").contains("\nnot ok ")
    );
    assert!(file("report.html").starts_with("<!doctype html>"));
    assert!(file("report.markdown").contains("| HAL-03 | MUST |"));
    assert!(file("report.matrix").contains("\nHAL-03,MUST,"));
    assert!(file("report.badge").contains("\"schemaVersion\":1"));
    assert!(
        file("report.costs")
            .lines()
            .any(|line| line.starts_with("ent/document,default,"))
    );
    for name in formats
        .iter()
        .map(|format| format!("report.{format}"))
        .chain(["out/HAL-03.sh".to_owned()])
    {
        assert!(!file(&name).contains("k-one"), "{name} shows a key");
    }
    assert!(!file("out/HAL-03.replay.json").contains("k-one"));

    // The same failure again, from its file alone, and not on a server without the fault.
    let again = |url: &str| {
        let replay = [
            "replay",
            "out/HAL-03.replay.json",
            "--key",
            "k-one",
            "--url",
            url,
        ];
        ended(
            &program(folder.path())
                .args(replay)
                .output()
                .expect("the program"),
        )
    };
    let (code, said) = again(&server.base);
    assert_eq!(code, 1, "{said}");
    let (code, said) = again(&good.base);
    assert_eq!(code, 0, "{said}");

    let (code, _) = run(
        folder.path(),
        &good.base,
        &[
            "--only",
            "HAL-03",
            "--only",
            "ENT-09",
            "--report",
            "json=good.json",
        ],
    );
    assert_eq!(code, 0);
    let diff = |old: &str, new: &str| {
        ended(
            &program(folder.path())
                .args(["diff", old, new])
                .output()
                .expect("the program"),
        )
    };
    assert_eq!(diff("good.json", "good.json").0, 0);
    assert_eq!(diff("report.json", "good.json").0, 0);
    let (code, said) = diff("good.json", "report.json");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("worse  HAL-03: pass -> fail"), "{said}");
}

/// Returns the key of a request instead of a document, so that the excerpt in messages ends within
/// the key.
fn sends_the_key_back(request: &Request<Bytes>, mut response: Response<Bytes>) -> Response<Bytes> {
    if let Some(key) = request.headers().get("svc-api-token") {
        let key = key.to_str().expect("text");
        *response.body_mut() = format!("{key} {}{key}", "x".repeat(600 - 2 * key.len())).into();
    }
    response
}

#[test]
fn reports_link_the_pages_of_rows_where_they_are_told_to() {
    let (server, folder) = (Server::start(plain_text), folder());
    let reports = [
        "--only",
        "HAL-03",
        "--only",
        "ENT-01",
        "--report",
        "html=a.html",
        "--report",
        "markdown=a.md",
    ];
    for (more, linked) in [
        (&[][..], false),
        (&["--catalogue-url", "https://example.org/a?b&c/"], true),
    ] {
        let (code, said) = run(folder.path(), &server.base, &[&reports, more].concat());
        assert_eq!(code, 1, "{said}");
        let (html, markdown) = (
            text(&folder.path().join("a.html")),
            text(&folder.path().join("a.md")),
        );
        let link = "<a href=\"https://example.org/a?b&amp;c/HAL-03.html\">HAL-03</a>";
        assert_eq!(html.contains(link), linked);
        assert_eq!(
            markdown.contains("| [HAL-03](<https://example.org/a?b&c/HAL-03.html>) |"),
            linked
        );
    }
}

#[test]
fn a_key_that_a_server_sends_back_is_in_no_report() {
    let (server, folder) = (Server::start(sends_the_key_back), folder());
    let (code, said) = run(
        folder.path(),
        &server.base,
        &["--only", "ENT-01", "--report", "json=report.json"],
    );
    assert_eq!(code, 1, "{said}");
    for shown in [
        said,
        text(&folder.path().join("report.json")),
        text(&folder.path().join("out/ENT-01.sh")),
    ] {
        assert!(!shown.contains("k-"), "{shown}");
    }
    assert!(text(&folder.path().join("report.json")).contains("xxx"));
}

#[test]
fn exit_code_1_for_waivers_that_do_not_hold_and_0_for_those_that_do() {
    let (server, folder) = (Server::start(plain_text), folder());
    let waived = |row: &str, day: &str| {
        let path = folder.path().join("waivers.toml");
        fs::write(
            path,
            format!("[[waiver]]\nrow = \"{row}\"\nreason = \"known\"\nexpires = \"{day}\"\n"),
        )
        .expect("written");
        run(
            folder.path(),
            &server.base,
            &[
                "--only",
                "HAL-03",
                "--only",
                "ENT-09",
                "--waivers",
                "waivers.toml",
            ],
        )
    };
    let (code, said) = waived("HAL-03", "2999-12-31");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("RESULT conformant with deviations"), "{said}");
    let (code, said) = waived("HAL-03", "2020-01-01");
    assert_eq!(code, 1, "{said}");
    let (code, said) = waived("ENT-09", "2999-12-31");
    assert_eq!(code, 1, "{said}");
}

#[test]
fn exit_code_2_for_arguments_that_make_no_sense() {
    let (server, folder) = (Server::good(), folder());
    fs::write(folder.path().join("broken.toml"), "declaration_version = 7").expect("written");
    for arguments in [
        &["--only", "NO-SUCH-ROW"][..],
        &["--declaration", "missing.toml"],
        &["--declaration", "broken.toml"],
        &["--waivers", "missing.toml"],
        &["--report", "json=no/such/folder/x"],
        &["--report", "pdf=x"],
        &["--intensity", "gentle"],
        &["--rate", "0/s"],
        &["--timeout", "0s"],
    ] {
        let (code, said) = run(folder.path(), &server.base, arguments);
        assert_eq!(code, 2, "{arguments:?}: {said}");
    }
    let (code, _) = run(folder.path(), "ftp://127.0.0.1/", &[]);
    assert_eq!(code, 2);
    // An entry point without a declaration.
    let (code, said) = run(folder.path(), &Server::start(publishes_nothing).base, &[]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("service-meta"), "{said}");
    for arguments in [
        &["explain", "COL-99"][..],
        &["list", "NO-*"],
        &["clean-up", "missing"],
        &["replay", "missing"],
        &[],
    ] {
        let (code, said) = ended(
            &program(folder.path())
                .args(arguments)
                .output()
                .expect("the program"),
        );
        assert_eq!(code, 2, "{arguments:?}: {said}");
    }
}

#[test]
fn exit_code_3_where_nothing_was_decided() {
    let (server, folder) = (Server::good(), folder());
    let (code, said) = run(
        folder.path(),
        &server.base,
        &["--profile", "read-only", "--only", "CRU-01"],
    );
    assert_eq!(code, 3, "{said}");
}

#[test]
fn exit_code_4_for_a_target_that_nobody_serves() {
    let folder = folder();
    let (_reserved, address) = reserved_address();
    let (code, said) = run(folder.path(), &format!("http://{address}/"), LITTLE);
    assert_eq!(code, 4, "{said}");
    let (code, said) = ended(
        &program(folder.path())
            .args(["plan", &format!("http://{address}/")])
            .output()
            .expect("it"),
    );
    assert_eq!(code, 4, "{said}");
}

/// Requirements that only a write can show are omitted and do not affect the result.
#[test]
fn exit_code_0_for_a_run_that_only_reads() {
    let (server, folder) = (Server::good(), folder());
    // A server without records shows no second page and no identifier.
    let arguments = [
        "--profile",
        "read-only",
        "--exclude",
        "COL-27",
        "--exclude",
        "TYP-14",
    ];
    let (code, said) = run(folder.path(), &server.base, &arguments);
    assert_eq!(code, 0, "{said}");
}

/// The program prints one sentence that names the problem and the solution.
#[test]
fn exit_code_4_for_what_is_no_entry_point() {
    let (server, folder) = (Server::good(), folder());
    let (code, said) = run(folder.path(), &Server::start(redirects).base, LITTLE);
    assert_eq!(code, 4, "{said}");
    assert!(
        said.contains("redirects to https://crm.example.org/api/"),
        "{said}"
    );
    let (code, said) = run(folder.path(), &format!("{}about/", server.base), LITTLE);
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("an HTML page"), "{said}");
    // The response of a TLS server to a request without TLS.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let alert = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept()?;
        std::io::Read::read(&mut stream, &mut [0; 1024])?;
        std::io::Write::write_all(&mut stream, &[0x15, 3, 3, 0, 2, 2, 70])
    });
    let (code, said) = run(folder.path(), &format!("http://{address}/"), LITTLE);
    alert.join().expect("it ends").expect("a response");
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("it may require TLS"), "{said}");
}

#[test]
fn exit_code_5_where_nothing_can_be_written_down() {
    let (server, folder) = (Server::good(), folder());
    fs::write(folder.path().join("file"), "").expect("written");
    let (code, said) = run(folder.path(), &server.base, &["--output-dir", "file/below"]);
    assert_eq!(code, 5, "{said}");
}

#[test]
fn exit_code_6_for_records_that_could_have_been_removed() {
    let (server, folder) = (Server::start(keeps_everything), folder());
    let (code, said) = run(
        folder.path(),
        &server.base,
        &["--only", "RES-share_page-01"],
    );
    assert_eq!(code, 6, "{said}");
    // The journal remains, and the records can be removed once the server allows deletes again.
    let journal = journal(folder.path()).expect("a journal");
    let clean = || {
        ended(
            &program(folder.path())
                .args(["clean-up", "--key", "k-one"])
                .arg(&journal)
                .output()
                .expect("it"),
        )
    };
    let (code, said) = clean();
    assert_eq!(code, 6, "{said}");
    assert!(journal.exists());
}

fn journal(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder.join("out")).ok()?;
    let mut paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    paths.find(|path| {
        path.extension()
            .is_some_and(|extension| extension == "jsonl")
    })
}

#[test]
fn a_killed_run_leaves_a_journal_and_clean_removes_exactly_its_records() {
    let (server, folder) = (Server::start(counts), folder());
    // Records that existed before, including one with a marker like those of the suite.
    let people = server.get(&server.base)["_links"]["svc:people"]["href"]
        .as_str()
        .expect("a link")
        .to_owned();
    server.request("POST", &people, r#"{"given_name":"Ada"}"#);
    server.request(
        "POST",
        &people,
        r#"{"given_name":"Grace","identifiers":["svc-conformance:other-run-0"]}"#,
    );
    let before = server.records();
    *CREATED.lock().expect("a number") = 0;
    let mut child = program(folder.path())
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
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the program");
    // The child is killed once the server has created ten records, whether the journal has the last
    // of them or not.
    let reached = CREATES.wait_timeout_while(
        CREATED.lock().expect("a number"),
        Duration::from_secs(60),
        |created| *created < 10,
    );
    assert!(
        !reached.expect("a number").1.timed_out(),
        "the run creates ten records"
    );
    child.kill().expect("killed");
    child.wait().expect("ended");
    let journal = journal(folder.path()).expect("a journal");
    assert!(server.records() > before);
    let clean = ended(
        &program(folder.path())
            .args(["clean-up", "--key", "k-one"])
            .arg(&journal)
            .output()
            .expect("it"),
    );
    assert_eq!(clean.0, 0, "{}", clean.1);
    assert_eq!(server.records(), before, "{}", clean.1);
    let names: Vec<Value> = server.get(&people)["_embedded"]["svc:people"]
        .as_array()
        .expect("people")
        .clone();
    assert_eq!(
        names
            .iter()
            .map(|one| &one["given_name"])
            .collect::<Vec<_>>(),
        ["Ada", "Grace"]
    );
    assert!(!journal.exists());
}

#[test]
fn rows_and_checks_are_listed_and_explained() {
    let folder = folder();
    let said = |arguments: &[&str]| {
        let (code, said) = ended(
            &program(folder.path())
                .args(arguments)
                .output()
                .expect("the program"),
        );
        assert_eq!(code, 0, "{said}");
        said
    };
    let listed = |pattern: &str| said(&["list", pattern]).lines().count();
    let rows = |prefix: &str| {
        svc_conformance::catalogue::Catalogue::built_in()
            .unwrap()
            .requirements()
            .iter()
            .filter(|row| row.id.starts_with(prefix))
            .count()
    };
    assert_eq!(said(&["list"]).lines().count(), rows(""));
    assert_eq!(listed("COL-2*"), rows("COL-2"));
    // An area as reports name it, and one of its parts.
    assert_eq!(
        ["RES", "RES-person"].map(listed),
        ["RES-", "RES-person-"].map(rows)
    );
    assert!(said(&["list", "--checks", "ENT-02"]).starts_with("ent/document"));
    assert!(said(&["explain", "ent-02"]).contains("check              ent/document"));
    assert!(said(&["explain", "ent-02"]).contains("page               ENT-02.html"));
    assert!(said(&["explain", "ent/document"]).contains("ENT-02 MUST"));
    assert!(said(&["--help"]).contains("Exit codes"));
}

#[test]
fn a_plan_sends_nothing_that_writes() {
    let (server, folder) = (Server::good(), folder());
    let before = server.records();
    let plan = program(folder.path())
        .args(["plan", &server.base, "--key", "k-one"])
        .output()
        .expect("the program");
    let (code, said) = ended(&plan);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("ent/document") && said.contains("about ") && !said.contains("? requests"),
        "{said}"
    );
    assert!(
        said.trim_end()
            .ends_with(" requests to find and delete them"),
        "{said}"
    );
    assert_eq!(server.records(), before);
}

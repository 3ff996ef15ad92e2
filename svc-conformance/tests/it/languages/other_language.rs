//! A server in another language, tested over HTTP with a hand-written declaration. It conforms, and
//! each of its planted faults fails exactly the requirements that it breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use svc_conformance::{
    Declaration, DeclarationSource, Intensity, Keys, ProbeReport, Remote, Report,
    RequirementOutcome, Suite, declaration_source, read_declaration,
};
use tokio::runtime::Builder;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/languages")
}

/// A running server, which ends when this value is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(fault: Option<&str>) -> Self {
        let mut command = Command::new("python3");
        command
            .arg(folder().join("server.py"))
            .args(["--port", "0"])
            .stdout(Stdio::piped());
        if let Some(fault) = fault {
            command.args(["--fault", fault]);
        }
        let mut child = command.spawn().expect("python3 runs");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("the output can be read"))
            .read_line(&mut url)
            .expect("the server prints its address");
        Self {
            child,
            url: url.trim().to_owned(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns the planted faults with their requirements, as the server lists them.
fn faults() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new("python3")
        .arg(folder().join("server.py"))
        .arg("--list")
        .output()
        .expect("python3 runs");
    serde_json::from_slice(&output.stdout).expect("a list of faults")
}

fn declaration() -> Declaration {
    let text = std::fs::read_to_string(folder().join("declaration.json")).expect("a declaration");
    read_declaration(&text).expect("the declaration is valid")
}

fn check(server: &Server) -> Report {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let keys = Keys::primary("k-one")
        .other_tenant("k-two")
        .restricted("k-narrow", "people.create");
    let suite = Suite::new(Remote::new(&server.url).expect("an address"))
        .declaration_from(declaration(), DeclarationSource::File)
        .keys(keys)
        .seed(42)
        .timeout(Duration::from_secs(5 * 60))
        .intensity(Intensity::Quick)
        .allow_side_effects(true);
    runtime.block_on(suite.run()).expect("a run")
}

fn failed(report: &Report) -> BTreeSet<String> {
    report
        .with_outcome(RequirementOutcome::Fail)
        .map(|row| row.id.clone())
        .collect()
}

#[test]
#[ignore = "needs Python: .ci/languages"]
fn without_a_fault_nothing_is_found() {
    let server = Server::start(None);
    let report = check(&server);
    let failed: Vec<_> = report.with_outcome(RequirementOutcome::Fail).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(
        report.count(RequirementOutcome::Pass) > 50,
        "{} requirements pass",
        report.count(RequirementOutcome::Pass)
    );
}

#[test]
#[ignore = "needs Python: .ci/languages"]
fn each_fault_is_named_by_its_rows_and_no_other() {
    let faults = faults();
    assert_eq!(faults.len(), 8);
    for (fault, rows) in faults {
        let server = Server::start(Some(&fault));
        assert_eq!(failed(&check(&server)), rows, "{fault}");
    }
}

fn probed(server: &Server, writes: bool) -> ProbeReport {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let suite =
        Suite::new(Remote::new(&server.url).expect("an address")).keys(Keys::primary("k-one"));
    runtime
        .block_on(
            suite
                .timeout(Duration::from_secs(5 * 60))
                .allow_writes(writes)
                .probe(),
        )
        .expect("a declaration")
}

/// Returns a declaration as JSON without its address, in a form that does not depend on any order.
fn plain(declaration: &Declaration) -> Value {
    fn sorted(value: &mut Value) {
        match value {
            Value::Array(list) => list.sort_by_key(Value::to_string),
            Value::Object(members) => members.values_mut().for_each(sorted),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(declaration).expect("JSON");
    for name in ["base_url", "person_matching"] {
        value[name] = Value::Null;
    }
    sorted(&mut value);
    value
}

#[test]
#[ignore = "needs Python: .ci/languages"]
fn what_probe_finds_out_is_what_its_maker_wrote_down() {
    let server = Server::start(None);
    let found = probed(&server, true);
    assert_eq!(plain(&found.declaration), plain(&declaration()));
    assert!(
        found.clean_up.created > 10 && found.clean_up.left.is_empty(),
        "{:?}",
        found.clean_up
    );
    // Both forms are parsed back unchanged.
    for text in [found.to_toml(), found.to_json()] {
        assert_eq!(
            read_declaration(&text).expect("a declaration"),
            found.declaration
        );
        assert_eq!(declaration_source(&text), DeclarationSource::Probed);
    }
    let text = std::fs::read_to_string(folder().join("declaration.json")).expect("a declaration");
    assert_eq!(declaration_source(&text), DeclarationSource::File);
}

#[test]
#[ignore = "needs Python: .ci/languages"]
fn without_leave_to_write_probe_only_reads() {
    let server = Server::start(None);
    let found = probed(&server, false);
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.contains("--allow-writes")),
        "{:?}",
        found.notes
    );
    // There are no records yet: the collections are known, and nothing was created.
    assert_eq!(
        found.declaration.collections.keys().collect::<Vec<_>>(),
        ["people", "petitions", "tags"]
    );
    assert_eq!(found.clean_up.created, 0);
    assert_eq!(found.declaration.collections["people"].operations, ["list"]);
}

/// The steps of a user without Rust: the program alone writes a declaration and then uses it for a
/// run.
#[test]
#[ignore = "needs Python: .ci/languages"]
fn the_program_probes_and_then_names_the_same_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_svc-conformance"));
        let keys = [
            "--key",
            "k-one",
            "--other-tenant-key",
            "k-two",
            "--restricted-key",
            "k-narrow=people.create",
        ];
        let keys = &keys[..if arguments[0] == "probe" {
            2
        } else {
            keys.len()
        }];
        let output = command
            .current_dir(folder.path())
            .args(arguments)
            .args(keys)
            .output()
            .expect("the program");
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        (output.status.code(), said)
    };
    let good = Server::start(None);
    let (code, said) = program(&[
        "probe",
        &good.url,
        "--allow-writes",
        "--output",
        "declaration.toml",
    ]);
    assert_eq!(code, Some(0), "{said}");
    let judge = |server: &Server| {
        let run = [
            "run",
            &server.url,
            "--declaration",
            "declaration.toml",
            "--allow-side-effects",
        ];
        let reports = [
            "--intensity",
            "quick",
            "--quiet",
            "--report",
            "text=report.txt",
            "--report",
            "json=report.json",
        ];
        let (code, said) = program(&[&run[..], &reports].concat());
        let read =
            |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a report");
        let report: Report = serde_json::from_str(&read("report.json"))
            .unwrap_or_else(|error| panic!("{error}: {said}"));
        assert!(read("report.txt").contains("declaration: probed"), "{said}");
        (code, failed(&report))
    };
    assert_eq!(judge(&good), (Some(0), BTreeSet::new()));
    for (fault, rows) in faults() {
        assert_eq!(
            judge(&Server::start(Some(&fault))),
            (Some(1), rows),
            "{fault}"
        );
    }
}

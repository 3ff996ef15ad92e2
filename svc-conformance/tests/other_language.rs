//! A server in another language, checked over HTTP with a declaration that was written by hand: it conforms, and each of its
//! planted faults is named by its own rows and no other.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use svc_conformance::{Declaration, Intensity, Keys, Outcome, Remote, Report, Source, Suite, read_declaration};
use tokio::runtime::Builder;

/// How many of the eight planted faults the suite finds at least; never lowered.
const FOUND: usize = 4;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/other_language")
}

/// A running server, ended when this is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(fault: Option<&str>) -> Self {
        let mut command = Command::new("python3");
        command.arg(folder().join("server.py")).args(["--port", "0"]).stdout(Stdio::piped());
        if let Some(fault) = fault {
            command.args(["--fault", fault]);
        }
        let mut child = command.spawn().expect("python3 runs");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("an output")).read_line(&mut url).expect("its address");
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The planted faults with their rows, as the server lists them.
fn faults() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new("python3").arg(folder().join("server.py")).arg("--list").output().expect("python3 runs");
    serde_json::from_slice(&output.stdout).expect("a list of faults")
}

fn declaration() -> Declaration {
    let text = std::fs::read_to_string(folder().join("declaration.json")).expect("a declaration");
    read_declaration(&text).expect("a declaration in the right form")
}

fn check(server: &Server) -> Report {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let keys = Keys::primary("k-one").other_tenant("k-two").restricted("k-narrow", "people.create");
    let suite = Suite::new(Remote::new(&server.url).expect("an address"))
        .declaration_from(declaration(), Source::File)
        .keys(keys)
        .intensity(Intensity::Quick)
        .allow_side_effects(true);
    runtime.block_on(suite.run()).expect("a run")
}

fn failed(report: &Report) -> BTreeSet<String> {
    report.with(Outcome::Fail).map(|row| row.id.clone()).collect()
}

#[test]
fn without_a_fault_nothing_is_found() {
    let server = Server::start(None);
    let report = check(&server);
    let failed: Vec<_> = report.with(Outcome::Fail).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(report.count(Outcome::Pass) > 50, "{} rows pass", report.count(Outcome::Pass));
}

#[test]
fn each_fault_is_named_by_its_rows_and_no_other() {
    let faults = faults();
    assert_eq!(faults.len(), 8);
    let (mut wrong, mut found) = (Vec::new(), Vec::new());
    for (fault, rows) in faults {
        let server = Server::start(Some(&fault));
        let failed = failed(&check(&server));
        if !failed.is_subset(&rows) {
            wrong.push(format!("{fault}: {failed:?} instead of {rows:?}"));
        }
        if !failed.is_empty() {
            found.push(fault);
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(found.len() >= FOUND, "only these are found: {found:?}");
}

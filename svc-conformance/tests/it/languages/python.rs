//! The Python server of the examples, written from the requirements alone. `probe` finds the same
//! declaration as the file next to the server. The server conforms, and each of its planted faults
//! fails the requirements that the fault names.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use svc_conformance::{
    Declaration, DeclarationSource, Intensity, Keys, ProbeReport, Remote, Report,
    RequirementOutcome, Suite, declaration_source, read_declaration,
};
use tokio::runtime::Builder;

const KEYS: [&str; 6] = [
    "--key",
    "k-one",
    "--other-tenant-key",
    "k-two",
    "--read-only-key",
    "k-narrow",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn python(script: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg("-B").arg(root().join(script));
    command
}

/// A running server, which ends when this value is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(mut command: Command) -> Self {
        command
            .args(KEYS)
            .args(["--port", "0"])
            .stdout(Stdio::piped());
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

    fn plain() -> Self {
        Self::start(python("examples/python/server.py"))
    }

    fn suite(&self) -> Suite {
        let keys = Keys::primary("k-one")
            .other_tenant("k-two")
            .restricted("k-narrow", "people.create");
        Suite::new(Remote::new(&self.url).expect("an address"))
            .keys(keys)
            .seed(42)
            .timeout(Duration::from_secs(5 * 60))
    }

    fn probe(&self) -> ProbeReport {
        let suite = self.suite().allow_writes(true);
        Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
            .block_on(suite.probe())
            .expect("a probe")
    }

    /// Runs the suite with all requirements, or with some.
    fn check(&self, intensity: Intensity, rows: &[String]) -> Report {
        let suite = self
            .suite()
            .declaration_from(declaration(), DeclarationSource::Probed)
            .intensity(intensity);
        let suite = if rows.is_empty() {
            suite
        } else {
            suite.only(rows)
        };
        Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
            .block_on(suite.run())
            .expect("a run")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn text() -> String {
    std::fs::read_to_string(root().join("examples/python/declaration.json")).expect("a declaration")
}

fn declaration() -> Declaration {
    read_declaration(&text()).expect("the declaration is valid")
}

#[test]
#[ignore = "needs Python: .ci/languages"]
fn what_probe_finds_out_lies_beside_the_server() {
    let mut found = Server::plain().probe();
    found.declaration.base_url = declaration().base_url;
    assert_eq!(found.declaration, declaration());
    assert_eq!(declaration_source(&text()), DeclarationSource::Probed);
    assert_eq!(found.notes, Vec::<String>::new());
    assert!(
        found.clean_up.created > 0 && found.clean_up.left.is_empty(),
        "{:?}",
        found.clean_up
    );
}

#[test]
#[ignore = "needs Python: .ci/languages"]
fn the_server_conforms_and_every_must_row_that_applies_is_judged() {
    let report = Server::plain().check(Intensity::Default, &[]);
    report.assert_conformant();
    assert_eq!(report.count(RequirementOutcome::Pass), 187, "{report}");
    let rest = [
        RequirementOutcome::Fail,
        RequirementOutcome::Warn,
        RequirementOutcome::Inconclusive,
    ]
    .map(|outcome| report.count(outcome));
    assert_eq!(rest, [0; 3], "{report}");
}

#[test]
#[ignore = "needs Python: .ci/languages"]
fn each_fault_is_found_at_its_rows() {
    let script = "svc-conformance/tests/it/languages/faulty.py";
    let list = python(script)
        .arg("--list")
        .output()
        .expect("python3 runs")
        .stdout;
    let faults: BTreeMap<String, Vec<String>> =
        serde_json::from_slice(&list).expect("a list of faults");
    assert_eq!(faults.len(), 45);
    let mut missed = Vec::new();
    for (fault, rows) in faults {
        // A quick run detects most of them, a default run the others.
        let found = [Intensity::Quick, Intensity::Default]
            .into_iter()
            .any(|intensity| {
                let mut command = python(script);
                command.arg(&fault);
                let report = Server::start(command).check(intensity, &rows);
                rows.iter().all(|row| {
                    report
                        .requirement(row)
                        .is_some_and(|row| row.outcome == RequirementOutcome::Fail)
                })
            });
        if !found {
            missed.push(format!("{fault}: {rows:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

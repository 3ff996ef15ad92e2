//! The examples that turn each requirement into a test of pytest or of Node.js, against the second
//! service.

use std::path::{Path, PathBuf};
use std::process::Command;

use bytes::Bytes;
use http::{Request, Response};

use crate::support::{Server, ended};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

fn plain_text(_: &Request<Bytes>, mut response: Response<Bytes>) -> Response<Bytes> {
    response
        .headers_mut()
        .insert("content-type", "text/plain".parse().expect("a value"));
    response
}

/// Returns exit code and output of a test runner, for two requirements.
fn tested(server: &Server, runner: &mut Command) -> (i32, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let arguments = format!("{} --timeout 5m --only HAL-03 --only ENT-09", server.base);
    runner
        .current_dir(folder.path())
        .env("SVC_CONFORMANCE", env!("CARGO_BIN_EXE_svc-conformance"));
    let runner = runner
        .env("SVC_CONFORMANCE_KEY", "k-one")
        .env("SVC_CONFORMANCE_ARGUMENTS", arguments);
    ended(&runner.output().expect("the runner"))
}

fn node() -> Command {
    let mut command = Command::new("node");
    command
        .args(["--test", "--test-reporter=tap"])
        .arg(examples().join("javascript/conformance.test.mjs"));
    command
}

#[test]
#[ignore = "needs Node.js: .ci/languages"]
fn node_has_a_test_for_each_requirement() {
    let (code, said) = tested(&Server::good(), &mut node());
    assert!(
        code == 0 && said.contains("# pass 2") && said.contains("# fail 0"),
        "{said}"
    );
    let (code, said) = tested(&Server::start(plain_text), &mut node());
    assert!(
        code == 1
            && said.contains("not ok")
            && said.contains("HAL-03 MUST")
            && said.contains("# fail 1"),
        "{said}"
    );
}

/// Without pytest there is nothing to test.
#[test]
#[ignore = "needs Python: .ci/languages"]
fn pytest_has_a_test_for_each_requirement() {
    let pytest = || {
        let mut command = Command::new("python3");
        command.args(["-B", "-m", "pytest", "-p", "no:cacheprovider"]);
        command
    };
    if !pytest()
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        eprintln!("pytest is not installed");
        return;
    }
    let example = examples().join("python/test_conformance.py");
    let (code, said) = tested(&Server::good(), pytest().arg(&example));
    assert!(code == 0 && said.contains("2 passed"), "{said}");
    let (code, said) = tested(&Server::start(plain_text), pytest().arg(&example));
    assert!(
        code == 1 && said.contains("1 failed, 1 passed") && said.contains("HAL-03-MUST"),
        "{said}"
    );
}

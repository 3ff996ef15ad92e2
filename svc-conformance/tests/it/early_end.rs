//! Runs that end early: at the first failure (`--fail-fast`), or because the server rejects a key.

use std::fs;

use bytes::Bytes;
use http::{Request, Response};
use svc_conformance::{Keys, Remote, Report, RequirementOutcome, Suite, SuiteError};

use crate::support::{Server, ended, program, run};

fn plain_text(_: &Request<Bytes>, mut response: Response<Bytes>) -> Response<Bytes> {
    response
        .headers_mut()
        .insert("content-type", "text/plain".parse().expect("a value"));
    response
}

/// The failure is confirmed by a second run of the check, the created records are removed, and the
/// report names what did not run.
///
/// Requirements: HAL-03.
#[test]
fn a_run_that_fails_fast_ends_at_the_first_confirmed_failure() {
    let (server, folder) = (
        Server::start(plain_text),
        tempfile::tempdir().expect("a folder"),
    );
    let before = server.records();
    let (code, said) = run(
        folder.path(),
        &server.base,
        &["--fail-fast", "--report", "json=report.json"],
    );
    assert_eq!(code, 1, "{said}");
    let text = fs::read_to_string(folder.path().join("report.json")).expect("a report");
    let report: Report = serde_json::from_str(&text).expect("a report");
    let failed: Vec<&str> = report
        .with_outcome(RequirementOutcome::Fail)
        .map(|row| row.id.as_str())
        .collect();
    assert!(failed.contains(&"HAL-03"), "{failed:?}");
    let left_out = report
        .checks
        .iter()
        .filter(|check| check.end == "disabled: the run ended at an earlier failure");
    let left_out = left_out.count();
    assert!(
        left_out + 5 > report.checks.len(),
        "{left_out} of {}",
        report.checks.len()
    );
    assert!(
        said.contains(&format!("ENDED at the first failure: {left_out} of ")),
        "{said}"
    );
    assert_eq!(
        report.requirement("CRU-15").map(|row| row.outcome),
        Some(RequirementOutcome::Disabled)
    );
    assert_eq!(server.records(), before);

    // Checks that are not selected, and accepted failures, do not end the run.
    let (code, said) = run(
        folder.path(),
        &server.base,
        &["--fail-fast", "--only", "ENT-09"],
    );
    assert!(code == 0 && !said.contains("ENDED"), "{said}");
    let waiver = "[[waiver]]\nrow = \"HAL-03\"\nreason = \"known\"\nexpires = \"2999-12-31\"\n";
    fs::write(folder.path().join("waivers.toml"), waiver).expect("written");
    let arguments = [
        "--fail-fast",
        "--only",
        "ENT-09",
        "--only",
        "HAL-03",
        "--waivers",
        "waivers.toml",
    ];
    let (code, said) = run(folder.path(), &server.base, &arguments);
    assert!(
        code == 0 && !said.contains("ENDED") && said.contains("conformant with deviations"),
        "{said}"
    );
}

/// The program reports one sentence about the key instead of hundreds of failed requirements. No
/// key is shown, and no file is left.
///
/// Requirements: AUT-03.
#[test]
fn a_key_that_the_server_refuses_ends_the_run_at_once() {
    let (server, folder) = (Server::good(), tempfile::tempdir().expect("a folder"));
    let given = |keys: &[&str]| {
        let command = ["run", &server.base, "--quiet"];
        ended(
            &program(folder.path())
                .args(command)
                .args(keys)
                .output()
                .expect("the program"),
        )
    };
    for (keys, which, option) in [
        (&["--key", "secret-1"][..], "the key:", "with --key,"),
        (
            &["--key", "k-one", "--other-tenant-key", "secret-2"],
            "the key of another tenant:",
            "with --other-tenant-key,",
        ),
        (
            &[
                "--key",
                "k-one",
                "--restricted-key",
                "secret-3=people.create",
            ],
            "the restricted key:",
            "--restricted-key,",
        ),
    ] {
        let (code, said) = given(keys);
        assert_eq!((code, said.lines().count()), (2, 1), "{said}");
        for part in [
            which,
            option,
            &server.base,
            "SVC-API-Token",
            "401 Unauthorized",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(
            !said.contains("secret-") && !said.contains("k-one"),
            "{said}"
        );
    }
    assert!(
        !folder.path().join("out").exists()
            || fs::read_dir(folder.path().join("out")).expect("it").count() == 0
    );

    let suite =
        Suite::new(Remote::new(&server.base).expect("an address")).keys(Keys::primary("secret-4"));
    let suite = suite.timeout(std::time::Duration::from_secs(5 * 60));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let error = runtime
        .block_on(suite.run())
        .expect_err("the key is refused");
    assert!(
        matches!(&error, SuiteError::KeyRefused(text) if !text.contains("secret-4")),
        "{error}"
    );
    assert_eq!(error.exit_code(), 2);
}

//! Shows why the suite has its own code for the snapshots of a target's documents
//! (`run --snapshots`). The assertions of insta are made for `cargo test`. This test runs itself
//! again as the program of a user would run, and checks what insta does. If the test fails, insta
//! is usable in programs, and `src/program/snapshots.rs` can be removed.

use std::path::Path;
use std::process::{Command, Output};

/// The folder of the snapshot; without it, the test below asserts nothing.
const FOLDER: &str = "SNAPSHOT_FOLDER";
const DOCUMENT: &str = "SNAPSHOT_DOCUMENT";

/// What the program would do for one document.
#[test]
fn held() {
    let (Ok(folder), Ok(document)) = (std::env::var(FOLDER), std::env::var(DOCUMENT)) else {
        return;
    };
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!("petition", document));
}

/// Runs the assertion in a process on a machine without cargo. Only `update` makes insta store a
/// document.
fn assertion(folder: &Path, document: &str, update: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command
        .args(["insta_in_programs::held", "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .env(DOCUMENT, document);
    for name in ["CARGO", "CI", "INSTA_UPDATE", "INSTA_WORKSPACE_ROOT"] {
        command.env_remove(name);
    }
    command
        .env("PATH", "")
        .envs(update.map(|update| ("INSTA_UPDATE", update)))
        .output()
        .expect("this test")
}

#[test]
fn insta_is_made_for_cargo_test_and_not_for_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();

    // It stores a document because of the environment only, which a program cannot set for itself
    // without `unsafe`.
    let kept = assertion(folder.path(), "before", Some("always"));
    assert!(
        text(&kept.stdout).contains("running 1 test"),
        "{}",
        text(&kept.stdout)
    );
    assert!(kept.status.success() && folder.path().join("petition.snap").exists());

    // Each run starts cargo in the folder in which the program was built, and prints an error if
    // the folder is missing.
    let same = assertion(folder.path(), "before", None);
    assert!(same.status.success());
    assert!(
        text(&same.stderr).contains("cargo metadata failed in"),
        "{}",
        text(&same.stderr)
    );

    // A difference is not a failure of conformance. insta prints it to standard output, which is
    // also used by `--report json=-`, and writes it to a file next to the snapshot. It then panics
    // with a message about cargo.
    let other = assertion(folder.path(), "after", None);
    let (out, error) = (text(&other.stdout), text(&other.stderr));
    assert!(
        !other.status.success() && out.contains("before") && out.contains("after"),
        "{out}"
    );
    assert!(
        out.contains("cargo insta review") && error.contains("panicked"),
        "{out}{error}"
    );
    assert!(folder.path().join("petition.snap.new").exists());
}

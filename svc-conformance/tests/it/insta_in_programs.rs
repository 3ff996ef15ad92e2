//! Why the snapshots of a target's documents (`run --snapshots`) are held by code of the suite and
//! not by insta: its assertions are made for `cargo test`. This test runs itself once more as a
//! program of somebody else would run, and looks at what insta does there. When it fails, insta has
//! become fit for programs, and `src/program/snapshots.rs` can go.

use std::path::Path;
use std::process::{Command, Output};

/// Where the assertion below keeps its snapshot; it asserts nothing without it.
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

/// The assertion in a process whose machine has no cargo; `update` is the only way to tell insta to
/// keep a document.
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

    // It keeps a document because of the environment alone, which a program cannot set for itself
    // without `unsafe`.
    let kept = assertion(folder.path(), "before", Some("always"));
    assert!(
        text(&kept.stdout).contains("running 1 test"),
        "{}",
        text(&kept.stdout)
    );
    assert!(kept.status.success() && folder.path().join("petition.snap").exists());

    // Each run starts cargo in the folder in which the program was built, and complains where there
    // is none.
    let same = assertion(folder.path(), "before", None);
    assert!(same.status.success());
    assert!(
        text(&same.stderr).contains("cargo metadata failed in"),
        "{}",
        text(&same.stderr)
    );

    // A difference, which is none of conformance, is printed to standard output, where
    // `--report json=-` stands, left as a file beside what is kept, and ends in a panic with words
    // about cargo.
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

//! What only this server guarantees. Transcripts contain its choices where the specification leaves
//! one and the conformance suite does not check. Further tests cover conformance in every set-up,
//! and the requirements of a file.
//!
//! The suite proves what every server must do (`tests/conformance.rs`). The choices of this server
//! that the suite observes are pinned in `tests/reference.toml`.

mod answer;
mod configurations;
mod fixture;
mod single_right_keys;
mod transcript;

use std::fs;
use std::path::{Path, PathBuf};

use svc_conformance::catalogue::Catalogue;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/requirements")
}

fn pinned(name: &str) {
    transcript::run(
        &folder().join(name),
        std::env::var_os("UPDATE_PINS").is_some(),
    )
    .unwrap_or_else(|differs| panic!("{differs}"));
    assert!(crate::log::lines() > 100, "the service logs nothing");
    crate::log::assert_clean();
}

#[test]
fn http() {
    pinned("http.txt");
}

#[test]
fn records() {
    pinned("records.txt");
}

#[test]
fn helpers() {
    pinned("helpers.txt");
}

/// Texts for clients contain nothing internal: no SQL, file names or line numbers, and no
/// requirement of the catalogue.
#[test]
fn texts_for_clients_are_theirs() {
    let inside = [
        "select ",
        "insert into",
        "constraint",
        "sqlite",
        ".db",
        "/tmp/",
        ".rs:",
        "panicked",
        "svck_",
    ];
    for name in [
        "requirements/http.txt",
        "requirements/records.txt",
        "requirements/helpers.txt",
        "../reference.toml",
    ] {
        let text = fs::read_to_string(folder().join("..").join(name))
            .expect("pins")
            .to_lowercase();
        for line in text
            .lines()
            .filter(|line| line.starts_with("  !") || name.ends_with("toml"))
        {
            assert!(
                inside.iter().all(|word| !line.contains(word)),
                "{name}: {line}"
            );
            let rows = Catalogue::built_in().expect("a catalogue").requirements();
            assert!(
                !line.contains("  !")
                    || rows
                        .iter()
                        .all(|row| !line.contains(&row.id.to_lowercase())),
                "{line}"
            );
        }
    }
}

/// A transcript with a response that the server does not send reports the line and the difference.
#[test]
fn a_transcript_can_fail() {
    let planted = tempfile::tempdir().expect("a folder");
    let path = planted.path().join("planted.txt");
    let text = fs::read_to_string(folder().join("helpers.txt")).expect("a transcript");
    let (_, section) = text.split_once("= whole-call\n").expect("a section");
    let (section, _) = section.split_once("\n\n").expect("its end");
    fs::write(&path, format!("= whole-call\n{section}\n")).expect("written");
    assert_eq!(transcript::run(&path, false), Ok(()));
    for (right, wrong) in [
        ("  400 atomic", "  400 non-atomic"),
        ("TAG_NAME_DOES_NOT_EXIST", "TAG_UNKNOWN"),
    ] {
        fs::write(
            &path,
            format!("= whole-call\n{}\n", section.replacen(right, wrong, 1)),
        )
        .expect("written");
        let said = transcript::run(&path, false).expect_err("a difference");
        assert!(
            said.contains("planted.txt:") && said.contains(wrong) && said.contains("UPDATE_PINS=1"),
            "{said}"
        );
    }
}

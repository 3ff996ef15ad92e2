//! What only this server promises: what it chose where the interface leaves a choice and the conformance suite does not ask
//! (transcripts), how it conforms however it is set up, and what it owes to a file under it.
//!
//! What every server must do is proven by the suite (`tests/conformance.rs`), and what the suite sees this one choose is pinned
//! in `tests/reference.toml`.

mod answer;
mod fixture;
mod guarded;
mod set_ups;
mod transcript;

use std::fs;
use std::path::{Path, PathBuf};

use svc_conformance::catalogue::Catalogue;

/// Lines of everything in this folder but the answers in transcripts, which are pins and written by the server: what every
/// server must do belongs into the conformance suite.
const MOST_LINES: usize = 1200;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/rows")
}

fn pinned(name: &str) {
    transcript::run(&folder().join(name), std::env::var_os("UPDATE_PINS").is_some())
        .unwrap_or_else(|differs| panic!("{differs}"));
    assert!(crate::log::lines() > 100, "the service says nothing");
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

/// Nothing that a client reads tells of what is inside: no statement, file or line, and no row of the catalogue.
#[test]
fn texts_for_clients_are_theirs() {
    let inside = ["select ", "insert into", "constraint", "sqlite", ".db", "/tmp/", ".rs:", "panicked", "svck_"];
    for name in ["rows/http.txt", "rows/records.txt", "rows/helpers.txt", "../reference.toml"] {
        let text = fs::read_to_string(folder().join("..").join(name)).expect("pins").to_lowercase();
        for line in text.lines().filter(|line| line.starts_with("  !") || name.ends_with("toml")) {
            assert!(inside.iter().all(|word| !line.contains(word)), "{name}: {line}");
            let rows = Catalogue::built_in().expect("a catalogue").rows();
            assert!(!line.contains("  !") || rows.iter().all(|row| !line.contains(&row.id.to_lowercase())), "{line}");
        }
    }
}

/// Whether a folder has no more lines than it may have.
fn is_small(folder: &Path) -> Result<(), String> {
    let mut lines = 0;
    for file in fs::read_dir(folder).map_err(|error| error.to_string())? {
        let path = file.map_err(|error| error.to_string())?.path();
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let is_transcript = path.extension().is_some_and(|end| end == "txt");
        lines += text.lines().filter(|line| !(is_transcript && line.starts_with("  "))).count();
    }
    if lines > MOST_LINES {
        return Err(format!("{} has {lines} lines, more than {MOST_LINES}", folder.display()));
    }
    Ok(())
}

#[test]
fn this_is_no_second_suite() {
    assert_eq!(is_small(&folder()), Ok(()));
    // The check can fail: one line more than there may be.
    let planted = tempfile::tempdir().expect("a folder");
    fs::write(planted.path().join("rows.rs"), "//\n".repeat(MOST_LINES)).expect("written");
    assert_eq!(is_small(planted.path()), Ok(()));
    fs::write(planted.path().join("more.txt"), "GET $base\n").expect("written");
    assert!(is_small(planted.path()).is_err());
}

/// A transcript with an answer that the server does not give says where and what.
#[test]
fn a_transcript_can_fail() {
    let planted = tempfile::tempdir().expect("a folder");
    let path = planted.path().join("planted.txt");
    let text = fs::read_to_string(folder().join("helpers.txt")).expect("a transcript");
    let (_, section) = text.split_once("= whole-call\n").expect("a section");
    let (section, _) = section.split_once("\n\n").expect("its end");
    fs::write(&path, format!("= whole-call\n{section}\n")).expect("written");
    assert_eq!(transcript::run(&path, false), Ok(()));
    for (right, wrong) in [("  400 atomic", "  400 non-atomic"), ("TAG_NAME_DOES_NOT_EXIST", "TAG_UNKNOWN")] {
        fs::write(&path, format!("= whole-call\n{}\n", section.replacen(right, wrong, 1))).expect("written");
        let said = transcript::run(&path, false).expect_err("a difference");
        assert!(said.contains("planted.txt:") && said.contains(wrong) && said.contains("UPDATE_PINS=1"), "{said}");
    }
}

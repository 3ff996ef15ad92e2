//! The matrix of the suite: each MUST requirement has a check, a setting in which it was observed,
//! and a mutant that breaks it.
//!
//! `BLESS=1` writes `matrix.csv`; each test writes its own columns. This test writes requirement,
//! level and checks, `.ci/run settings` the settings, and `matrix_faults` the mutants, from the
//! results of `svc-self-test`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use svc_conformance::catalogue::{Catalogue, Level};

/// MUST requirements without a mutant in the recorded results, each with the reason. Remove an entry
/// when its requirement has one.
const EXEMPT: &[(&str, &str)] = &[
    (
        "HAL-12",
        "binds the suite, which never reads an id from an address: no server can break it",
    ),
    (
        "SCH-09",
        "nothing is sent that a server could accept wrongly: no server can break it",
    ),
];

/// Locked while a test reads or writes the matrix.
pub(crate) static FILE: Mutex<()> = Mutex::new(());

#[test]
fn every_must_row_has_a_check_a_setting_and_a_faulty_server() {
    let _file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("matrix.csv");
    let text = fs::read_to_string(&path).unwrap_or_default();
    let rows = Catalogue::built_in().expect("a catalogue").requirements();
    let mut written = "row,level,checks,seen in,mutant\n".to_owned();
    let mut bare = Vec::new();
    for row in rows {
        let old = text
            .lines()
            .find(|line| line.split(',').next() == Some(row.id.as_str()))
            .unwrap_or_default();
        let mut measured = old.splitn(5, ',').skip(3);
        let (seen, faulty) = (
            measured.next().unwrap_or_default(),
            measured.next().unwrap_or_default(),
        );
        let checks = row.checks.join(" ");
        let _ = writeln!(written, "{},{},{checks},{seen},{faulty}", row.id, row.level);
        let is_exempt = EXEMPT.iter().any(|(id, _)| *id == row.id);
        let lacks = checks.is_empty() || seen.is_empty() || (faulty.is_empty() && !is_exempt);
        if row.level == Level::Must && (lacks || (is_exempt && !faulty.is_empty())) {
            bare.push(format!(
                "{}: checks `{checks}`, seen in `{seen}`, mutant `{faulty}`",
                row.id
            ));
        }
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &written).expect("the matrix can be written");
    } else {
        assert_eq!(text.lines().count(), rows.len() + 1, "run with BLESS=1");
        assert_eq!(bare, Vec::<String>::new());
    }
}

//! The last column of the matrix: for each MUST requirement the mutant whose run failed it, as
//! measured by `svc-self-test`. `BLESS=1` writes it from the results files: that of the last run of
//! all mutants, and that of the mutants that are newer.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use serde_json::Value;
use svc_self_test::mutants::registry;

use crate::matrix::FILE;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns a cell of the last column, whose text may contain commas.
fn cell(name: &str) -> String {
    if name.contains([',', '"']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

#[test]
fn every_faulty_server_of_the_matrix_was_seen_to_fail_its_row() {
    let _file = FILE.lock().unwrap_or_else(PoisonError::into_inner);
    let faults = registry();
    let results = fs::read_to_string(path("self-test.json")).expect("the results");
    let results: Value = serde_json::from_str(&results).expect("JSON");
    let text = fs::read_to_string(path("matrix.csv")).expect("the matrix");
    let update = std::env::var_os("BLESS").is_some();
    let (mut written, mut wrong) = (String::new(), Vec::new());
    for (at, line) in text.lines().enumerate() {
        let mut cells: Vec<String> = line.splitn(5, ',').map(ToOwned::to_owned).collect();
        let row = cells[0].clone();
        if at > 0 {
            let seen = results["seen"][&row].as_str().unwrap_or_default();
            if update {
                cells[4] = cell(seen);
            }
            let is_there = || {
                faults
                    .iter()
                    .any(|fault| fault.name == seen && fault.rows.contains(&row))
            };
            if cells[4] != cell(seen) || (!seen.is_empty() && !is_there()) {
                wrong.push(format!(
                    "{row}: the matrix has {}, the results have {seen:?}",
                    cells[4]
                ));
            }
        }
        written.push_str(&(cells.join(",") + "\n"));
    }
    if update {
        fs::write(path("matrix.csv"), &written).expect("the matrix can be written");
    }
    assert_eq!(
        wrong,
        Vec::<String>::new(),
        "run with BLESS=1, after `self-test` if a mutant is new"
    );
}

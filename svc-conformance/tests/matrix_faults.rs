//! The last column of the matrix: for each MUST row the faulty server of the registry that breaks it and the fewest others.

use std::fs;
use std::path::{Path, PathBuf};

use svc_conformance::self_test::faults::{Fault, registry};

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("matrix.csv")
}

#[test]
fn every_faulty_server_of_the_matrix_is_there_and_breaks_its_row() {
    let faults = registry();
    let text = fs::read_to_string(path()).expect("the matrix");
    let update = std::env::var_os("UPDATE_MATRIX").is_some();
    let (mut written, mut wrong) = (String::new(), Vec::new());
    for (at, line) in text.lines().enumerate() {
        let mut cells: Vec<String> = line.splitn(5, ',').map(ToOwned::to_owned).collect();
        let row = cells[0].clone();
        if at > 0 && update {
            let named = faults.iter().filter(|fault| cells[1] == "MUST" && fault.rows.contains(&row));
            let name = named.min_by_key(|fault| fault.rows.len()).map(|fault| fault.name.clone()).unwrap_or_default();
            let quoted = name.contains([',', '"']);
            cells[4] = if quoted { format!("\"{}\"", name.replace('"', "\"\"")) } else { name };
        }
        let name = cells[4].trim_matches('"').replace("\"\"", "\"");
        let breaks = |fault: &Fault| fault.name == name && fault.breaks(&row);
        if at > 0 && !name.is_empty() && !faults.iter().any(breaks) {
            wrong.push(format!("{row}: {name}"));
        }
        written.push_str(&(cells.join(",") + "\n"));
    }
    if update {
        fs::write(path(), &written).expect("the matrix can be written");
    }
    assert_eq!(wrong, Vec::<String>::new(), "run with UPDATE_MATRIX=1");
}

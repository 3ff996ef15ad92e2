//! The suite and its self-test name requirements by their constants, so that the compiler checks
//! each id.

use std::fs;
use std::path::{Path, PathBuf};

use svc_conformance::catalogue::Catalogue;

/// Returns the strings that are exactly an id, outside comments and the tests at the end of a file.
#[test]
fn no_id_of_a_row_stands_as_text() {
    let mut files = Vec::new();
    for folder in ["src", "self-test/src"] {
        sources(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
            &mut files,
        );
    }
    assert!(!files.is_empty());
    let catalogue = Catalogue::built_in().expect("a catalogue");
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a source file");
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (number, line) in code
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            // Every second part is between quotes.
            for part in line
                .split('"')
                .skip(1)
                .step_by(2)
                .filter(|part| catalogue.requirement(part).is_some())
            {
                let constant = part.replace('-', "_").to_uppercase();
                found.push(format!(
                    "{}:{}: write row::{constant} for \"{part}\"",
                    file.display(),
                    number + 1
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

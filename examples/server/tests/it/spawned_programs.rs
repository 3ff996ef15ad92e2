//! `cargo test` starts no programs except those of this workspace and cargo itself. Tests that
//! start others are ignored.

use std::fs;
use std::path::{Path, PathBuf};

/// The allowed ways to start a process: the test program itself, a program of its package, or
/// cargo.
const ALLOWED: [&str; 3] = ["std::env::current_exe(", "env!(\"CARGO_BIN_EXE_", "cargo)"];

/// The modules of integration tests that may start other programs, such as PostgreSQL.
const EXEMPT: [&str; 4] = [
    "tests/it/postgres/",
    "tests/it/mariadb/",
    "tests/it/browser/",
    "tests/it/languages/",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Collects the Rust sources in a folder, with their paths below the root of the repository.
fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path
                .strip_prefix(root())
                .expect("a path in the workspace")
                .display()
                .to_string();
            found.push((name, fs::read_to_string(&path).expect("a source")));
        }
    }
}

/// The sources of all packages, and whether each is exempt.
fn all_sources() -> Vec<(String, String, bool)> {
    let mut found = Vec::new();
    let packages = [
        "svc-core",
        "svc-core/sql/mysql",
        "svc-tower",
        "svc-tower/docs",
        "svc-sqlite",
        "svc-postgres",
        "svc-conformance",
        "examples/server",
        "examples/vendors",
    ];
    for package in packages {
        for part in ["src", "tests"] {
            sources(&root().join(package).join(part), &mut found);
        }
    }
    assert!(!found.is_empty());
    let is_exempt = |name: &str| EXEMPT.iter().any(|folder| name.contains(folder));
    found
        .into_iter()
        .map(|(name, text)| (name.clone(), text, is_exempt(&name)))
        .collect()
}

/// Returns the programs that a source starts. A variable is replaced by its value.
fn started(text: &str) -> Vec<String> {
    // In two parts, so that this file does not contain the marker.
    let mark = concat!("Command", "::new(");
    let after = |rest: &str| {
        rest.trim_start()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let mut all = Vec::new();
    for rest in text.split(mark).skip(1).map(after) {
        let name: String = rest
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        let set = text
            .split(&format!("let {name} = "))
            .nth(1)
            .filter(|_| rest == format!("{name})"));
        all.push(set.map_or(rest.clone(), |set| format!("{} {rest}", after(set))));
    }
    all
}

#[test]
fn tests_start_no_other_program() {
    let mut starts = 0;
    for (name, text, _) in all_sources().iter().filter(|(.., is_exempt)| !is_exempt) {
        for program in started(text) {
            assert!(
                ALLOWED.iter().any(|allowed| program.contains(allowed)),
                "{name} starts {program}"
            );
            starts += 1;
        }
    }
    assert!(starts > 0, "no start of a program was found");
}

#[test]
fn tests_that_may_start_others_are_ignored() {
    let mut tests = 0;
    for (name, text, _) in all_sources().iter().filter(|(.., is_exempt)| *is_exempt) {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for pair in lines
            .windows(2)
            .filter(|pair| pair[0].starts_with("#[test") || pair[0].starts_with("#[tokio::test"))
        {
            assert!(
                pair[1].starts_with("#[ignore = \""),
                "{name}: a test without #[ignore]: {}",
                pair[1]
            );
            tests += 1;
        }
    }
    assert!(tests > 0, "no test was found");
}

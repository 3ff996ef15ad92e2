//! `cargo test` starts no program but those of this workspace and cargo itself, which runs it.

use std::fs;
use std::path::{Path, PathBuf};

/// How a test may begin a process: itself again, a program of its package, or cargo.
const ALLOWED: [&str; 3] = ["std::env::current_exe(", "env!(\"CARGO_BIN_EXE_", "cargo)"];

/// Files that plain `cargo test` does not build; their target needs a feature that no default turns on.
const NEEDS_A_FEATURE: [(&str, &str); 2] = [
    ("svc-conformance/tests/other_language.rs", "\"program\", \"other-languages\""),
    ("svc-conformance/tests/python.rs", "\"program\", \"other-languages\""),
];

/// Files of folders whose tests return at once, or are ignored, unless this variable of the environment is set, as `.ci/run` does.
const NEEDS_A_VARIABLE: [(&str, &str); 4] = [
    ("examples/tests/browser/driver.rs", "SVC_BROWSER_TESTS"),
    ("examples/tests/browser/walk.rs", "SVC_BROWSER_TESTS"),
    ("examples/tests/browser/first_view.rs", "SVC_FIRST_VIEW"),
    ("examples/tests/keep_in_step/main.rs", "SVC_GUIDE_TESTS"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every source of a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// What a text starts as a program; a name is followed to where it is set.
fn started(text: &str) -> Vec<String> {
    // In two parts, so that this file is not one of those that start something.
    let mark = concat!("Command", "::new(");
    let after = |rest: &str| rest.trim_start().lines().next().unwrap_or_default().to_owned();
    let mut all = Vec::new();
    for rest in text.split(mark).skip(1).map(after) {
        let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let set = text.split(&format!("let {name} = ")).nth(1).filter(|_| rest == format!("{name})"));
        all.push(set.map_or(rest.clone(), |set| format!("{} {rest}", after(set))));
    }
    all
}

#[test]
fn tests_start_no_foreign_program() {
    let mut files = Vec::new();
    for package in ["svc-core", "svc-tower", "svc-sqlite", "svc-conformance", "examples", "examples/vendors"] {
        for part in ["src", "tests"] {
            sources(&root().join(package).join(part), &mut files);
        }
    }
    assert!(files.len() > 200, "{} files", files.len());
    let mut starts = 0;
    for file in files {
        let name = file.strip_prefix(root()).expect("a part of the workspace").display().to_string();
        if NEEDS_A_FEATURE.iter().chain(&NEEDS_A_VARIABLE).any(|(exempt, _)| *exempt == name) {
            continue;
        }
        for program in started(&fs::read_to_string(&file).expect("a source")) {
            assert!(ALLOWED.iter().any(|allowed| program.contains(allowed)), "{name} starts {program}");
            starts += 1;
        }
    }
    assert!(starts > 5, "{starts}");
}

#[test]
fn what_starts_others_is_not_built_by_default() {
    for (file, feature) in NEEDS_A_FEATURE {
        let (package, test) = file.split_once("/tests/").expect("a test");
        let manifest = fs::read_to_string(root().join(package).join("Cargo.toml")).expect("a manifest");
        let target = format!("name = \"{}\"\nrequired-features = [{feature}]", test.trim_end_matches(".rs"));
        assert!(manifest.contains(&target), "{target}");
        let default = manifest.lines().find(|line| line.starts_with("default = ")).unwrap_or_default();
        // One of them is enough, and it is the last.
        let last = feature.rsplit(", ").next().unwrap_or(feature);
        assert!(!default.contains(last), "{default}");
    }
}

#[test]
fn what_starts_others_does_nothing_without_its_variable() {
    for (file, variable) in NEEDS_A_VARIABLE {
        let mut files = Vec::new();
        sources(root().join(file).parent().expect("a folder"), &mut files);
        let contents: Vec<String> = files.iter().map(|file| fs::read_to_string(file).expect("a source")).collect();
        assert!(contents.iter().any(|text| text.contains(&format!("var_os(\"{variable}\")"))), "{file}");
        let count = |mark: &str| contents.iter().map(|text| text.matches(mark).count()).sum::<usize>();
        let tests = count("#[tokio::test]");
        let returns = count("-> TestResult {\n    if !is_wanted() {\n        return Ok(());");
        let ignored = count("#[tokio::test]\n#[ignore = \"");
        assert!(
            tests > 0 && tests == returns + ignored,
            "{file}: {tests} tests, {returns} return, {ignored} are ignored"
        );
    }
}

//! What judges a server must not share a mistake with it: of the workspace the suite uses the declaration type alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() && !entry.ends_with("self_test") {
            sources(&entry, out);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            out.push(entry);
        }
    }
}

#[test]
fn the_sources_name_the_declaration_alone() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 20, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).expect("a source");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for (number, line) in code.enumerate() {
            assert!(!line.contains("svc_tower") && !line.contains("svc_sqlite"), "{}:{number}: {line}", file.display());
            let named = line.matches("svc_core::").count();
            let allowed = line.matches("svc_core::capability::").count();
            assert_eq!(named, allowed, "{}:{number}: {line}", file.display());
        }
    }
}

#[test]
fn the_default_program_is_free_of_the_servers() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["tree", "-p", "svc-conformance", "-e", "normal", "--offline", "--prefix", "none"];
    let output = Command::new(cargo).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo");
    let tree = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(tree.contains("svc-core") && tree.contains("proptest"), "{tree}");
    for crate_name in ["svc-tower", "svc-sqlite", "rusqlite", "axum"] {
        assert!(!tree.lines().any(|line| line.starts_with(&format!("{crate_name} "))), "{crate_name} in {tree}");
    }
}

//! The suite must not share a mistake with the servers that it tests. Of the workspace, it uses
//! only `svc-catalogue` and `svc-declaration`. The test reads its dependency tree.

use std::process::Command;

#[test]
fn the_suite_and_its_program_are_free_of_the_servers() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = [
        "tree",
        "-p",
        "svc-conformance",
        "-e",
        "normal",
        "--offline",
        "--prefix",
        "none",
    ];
    let output = Command::new(cargo)
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    let tree = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        tree.contains("svc-declaration") && tree.contains("proptest"),
        "{tree}"
    );
    let own = ["svc-conformance", "svc-catalogue", "svc-declaration"];
    let is_foreign = |name: &str| {
        (name.starts_with("svc-") && !own.contains(&name)) || ["rusqlite", "axum"].contains(&name)
    };
    let foreign: Vec<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| is_foreign(name))
        .collect();
    assert!(foreign.is_empty(), "{foreign:?} in {tree}");
}

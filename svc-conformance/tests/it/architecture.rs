//! What judges a server must not share a mistake with it: of the workspace the suite uses the
//! declaration type alone, which the crates that it is built from say.

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
    for crate_name in [
        "svc-core",
        "svc-tower",
        "svc-docs",
        "svc-sqlite",
        "rusqlite",
        "axum",
    ] {
        assert!(
            !tree
                .lines()
                .any(|line| line.starts_with(&format!("{crate_name} "))),
            "{crate_name} in {tree}"
        );
    }
}

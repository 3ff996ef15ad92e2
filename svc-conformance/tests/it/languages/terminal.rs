//! The program without arguments on a real terminal: the key is not shown, and the run uses the
//! typed answers.

use std::path::Path;
use std::process::Command;

use crate::support::{Server, ended};

#[test]
#[ignore = "needs Python: .ci/languages"]
fn the_questions_lead_to_a_file_and_a_run_without_showing_the_key() {
    let (server, folder) = (Server::good(), tempfile::tempdir().expect("a folder"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/languages/terminal.py");
    let mut command = Command::new("python3");
    command
        .arg("-B")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_svc-conformance"))
        .current_dir(folder.path());
    let dialogue = [
        ["URL of the entry point", &server.base],
        ["leave empty if there is none)", "hidden:k-one"],
        ["svc-conformance.toml", "y"],
        ["Run now?", "no"],
    ];
    let (code, said) = ended(
        &command
            .args(dialogue.as_flattened())
            .output()
            .expect("python3 runs"),
    );
    assert!(code == 0 && said.contains("exit code 0"), "{said}");
    assert!(
        said.contains("svc-conformance.toml is written") && !said.contains("k-one"),
        "{said}"
    );
    let text = std::fs::read_to_string(folder.path().join("svc-conformance.toml")).expect("a file");
    assert!(
        text.contains(&server.base) && text.contains("people") && !text.contains("k-one"),
        "{text}"
    );
}

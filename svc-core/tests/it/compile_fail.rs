//! Programs that must not compile, and the error messages of the compiler.
//!
//! Each case is a file in `tests/compile_fail/`. Its first lines have the expected messages:
//! `//# error:` is the first line of the first error, and `//# contains:` is a text that the errors
//! must contain. The rest of the compiler's output is not checked.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Returns the texts of the lines of a case that start with a mark.
fn expected<'t>(text: &'t str, mark: &str) -> Vec<&'t str> {
    text.lines()
        .filter_map(|line| line.strip_prefix(mark))
        .map(str::trim)
        .collect()
}

fn cases() -> BTreeMap<String, PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let files = fs::read_dir(folder)
        .expect("the folder of the cases")
        .map(|file| file.expect("a file").path());
    files
        .map(|path| {
            (
                path.file_stem()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned(),
                path,
            )
        })
        .collect()
}

/// Creates a package with one program for each case, outside the workspace but with its lock file.
fn package(cases: &BTreeMap<String, PathBuf>) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile-fail");
    let library = env!("CARGO_MANIFEST_DIR");
    fs::create_dir_all(&folder).expect("a folder");
    let mut manifest = format!(
        "[package]\nname = \"cases\"\nversion = \"0.0.0\"\nedition = \"2024\"\nautobins = false\n\n[workspace]\n\n\
         [dependencies]\nasync-trait = \"0.1\"\nsvc-core = {{ path = {library:?} }}\n"
    );
    for (name, path) in cases {
        let _ = write!(
            manifest,
            "\n[[bin]]\nname = {name:?}\npath = \"{}\"\n",
            path.display()
        );
    }
    fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    let lock = Path::new(library).join("../Cargo.lock");
    fs::copy(lock, folder.join("Cargo.lock")).expect("the workspace's lock file");
    folder
}

/// Returns the errors of each program: the message and the whole output for it.
fn errors(folder: &Path) -> BTreeMap<String, Vec<(String, String)>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(folder).args([
        "check",
        "--bins",
        "--keep-going",
        "--offline",
        "--quiet",
        "--message-format=json",
    ]);
    command
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = command.output().expect("cargo runs");
    let mut errors: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let said = &message["message"];
        if message["reason"] != "compiler-message" || said["level"] != "error" {
            continue;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let entry = (text(&said["message"]), text(&said["rendered"]));
        errors
            .entry(text(&message["target"]["name"]))
            .or_default()
            .push(entry);
    }
    assert!(
        !errors.is_empty(),
        "cargo reports no errors for the cases: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    errors
}

/// For example, an operation without an implementation cannot be registered, and a computed field
/// cannot be made writable.
#[test]
fn what_must_not_compile_says_what_to_do() {
    let cases = cases();
    assert!(cases.len() >= 10, "at least ten cases");
    let errors = errors(&package(&cases));
    let mut wrong = Vec::new();
    for (name, path) in &cases {
        let text = fs::read_to_string(path).expect("a case");
        let (first, says) = (
            expected(&text, "//# error:"),
            expected(&text, "//# contains:"),
        );
        let Some(found) = errors.get(name).filter(|found| !found.is_empty()) else {
            wrong.push(format!("{name} compiles"));
            continue;
        };
        let message = found.first().map_or("", |(message, _)| {
            message.lines().next().unwrap_or_default()
        });
        let all: String = found
            .iter()
            .map(|(_, rendered)| rendered.as_str())
            .collect();
        if first != [message] {
            wrong.push(format!(
                "{name}: the first error is\n  {message}\nexpected\n  {first:?}\n{all}"
            ));
        }
        for sentence in says {
            if !all.contains(sentence) {
                wrong.push(format!(
                    "{name}: the errors do not contain\n  {sentence}\n{all}"
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases\n\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n\n")
    );
}

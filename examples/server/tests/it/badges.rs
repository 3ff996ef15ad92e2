//! The badges of the README. Each states the result of a step of `.ci/steps`, with numbers from the
//! files that record results. `BLESS=1` writes them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

type TestResult<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The folder of the badges, below the root of the repository.
const FOLDER: &str = "examples/pictures";
/// Approximate width of a character of 11 px.
const LETTER: usize = 7;
const MARGIN: usize = 6;

/// A picture with a label and a value.
struct Badge {
    /// The name of its file.
    name: &'static str,
    label: &'static str,
    says: String,
    /// The part of a line of `.ci/steps` that fails if the claim is wrong.
    proof: &'static str,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> TestResult<String> {
    Ok(fs::read_to_string(root().join(path)).map_err(|error| format!("{path}: {error}"))?)
}

/// Returns the value of a key in a TOML file, if it is on its own line.
fn setting(file: &str, key: &str) -> TestResult<String> {
    let text = read(file)?;
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
    Ok(value
        .ok_or_else(|| format!("no {key} in {file}"))?
        .trim()
        .trim_matches('"')
        .to_owned())
}

/// Returns whether the suite observed every MUST requirement at the demo in any setting, or how many.
fn requirements() -> TestResult<String> {
    let matrix = read("svc-conformance/matrix.csv")?;
    let rows = matrix
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>());
    let (mut seen, mut all) = (0, 0);
    for row in rows.filter(|row| row.get(1) == Some(&"MUST")) {
        all += 1;
        seen += u32::from(row.get(3).is_some_and(|setting| !setting.is_empty()));
    }
    Ok(if seen == all {
        "every MUST requirement observed".to_owned()
    } else {
        format!("{seen} of {all} MUST requirements observed")
    })
}

/// Returns how many of all mutants the suite detected at its lowest intensity, which CI uses.
fn mutants() -> TestResult<String> {
    let results: Value = serde_json::from_str(&read("svc-conformance/self-test.json")?)?;
    let number = |name: &str| results[name].as_u64().ok_or_else(|| format!("no {name}"));
    Ok(format!(
        "{} of {} detected",
        number("quick_killed")?,
        number("quick_runs")?
    ))
}

fn badges() -> TestResult<Vec<Badge>> {
    let of = |name, label, says, proof| Badge {
        name,
        label,
        says,
        proof,
    };
    Ok(vec![
        of(
            "conformance",
            "conformance",
            requirements()?,
            "step settings .ci/ignored conformance::the_demo_",
        ),
        of(
            "faults",
            "mutants, quick suite",
            mutants()?,
            "cargo run --release --locked -p svc-self-test",
        ),
        of(
            "axe",
            "accessibility",
            "axe finds nothing".to_owned(),
            "step accessibility .ci/axe",
        ),
        of(
            "unsafe",
            "unsafe",
            setting("Cargo.toml", "unsafe_code")?,
            "cargo clippy --workspace --all-targets --locked",
        ),
        of(
            "rust",
            "Rust",
            format!("{} or later", setting("Cargo.toml", "rust-version")?),
            "cargo test --locked",
        ),
    ])
}

fn wide(text: &str) -> usize {
    text.chars().count() * LETTER + 2 * MARGIN
}

fn drawn(badge: &Badge) -> String {
    let Badge { label, says, .. } = badge;
    let (left, right) = (wide(label), wide(says));
    let text = |text: &str, at: usize| {
        let length = text.chars().count() * LETTER;
        format!(
            "<text x=\"{}\" y=\"14\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\">{text}</text>",
            at + MARGIN
        )
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{label}: {says}\" width=\"{all}\" height=\"20\">\
         <title>{label}: {says}</title>\
         <rect width=\"{left}\" height=\"20\" fill=\"#444\"/><rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"#1b6e3c\"/>\
         <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">{}{}</g></svg>\n",
        text(label, 0),
        text(says, left),
        all = left + right,
    )
}

#[test]
fn the_badges_say_what_ci_proves() -> TestResult {
    let update = std::env::var_os("BLESS").is_some();
    let (ci, readme) = (read(".ci/steps")?, read("README.md")?);
    for badge in badges()? {
        let path = format!("{FOLDER}/{}.svg", badge.name);
        let picture = drawn(&badge);
        if update {
            fs::create_dir_all(root().join(FOLDER))?;
            fs::write(root().join(&path), &picture)?;
        }
        assert_eq!(read(&path)?, picture, "run with BLESS=1: {path}");
        assert!(
            ci.lines()
                .any(|line| line.trim().starts_with("step ") && line.contains(badge.proof)),
            "{}",
            badge.proof
        );
        let shown = format!("![{}: {}]({path})", badge.label, badge.says);
        assert!(readme.contains(&shown), "the README lacks {shown}");
    }
    Ok(())
}

/// The tests also run with the oldest supported compiler.
#[test]
fn the_workflow_tests_the_oldest_compiler() -> TestResult {
    let toolchains = format!(
        "toolchain: [stable, {}.0]",
        setting("Cargo.toml", "rust-version")?
    );
    assert!(
        read(".github/workflows/ci.yml")?.contains(&toolchains),
        "the workflow lacks `{toolchains}`"
    );
    Ok(())
}

//! Advice for a requirement that could not be decided, in one sentence. Following the advice
//! changes the verdict.

use crate::catalogue::{Condition, ConditionTerm, Requirement};
use crate::declared::DeclaredApi;
use crate::kinds;
use crate::needed_fixtures::wanted;

/// The remedies by a part of the reason.
const REMEDIES: &[(&str, &str)] = &[
    (
        "unstable",
        "run it alone with --only to see whether the failure occurs again",
    ),
    (
        "--check-timeout",
        "give the check more time with --check-timeout",
    ),
    (
        "budget of requests",
        "start with fewer requirements (--only)",
    ),
    (
        "budget of",
        "raise --max-records, or start with fewer requirements (--only)",
    ),
    (
        "the server limits the rate",
        "send fewer requests per second with --rate",
    ),
    (
        "arrived within",
        "allow more time for messages with --webhook-timeout",
    ),
    ("the key lacks the right", "use a key that has this right"),
    (
        "no URL of a missing record is known",
        "name one as `missing_address` in a declaration file",
    ),
    (
        "another client writes",
        "run it again while no other client writes there",
    ),
    (
        "too many records to read all pages",
        "use a key with fewer records",
    ),
];

/// Returns the advice for an undecided requirement.
pub(super) fn advice(declared: &DeclaredApi, row: &Requirement, reason: &str) -> String {
    let leave_out = format!("exclude the requirement with --exclude {}", row.id);
    match remedy(declared, row, reason) {
        Some(what) => format!("What to do: {what}, or {leave_out}."),
        None => format!("What to do: {leave_out}."),
    }
}

/// Returns what would change the verdict of a requirement, if anything does.
fn remedy(declared: &DeclaredApi, row: &Requirement, reason: &str) -> Option<String> {
    Some(
        if let Some((_, what)) = REMEDIES.iter().find(|(words, _)| reason.contains(words)) {
            (*what).to_owned()
        } else if let Some(name) = misplaced(reason) {
            format!("pass the URL of a helper that the key may use with --fixture {name}")
        } else if let Some(name) = asked(reason)
            .or_else(|| wanted(declared, row))
            .filter(|name| is_open(declared, name))
        {
            match name.strip_prefix(kinds::HELPER) {
                Some(helper) => format!(
                    "pass the URL of a `{helper}_helper` with --fixture {name}=ADDRESS, or set \
                 `\"{name}\"` under `[fixture]` in a declaration file"
                ),
                None => format!(
                    "name a suitable record with --fixture {name}=ADDRESS, or set `fixture.{name}` in a declaration file"
                ),
            }
        } else if let Some(link) = row.link().filter(|link| link.is_to_person()) {
            format!(
                "use a key that is bound to a person, or remove the link `{}` from the declaration",
                link.name
            )
        } else if depends_on_declared(&row.applies_if) {
            "if the server does not support it, remove it from the declaration".to_owned()
        } else {
            return None;
        },
    )
}

/// Whether a condition holds because of something that is in the declaration.
fn depends_on_declared(condition: &Condition) -> bool {
    match condition {
        Condition::Is(word) => is_declared(&word.term),
        Condition::Not(_) => false,
        Condition::All(list) | Condition::Any(list) => list.iter().any(depends_on_declared),
    }
}

/// Whether a declaration contains what a term is about.
const fn is_declared(term: &ConditionTerm) -> bool {
    !matches!(
        term,
        ConditionTerm::Always
            | ConditionTerm::Never
            | ConditionTerm::AnyKind
            | ConditionTerm::HelpersOnly
            | ConditionTerm::OperationMissing
            | ConditionTerm::FunctionMissing
            | ConditionTerm::Link { owner: None, .. }
            | ConditionTerm::Auth
            | ConditionTerm::OtherKey
            | ConditionTerm::RestrictedKey
            | ConditionTerm::WebhookReceiver
            | ConditionTerm::MissingAddress
            | ConditionTerm::Encountered(_)
    )
}

/// Returns the fixture that a reason names, such as `event` in "none is named as a fixture
/// (event)".
fn asked(reason: &str) -> Option<&'static str> {
    let (_, rest) = reason.split_once("named as a fixture (")?;
    named(rest.split_once(')')?.0)
}

/// Returns the fixture that does not exist according to a reason.
fn misplaced(reason: &str) -> Option<&'static str> {
    let (_, rest) = reason.split_once("the fixture ")?;
    named(rest.split_once(" does not exist")?.0)
}

fn named(name: &str) -> Option<&'static str> {
    kinds::fixtures().into_iter().find(|known| *known == name)
}

/// Whether no fixture with this name is given yet.
fn is_open(declared: &DeclaredApi, name: &str) -> bool {
    !declared.text.fixture.contains_key(name)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::REMEDIES;

    fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            if entry.path().is_dir() {
                sources(&entry.path(), into);
            } else if entry
                .path()
                .file_name()
                .is_some_and(|name| name != "advice.rs")
            {
                into.push(entry.path());
            }
        }
    }

    /// Every remedy must match a reason, and every option that it names must exist.
    #[test]
    fn every_remedy_is_of_a_reason_and_names_options_that_there_are() {
        let mut files = Vec::new();
        sources(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            &mut files,
        );
        let texts: Vec<String> = files
            .iter()
            .map(|file| fs::read_to_string(file).expect("a source"))
            .collect();
        let options = include_str!("../program/cli.rs");
        for (words, what) in REMEDIES {
            assert!(
                texts.iter().any(|text| text.contains(words)),
                "no reason contains `{words}`"
            );
            for option in what.split("--").skip(1) {
                let name: String = option
                    .chars()
                    .take_while(|c| c.is_ascii_lowercase() || *c == '-')
                    .collect();
                let field = format!("pub(super) {}:", name.replace('-', "_"));
                assert!(options.contains(&field), "there is no option --{name}");
            }
        }
    }
}

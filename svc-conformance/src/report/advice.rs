//! What to do about a row that could not be decided, in one sentence. Whoever follows it gets a verdict.

use crate::catalogue::Row;
use crate::declared::Declared;
use crate::kinds;
use crate::wanted::wanted;

/// What to do about an undecided row.
pub(super) fn advice(declared: &Declared, row: &Row, reason: &str) -> String {
    let what = if reason.starts_with("unstable") {
        "run it alone with --only to see whether it happens again".to_owned()
    } else if reason.contains("--check-timeout") {
        "give the check more time with --check-timeout".to_owned()
    } else if reason.contains("budget of requests") {
        "start with fewer rows by --only".to_owned()
    } else if reason.contains("budget of") {
        "raise --max-records, or start with fewer rows by --only".to_owned()
    } else if reason.contains("the server limits the rate") {
        "send fewer requests a second with --rate".to_owned()
    } else if let Some(name) = misplaced(reason) {
        format!("give --fixture {name} the address of a helper that the key may call")
    } else if let Some(name) = asked(reason).or_else(|| wanted(declared, row)).filter(|name| is_open(declared, name)) {
        match name.strip_prefix(kinds::HELPER) {
            Some(helper) => format!(
                "give the address of a `{helper}_helper` with --fixture {name}=ADDRESS, or as `\"{name}\"` under `[fixture]` in \
                 a declaration file"
            ),
            None => format!(
                "name a record that shows it with --fixture {name}=ADDRESS, or as `fixture.{name}` in a declaration file"
            ),
        }
    } else if let Some(link) = row.link().filter(|link| link.is_to_person()) {
        format!("use a key that is bound to a person, or take the link `{}` out of the declaration", link.name)
    } else {
        "take what the server does not have out of the declaration".to_owned()
    };
    format!("What to do: {what}; or leave the row out with --except {}.", row.id)
}

/// The fixture that a reason asks for, such as `event` in "none is named as a fixture (event)".
fn asked(reason: &str) -> Option<&'static str> {
    let (_, rest) = reason.split_once("named as a fixture (")?;
    named(rest.split_once(')')?.0)
}

/// The fixture whose address leads nowhere, as a reason says.
fn misplaced(reason: &str) -> Option<&'static str> {
    let (_, rest) = reason.split_once("the fixture ")?;
    named(rest.split_once(" is not there")?.0)
}

fn named(name: &str) -> Option<&'static str> {
    kinds::fixtures().into_iter().find(|known| *known == name)
}

/// Whether no fixture of this name is given yet.
fn is_open(declared: &Declared, name: &str) -> bool {
    !declared.text.fixture.contains_key(name)
}

//! What to do about a row that could not be decided, in one sentence.

use crate::catalogue::Row;
use crate::declared::Declared;
use crate::wanted::wanted;

/// What to do about an undecided row.
pub(super) fn advice(declared: &Declared, row: &Row, reason: &str) -> String {
    let what = if reason.starts_with("unstable") {
        "run it alone with --only to see whether it happens again".to_owned()
    } else if reason.contains("--check-timeout") {
        "give the check more time with --check-timeout".to_owned()
    } else if reason.contains("budget of") {
        "raise --max-records, or start with fewer rows by --only".to_owned()
    } else if let Some(name) = wanted(declared, row).filter(|name| !declared.text.fixture.contains_key(*name)) {
        format!(
            "name a record that shows it with --fixture {name}=ADDRESS, or as `fixture.{name}` in a declaration file"
        )
    } else if let Some(link) = row.link().filter(|link| link.is_to_person()) {
        format!("use a key that is bound to a person, or take the link `{}` out of the declaration", link.name)
    } else {
        "take what the server does not have out of the declaration".to_owned()
    };
    format!("What to do: {what}; or leave the row out with --except {}.", row.id)
}

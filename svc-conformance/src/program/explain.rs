//! `explain`: shows one requirement or one check.

use std::fmt::Write as _;

use super::catalogue::{abbreviations, page};
use super::{ProgramError, say};
use crate::catalogue::{Catalogue, Requirement};
use crate::check::Check;
use crate::checks;
use crate::passive;

pub(super) fn explain(what: &str) -> Result<u8, ProgramError> {
    let catalogue =
        Catalogue::built_in().map_err(|error| ProgramError::new(5, error.to_string()))?;
    let all = checks::all();
    if let Some(row) = catalogue
        .requirements()
        .iter()
        .find(|row| row.id.eq_ignore_ascii_case(what))
    {
        say(&of_row(row, &all));
        return Ok(0);
    }
    if let Some(check) = all.iter().find(|check| check.id.eq_ignore_ascii_case(what)) {
        say(&of_check(check, catalogue));
        return Ok(0);
    }
    Err(ProgramError::usage(format!(
        "`{what}` is neither a requirement nor a check; `svc-conformance list` shows all"
    )))
}

fn of_row(row: &Requirement, all: &[Check]) -> String {
    let mut text = format!("{} {}\n\n{}\n\n", row.id, row.level, row.statement);
    let _ = writeln!(text, "section            {}", row.section);
    let _ = writeln!(text, "applies when       {}", row.applies_if.describe());
    let _ = writeln!(text, "how to test        {}", spelled_out(&row.observed));
    let _ = writeln!(text, "reference server   {}", spelled_out(&row.reference));
    let checks: Vec<&Check> = all.iter().filter(|check| check.covers(row)).collect();
    if passive::ROWS.contains(&row.id.as_str()) {
        text.push_str("also checked in    each response that contains it\n");
    }
    for check in &checks {
        let _ = writeln!(text, "check              {}", check.id);
    }
    let _ = writeln!(
        text,
        "page               {}, written by: svc-conformance catalogue DIR",
        page(&row.id)
    );
    if let Some(check) = checks.first() {
        let _ = writeln!(
            text,
            "\nRun it alone: svc-conformance run URL --only {}",
            check.id
        );
    }
    text
}

/// Returns a note of the catalogue, followed by a line for each of its abbreviations. A note that
/// is only an abbreviation is replaced by its meaning.
fn spelled_out(note: &str) -> String {
    let meaning = |word: &str| abbreviations().iter().find(|(known, _)| *known == word);
    if let Some((_, means)) = meaning(note.trim_end_matches('.')) {
        return (*means).to_owned();
    }
    let mut text = note.to_owned();
    for (at, word) in note.split(|c: char| !c.is_ascii_alphanumeric()).enumerate() {
        let is_abbreviation = at == 0 || word.chars().all(|c| c.is_ascii_uppercase());
        let is_new = !text.contains(&format!("({word} = "));
        if let Some((word, means)) = meaning(word).filter(|_| is_abbreviation && is_new) {
            let _ = write!(text, "\n{:19}({word} = {means})", "");
        }
    }
    text
}

fn of_check(check: &Check, catalogue: &Catalogue) -> String {
    let mut text = format!("{}\n\n", check.id);
    let needs = catalogue
        .condition(&check.condition())
        .map_or_else(|_| check.condition().into_owned(), |needs| needs.describe());
    let _ = writeln!(text, "needs        {needs}");
    let _ = writeln!(text, "intensity    {} or higher", check.intensity.as_str());
    let _ = writeln!(
        text,
        "writes       {}",
        if check.writes { "yes" } else { "no" }
    );
    if check.side_effects {
        text.push_str(
            "side effects can send messages to people; runs only with --allow-side-effects\n",
        );
    }
    for row in catalogue
        .requirements()
        .iter()
        .filter(|row| check.covers(row))
    {
        let _ = writeln!(text, "\n{} {}\n  {}", row.id, row.level, row.statement);
    }
    text
}

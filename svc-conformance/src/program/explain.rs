//! `explain`: shows one requirement or one check.

use std::fmt::Write as _;

use super::catalogue::page;
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
    let mut text = format!(
        "{} {}  ({})\n\n{}\n\n",
        row.id, row.level, row.section, row.statement
    );
    let _ = writeln!(text, "applies when       {}", row.applies_if.describe());
    let _ = writeln!(text, "observed by        {}", row.observed);
    let _ = writeln!(text, "reference server   {}", row.reference);
    let checks: Vec<&Check> = all.iter().filter(|check| check.covers(row)).collect();
    if passive::ROWS.contains(&row.id.as_str()) {
        text.push_str("seen in            every response of a run\n");
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

fn of_check(check: &Check, catalogue: &Catalogue) -> String {
    let mut text = format!("{}\n\n", check.id);
    let _ = writeln!(text, "needs        {}", check.condition());
    let _ = writeln!(text, "from         intensity {}", check.intensity.as_str());
    let _ = writeln!(
        text,
        "writes       {}",
        if check.writes { "yes" } else { "no" }
    );
    if check.side_effects {
        text.push_str("side effects can send messages to people: only with --allow-side-effects\n");
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

//! Whether anything that is declared could show a row. A row whose condition holds may still be one
//! that no look can be had at: each check that could see it needs what the server does not declare,
//! and no answer shows it by itself. What follows from the declaration and the keys alone is known
//! before a request is sent; that nothing was seen is never a reason.

use crate::catalogue::{Catalogue, Requirement};
use crate::check::Check;
use crate::condition::{ConditionInputs, UnmetCondition};
use crate::passive;

/// Why nothing that is declared could show a row; `Ok` if something could.
pub(crate) fn can_show(
    facts: &ConditionInputs<'_>,
    catalogue: &Catalogue,
    all: &[Check],
    row: &Requirement,
) -> Result<(), UnmetCondition> {
    if any_answer_shows(facts, row) {
        return Ok(());
    }
    let mut missing: Vec<String> = Vec::new();
    for check in all.iter().filter(|check| check.covers(row)) {
        // What a check needs and means nothing is an error of the suite, which the check reports.
        let Ok(needs) = catalogue.condition(&check.condition()) else {
            return Ok(());
        };
        let Err(because) = facts.applies(&needs) else {
            return Ok(());
        };
        if !missing.contains(&because.0) {
            missing.push(because.0);
        }
    }
    if missing.is_empty() {
        Ok(())
    } else {
        Err(UnmetCondition(describe(&missing)))
    }
}

/// Whether the row is looked at in whatever the server answers: the rows of every answer, links,
/// and fields that are shown.
fn any_answer_shows(facts: &ConditionInputs<'_>, row: &Requirement) -> bool {
    let declared = facts.declared;
    let is_shown = |owner: &str, path: &str| {
        let places = declared.places(owner, path);
        owner == "*"
            || places.iter().any(|(kind, place)| {
                declared.shows(kind.one)
                    && declared
                        .field(kind.one, place)
                        .is_some_and(|field| field.readable)
            })
    };
    let field = row.field().filter(|_| row.applies_if_declared());
    passive::ROWS.contains(&row.id.as_str())
        || row.link().is_some_and(|_| row.applies_if_declared())
        || field.is_some_and(|field| is_shown(&field.owner, &field.path))
}

/// The first few of what is missing.
fn describe(missing: &[String]) -> String {
    let first = missing
        .iter()
        .take(3)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("; ");
    match missing.len().saturating_sub(3) {
        0 => format!("nothing that is declared could show it: {first}"),
        more => {
            format!("nothing that is declared could show it: {first}; and {more} more like these")
        }
    }
}

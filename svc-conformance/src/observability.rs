//! Whether any declared feature could show a requirement. A requirement whose condition holds may
//! still be unobservable: each check that could observe it needs something undeclared, and no
//! response shows it by itself. This follows from the declaration and the keys, before a request is
//! sent. The lack of observations is never a reason.

use crate::catalogue::{Catalogue, Requirement};
use crate::check::Check;
use crate::condition::{ConditionInputs, UnmetCondition};
use crate::passive;

/// Returns why no declared feature could show a requirement; `Ok` if something could.
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
        // If the condition of a check is invalid, that is an error of the suite, which the check
        // reports.
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

/// Whether any response can show the requirement: requirements for every response, links, and
/// returned fields.
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

/// Returns the first few missing features.
fn describe(missing: &[String]) -> String {
    let first = missing
        .iter()
        .take(3)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("; ");
    match missing.len().saturating_sub(3) {
        0 => format!("no declared feature could show it: {first}"),
        more => {
            format!("no declared feature could show it: {first}; and {more} similar reasons")
        }
    }
}

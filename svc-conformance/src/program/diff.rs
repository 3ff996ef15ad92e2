//! `diff`: compares two JSON reports, requirement by requirement.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use super::{ProgramError, files, say};
use crate::outcome::RequirementOutcome;
use crate::report::Report;
use crate::values::display_text;

pub(super) fn diff(old: &Path, new: &Path) -> Result<u8, ProgramError> {
    let (old, new) = (files::report(old)?, files::report(new)?);
    let (text, worse) = compared(&old, &new);
    say(&text);
    Ok(u8::from(worse > 0))
}

/// Ranks an outcome by how well it supports a claim. Requirements that were not checked prove
/// nothing.
const fn rank(outcome: RequirementOutcome) -> u8 {
    match outcome {
        RequirementOutcome::Pass => 0,
        RequirementOutcome::Warn => 1,
        RequirementOutcome::NotApplicable => 2,
        RequirementOutcome::Waived => 3,
        RequirementOutcome::Disabled => 4,
        RequirementOutcome::Inconclusive => 5,
        RequirementOutcome::Error => 6,
        RequirementOutcome::Fail => 7,
    }
}

/// Returns the differences as text, and the number of requirements that became worse.
fn compared(old: &Report, new: &Report) -> (String, usize) {
    let mut text = format!(
        "{} ({})  ->  {} ({})\n",
        old.target,
        old.verdict(),
        new.target,
        new.verdict()
    );
    let ids: BTreeSet<&str> = old
        .rows
        .iter()
        .chain(&new.rows)
        .map(|row| row.id.as_str())
        .collect();
    let (mut worse, mut better) = (0_usize, 0_usize);
    for id in ids {
        let word = |report: &Report| report.requirement(id).map(|row| row.outcome);
        let (before, after) = (word(old), word(new));
        if before == after {
            continue;
        }
        let name = |outcome: Option<RequirementOutcome>| {
            outcome.map_or("no such requirement", RequirementOutcome::as_str)
        };
        let sign = match (before, after) {
            (Some(before), Some(after)) if rank(after) > rank(before) => {
                worse = worse.saturating_add(1);
                "worse "
            }
            (Some(_), Some(_)) => {
                better = better.saturating_add(1);
                "better"
            }
            _ => "other ",
        };
        let reason = new
            .requirement(id)
            .map(|row| display_text(&row.reason, 200))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "{sign} {id}: {} -> {}   {reason}",
            name(before),
            name(after)
        );
    }
    let none = Vec::new();
    let whats: BTreeSet<&String> = old.choices.keys().chain(new.choices.keys()).collect();
    for what in whats {
        let forms = |report: &Report| report.choices.get(what).unwrap_or(&none).join(", ");
        if forms(old) != forms(new) {
            let _ = writeln!(
                text,
                "choice {what}: {} -> {}",
                display_text(&forms(old), 200),
                display_text(&forms(new), 200)
            );
        }
    }
    let _ = writeln!(text, "{worse} worse, {better} better");
    (text, worse)
}

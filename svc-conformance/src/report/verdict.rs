//! Derives the outcome of each requirement from what the checks observed.

use std::collections::{BTreeMap, BTreeSet};

use super::RequirementReport;
use super::advice::advice;
use crate::catalogue::{Catalogue, Level, Requirement};
use crate::check::Check;
use crate::checks;
use crate::observability;
use crate::outcome::{Finding, Observations, RequirementOutcome};
use crate::passive;
use crate::run_context::RunContext;
use crate::runner::{CheckEnd, CheckResult, ENDED};
use crate::selection::{Selection, Waiver};

/// The maximum number of findings of a requirement in a report.
const SHOWN: usize = 5;

/// Returns all requirements with their outcomes, and the waivers that are broken.
pub(super) fn rows(
    run: &RunContext,
    catalogue: &Catalogue,
    ran: &[CheckResult],
    selection: &Selection,
    waivers: &[Waiver],
) -> (Vec<RequirementReport>, Vec<String>) {
    let checks: Vec<Check> = ran.iter().map(|ran| ran.check).collect();
    let mut rows: Vec<RequirementReport> = catalogue
        .requirements()
        .iter()
        .map(|row| derive_outcome(run, row, ran, selection, &checks))
        .collect();
    // A requirement that no check of the suite can observe is not one that this run failed to
    // observe.
    let every = checks::all();
    let facts = run.facts();
    for row in rows.iter_mut().filter(|row| is_open(row)) {
        if let Some(stated) = catalogue.requirement(&row.id)
            && let Err(because) = observability::can_show(&facts, catalogue, &every, stated)
        {
            (row.outcome, row.reason) = (RequirementOutcome::NotApplicable, because.0);
        }
    }
    for row in rows
        .iter_mut()
        .filter(|row| row.outcome == RequirementOutcome::Inconclusive)
    {
        if let Some(stated) = catalogue.requirement(&row.id) {
            row.advice = advice(&run.declared, stated, &row.reason);
        }
    }
    let mut broken = Vec::new();
    for waiver in waivers {
        let Some(row) = rows.iter_mut().find(|row| row.id == waiver.row) else {
            broken.push(format!(
                "{}: the catalogue has no such requirement",
                waiver.row
            ));
            continue;
        };
        if waiver.is_expired() {
            broken.push(format!(
                "{}: the waiver expired on {}",
                waiver.row, waiver.expires
            ));
        } else if row.outcome == RequirementOutcome::Fail {
            row.outcome = RequirementOutcome::Waived;
            row.reason = format!(
                "waived until {}: {}. {}",
                waiver.expires, waiver.reason, row.reason
            );
        } else if row.outcome == RequirementOutcome::Pass {
            broken.push(format!(
                "{}: the requirement passes, so the waiver is not needed",
                waiver.row
            ));
        }
    }
    (rows, broken)
}

/// Whether no check observed anything of a requirement that may apply.
fn is_open(row: &RequirementReport) -> bool {
    let undecided = matches!(
        row.outcome,
        RequirementOutcome::Inconclusive | RequirementOutcome::Disabled
    );
    undecided && row.observations == 0 && row.findings.is_empty()
}

/// What all checks observed of one requirement.
#[derive(Default)]
struct AllObservations {
    held: usize,
    broke: Vec<Finding>,
    deviated: Vec<Finding>,
    unstable: Vec<Finding>,
    checks: Vec<String>,
}

impl AllObservations {
    fn is_unseen(&self) -> bool {
        self.held == 0
            && self.broke.is_empty()
            && self.deviated.is_empty()
            && self.unstable.is_empty()
    }
}

/// Whether the run ended before all checks had started.
fn was_ended(ran: &[CheckResult]) -> bool {
    ran.iter()
        .any(|one| matches!(&one.end, CheckEnd::Disabled(why) if why == ENDED))
}

fn derive_outcome(
    run: &RunContext,
    row: &Requirement,
    ran: &[CheckResult],
    selection: &Selection,
    checks: &[Check],
) -> RequirementReport {
    let mut all = AllObservations::default();
    for one in ran {
        if let Some(Observations {
            passed: held,
            violations: broke,
            deviations: deviated,
        }) = one.seen.get(&row.id)
        {
            all.held = all.held.saturating_add(*held);
            all.broke.extend(broke.clone());
            all.deviated.extend(deviated.clone());
            all.checks.push(one.check.id.to_owned());
        }
        all.unstable
            .extend(one.unstable.get(&row.id).into_iter().flatten().cloned());
    }
    let applies = run.facts().applies(&row.applies_if);
    let (outcome, reason) = match applies {
        Err(because) => (RequirementOutcome::NotApplicable, because.0),
        Ok(()) if !selection.profile.has_row(row) && selection.alone.is_none() => (
            RequirementOutcome::Disabled,
            format!("not part of the profile {}", selection.profile.as_str()),
        ),
        Ok(()) if !selection.has_row(row, checks) => {
            (RequirementOutcome::Disabled, "not selected".to_owned())
        }
        Ok(()) if all.is_unseen() && was_ended(ran) => {
            (RequirementOutcome::Disabled, ENDED.to_owned())
        }
        Ok(()) => observed(run, row, &all, ran),
    };
    let judged = !matches!(
        outcome,
        RequirementOutcome::NotApplicable | RequirementOutcome::Disabled
    );
    let count = all
        .held
        .saturating_add(all.broke.len())
        .saturating_add(all.deviated.len());
    let mut findings = if all.broke.is_empty() {
        all.unstable
    } else {
        all.broke
    };
    if findings.is_empty() {
        findings = all.deviated;
    }
    RequirementReport {
        id: row.id.clone(),
        level: row.level.as_str().to_owned(),
        outcome,
        reason,
        advice: String::new(),
        observations: if judged { count } else { 0 },
        checks: all.checks,
        findings: if judged { shown(findings) } else { Vec::new() },
        replay: None,
    }
}

/// Selects the findings to report: the first of each cause, then more of them.
fn shown(findings: Vec<Finding>) -> Vec<Finding> {
    let mut met = BTreeSet::new();
    let (first, more): (Vec<_>, Vec<_>) = findings
        .iter()
        .enumerate()
        .partition(|(_, one)| met.insert(one.cause.as_ref()));
    let chosen: BTreeSet<usize> = first
        .into_iter()
        .chain(more)
        .map(|(at, _)| at)
        .take(SHOWN)
        .collect();
    findings
        .into_iter()
        .enumerate()
        .filter(|(at, _)| chosen.contains(at))
        .map(|(_, finding)| finding)
        .collect()
}

fn observed(
    run: &RunContext,
    row: &Requirement,
    all: &AllObservations,
    ran: &[CheckResult],
) -> (RequirementOutcome, String) {
    let first = |findings: &[Finding]| {
        findings
            .first()
            .map(|finding| finding.message.clone())
            .unwrap_or_default()
    };
    if !all.broke.is_empty() {
        let outcome = if row.level == Level::Must {
            RequirementOutcome::Fail
        } else {
            RequirementOutcome::Warn
        };
        return (outcome, first(&all.broke));
    }
    let covering: Vec<&CheckResult> = ran.iter().filter(|ran| ran.check.covers(row)).collect();
    if let Some(error) = covering.iter().find_map(|ran| match &ran.end {
        CheckEnd::Error(error) => Some(format!("{}: {error}", ran.check.id)),
        _ => None,
    }) {
        return (RequirementOutcome::Error, error);
    }
    if !all.unstable.is_empty() {
        return (
            RequirementOutcome::Inconclusive,
            format!(
                "unstable: it failed once, but not again: {}",
                first(&all.unstable)
            ),
        );
    }
    if !all.deviated.is_empty() {
        return (RequirementOutcome::Warn, first(&all.deviated));
    }
    if all.held > 0 {
        return held(row, &covering, ran);
    }
    unobserved(run, row, &covering)
}

/// Returns the outcome of a requirement that held in every observation. A check that was cut off
/// may have missed the decisive one. Without another check, the requirement is undecided; otherwise
/// it passes and the reason names the check.
fn held(
    row: &Requirement,
    covering: &[&CheckResult],
    ran: &[CheckResult],
) -> (RequirementOutcome, String) {
    let is_cut = |ran: &CheckResult| matches!(ran.end, CheckEnd::TimedOut { .. });
    let cut = covering
        .iter()
        .filter(|ran| is_cut(ran))
        .map(|ran| format!("{}: {}", ran.check.id, ran.end.reason()));
    let cut: Vec<String> = cut.collect();
    if cut.is_empty() {
        return (RequirementOutcome::Pass, String::new());
    }
    let cut = cut.join("; ");
    let saw = |ran: &CheckResult| ran.seen.get(&row.id).is_some_and(|seen| seen.passed > 0);
    if ran.iter().any(|ran| saw(ran) && !is_cut(ran)) {
        (
            RequirementOutcome::Pass,
            format!("it passes because of other checks, but {cut}"),
        )
    } else {
        (
            RequirementOutcome::Inconclusive,
            format!("it held in all observations, but {cut}"),
        )
    }
}

/// Returns why an applicable requirement was not observed: what each check lacked.
fn unobserved(
    run: &RunContext,
    row: &Requirement,
    covering: &[&CheckResult],
) -> (RequirementOutcome, String) {
    if covering.is_empty() && row.level == Level::May && !passive::ROWS.contains(&row.id.as_str()) {
        return (
            RequirementOutcome::NotApplicable,
            "the server may choose, so the suite does not check the requirement".to_owned(),
        );
    }
    let most = run.settings.records;
    let spent = if run.journal.created() < most {
        String::new()
    } else {
        format!("; the budget of {most} records is used up")
    };
    let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut tell =
        |reason: String, check: &'static str| reasons.entry(reason).or_default().push(check);
    // Checks that do not apply are ignored if others apply.
    let covering: Vec<&&CheckResult> = covering
        .iter()
        .filter(|ran| !matches!(ran.end, CheckEnd::NotApplicable(_)))
        .collect();
    for one in &covering {
        let lacks = one.lacks.get(&row.id);
        match &one.end {
            CheckEnd::Done => tell(
                lacks
                    .cloned()
                    .unwrap_or_else(|| format!("{}{spent}", unmet(row))),
                one.check.id,
            ),
            end => tell(
                lacks.map_or_else(|| end.reason().to_owned(), Clone::clone),
                one.check.id,
            ),
        }
    }
    let list: Vec<String> = reasons
        .iter()
        .map(|(reason, checks)| format!("{}: {reason}", checks.join(", ")))
        .collect();
    let is_disabled = |ran: &&&CheckResult| matches!(ran.end, CheckEnd::Disabled(_));
    if !covering.is_empty() && covering.iter().all(is_disabled) {
        return (RequirementOutcome::Disabled, list.join("; "));
    }
    (
        RequirementOutcome::Inconclusive,
        if list.is_empty() {
            unmet(row)
        } else {
            list.join("; ")
        },
    )
}

/// Returns which part was missing in all responses that would have shown a requirement.
fn unmet(row: &Requirement) -> String {
    let of = |owner: &str| {
        if owner == "*" {
            "record".to_owned()
        } else {
            owner.replace('_', " ")
        }
    };
    match (row.field(), row.link()) {
        (Some(field), _) if row.applies_if_declared() => {
            format!(
                "no {} in the responses has `{}`",
                of(&field.owner),
                field.path
            )
        }
        (_, Some(link)) if row.applies_if_declared() => {
            format!(
                "no {} in the responses has the link `{}`",
                of(&link.owner),
                link.name
            )
        }
        _ => "no response shows it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::time::Duration;

    use super::{held, shown};
    use crate::catalogue::Catalogue;
    use crate::cause::{Cause, CauseKind};
    use crate::check::Check;
    use crate::checks;
    use crate::outcome::{Finding, Observations, RequirementOutcome};
    use crate::runner::{CheckEnd, CheckResult};

    fn ran(check: Check, is_cut: bool, row: &str, held: usize) -> CheckResult {
        let cut = CheckEnd::TimedOut {
            after: Duration::from_secs(2 * 60),
            why: "the check did not finish".to_owned(),
        };
        let seen = BTreeMap::from([(
            row.to_owned(),
            Observations {
                passed: held,
                ..Observations::default()
            },
        )]);
        let end = if is_cut { cut } else { CheckEnd::Done };
        CheckResult {
            check,
            end,
            seen,
            lacks: BTreeMap::new(),
            unstable: BTreeMap::new(),
            trace: Vec::new(),
            requests: 1,
            records: 0,
            pins: BTreeSet::new(),
        }
    }

    #[test]
    fn the_findings_of_a_row_have_as_many_causes_as_there_are() {
        let finding = |(at, subject): (usize, &&str)| Finding {
            check: "c".to_owned(),
            message: String::new(),
            exchange: at,
            smallest: Vec::new(),
            cause: Some(Cause::new(CauseKind::Altered, *subject)),
            refused: None,
        };
        let of = |subjects: &[&str]| -> Vec<usize> {
            shown(subjects.iter().enumerate().map(finding).collect())
                .iter()
                .map(|finding| finding.exchange)
                .collect()
        };
        assert_eq!(of(&["a", "a", "a"]), [0, 1, 2]);
        assert_eq!(
            of(&["a", "a", "a", "a", "a", "a", "b", "c", "b"]),
            [0, 1, 2, 6, 7]
        );
        assert_eq!(of(&["a", "b", "c", "d", "e", "f"]), [0, 1, 2, 3, 4]);
    }

    /// A requirement is undecided if only a check observed it that was cut off. If another check
    /// observed it, it passes and the reason names the cut.
    #[test]
    fn what_a_check_saw_that_was_cut_is_no_unqualified_pass() {
        let row = Catalogue::built_in()
            .expect("the catalogue")
            .requirement("CRU-04")
            .expect("a row");
        let (its, others): (Vec<Check>, Vec<Check>) = checks::all()
            .into_iter()
            .partition(|check| check.covers(row));
        let (one, other) = (its[0], others[0]);
        let judged = |ran: &[CheckResult]| {
            let covering: Vec<&CheckResult> =
                ran.iter().filter(|ran| ran.check.covers(row)).collect();
            held(row, &covering, ran)
        };
        let end = format!("{}: the check did not finish", one.id);
        assert_eq!(
            judged(&[ran(one, false, &row.id, 1)]),
            (RequirementOutcome::Pass, String::new())
        );
        // A check that would only observe it incidentally is not missed.
        let by = ran(other, true, &row.id, 1);
        assert_eq!(
            judged(&[ran(one, false, &row.id, 1), by]),
            (RequirementOutcome::Pass, String::new())
        );
        let (outcome, reason) = judged(&[ran(one, true, &row.id, 1), ran(other, true, &row.id, 1)]);
        assert!(
            outcome == RequirementOutcome::Inconclusive && reason.ends_with(&end),
            "{reason}"
        );
        let (outcome, reason) =
            judged(&[ran(one, true, &row.id, 0), ran(other, false, &row.id, 1)]);
        assert!(
            outcome == RequirementOutcome::Pass && reason.ends_with(&end),
            "{reason}"
        );
        // A check that did not observe it does not count.
        let (outcome, _) = judged(&[ran(one, true, &row.id, 1), ran(other, false, &row.id, 0)]);
        assert_eq!(outcome, RequirementOutcome::Inconclusive);
    }
}

//! A summary for a pull request.

use std::fmt::Write as _;

use svc_declaration::visible;

use crate::catalogue::Catalogue;
use crate::outcome::RequirementOutcome;
use crate::report::{AREAS, AreaSummary, Report, RequirementReport, Score, some, source};

/// The maximum number of requirements listed for one outcome.
const MOST: usize = 50;

pub(super) fn written(report: &Report) -> String {
    let mut text = format!("# Conformance: {}\n\n", report.verdict());
    let _ = writeln!(
        text,
        "{} with version {} of the API, judged by svc-conformance {} (catalogue {}; {}) in {:.1} s \
         with {} requests. Declaration {}, profile {}, intensity {}, seed {}.\n",
        code(&report.target),
        cell(&report.interface),
        report.suite,
        report.catalogue,
        Score::built_in_text(),
        report.seconds,
        report.requests,
        source(report.declaration),
        report.profile.as_str(),
        report.intensity.as_str(),
        report.seed
    );
    text.push_str(
        "| Area | | Passed | Failed | Inconclusive | Not applicable |\n|---|---|---|---|---|---|\n",
    );
    for (name, title) in AREAS {
        let tally = AreaSummary::of(report, name);
        let _ = writeln!(
            text,
            "| {name} | {title} | {}/{} | {} | {} | {} |",
            tally.good(),
            tally.due(),
            tally.count(RequirementOutcome::Fail),
            tally.count(RequirementOutcome::Inconclusive),
            tally.count(RequirementOutcome::NotApplicable)
        );
    }
    if !report.causes.is_empty() {
        text.push_str("\n## Causes\n\n| Requirements | Cause | What to do |\n|---|---|---|\n");
    }
    for cause in &report.causes {
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            some(&cause.rows),
            visible(&cause.what),
            cause.remedy
        );
    }
    for outcome in [
        RequirementOutcome::Fail,
        RequirementOutcome::Error,
        RequirementOutcome::Waived,
        RequirementOutcome::Inconclusive,
        RequirementOutcome::Warn,
    ] {
        section(&mut text, report, outcome);
    }
    for (check, cut) in report.timed_out_checks() {
        let _ = writeln!(
            text,
            "\n- Cut off: {}: {}",
            cell(&check.id),
            cell(&cut.said(MOST))
        );
    }
    for problem in report.broken_waivers.iter().chain(&report.profile_lacks) {
        let _ = writeln!(text, "\n- {}", cell(problem));
    }
    if !report.choices.is_empty() {
        text.push_str("\n## Choices of this server\n\n| | |\n|---|---|\n");
        for (what, forms) in &report.choices {
            let _ = writeln!(text, "| {} | {} |", cell(what), cell(&forms.join(", ")));
        }
    }
    let _ = writeln!(
        text,
        "\nClean-up: {} of {} records removed.",
        report.clean_up.removed, report.clean_up.created
    );
    text
}

fn section(text: &mut String, report: &Report, outcome: RequirementOutcome) {
    let rows: Vec<&RequirementReport> = report.with_outcome(outcome).collect();
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n## {} ({})\n\n| Id | Level | Requirement | Found |\n|---|---|---|---|",
        outcome,
        rows.len()
    );
    let catalogue = Catalogue::built_in().ok();
    for row in rows.iter().take(MOST) {
        let statement = catalogue
            .and_then(|catalogue| catalogue.requirement(&row.id))
            .map_or("", |row| &row.statement);
        let mut reason: String = row.reason.chars().take(300).collect();
        if !row.advice.is_empty() {
            reason = format!("{reason}. {}", row.advice);
        }
        let id = report
            .page(&row.id)
            .map_or_else(|| row.id.clone(), |page| format!("[{}](<{page}>)", row.id));
        let _ = writeln!(
            text,
            "| {id} | {} | {} | {} |",
            row.level,
            cell(statement),
            code(&reason)
        );
    }
    if rows.len() > MOST {
        let _ = writeln!(text, "\nand {} more", rows.len().saturating_sub(MOST));
    }
}

/// Escapes text for a table cell: what would end the cell or be read as markup. Invisible
/// characters are shown by name.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '|' | '<' | '[' | '*' | '_' | '!' | '#' | '\\' => out.extend(['\\', c]),
            '\n' | '\t' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Formats text of the server as code, whatever it contains.
fn code(text: &str) -> String {
    format!(
        "`` {} ``",
        visible(text)
            .replace(['\n', '\t', '`'], " ")
            .replace('|', "\\|")
    )
}

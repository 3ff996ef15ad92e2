//! The pictures of the HTML page: the badge, and the results of earlier reports. Colours are from
//! the style sheet, and every picture has a text equivalent.

use std::fmt::Write as _;

use super::markup::escaped;
use crate::outcome::RequirementOutcome;
use crate::report::{EarlierReport, Report};

/// The width of one character of the badge.
const LETTER: usize = 7;
/// The height of the bars, and the width of one bar with its gap.
const HEIGHT: usize = 120;
const STEP: usize = 72;

/// Returns the badge: the version of the API, the verdict, and the number of requirements that
/// pass.
pub(super) fn badge(report: &Report) -> String {
    let label = format!(
        "svc {}",
        report.interface.chars().take(20).collect::<String>()
    );
    let verdict = format!(
        "{} ({}/{})",
        report.verdict(),
        report.count(RequirementOutcome::Pass),
        report.judged_count()
    );
    let wide = |text: &str| {
        text.chars()
            .count()
            .saturating_mul(LETTER)
            .saturating_add(16)
    };
    let (left, right) = (wide(&label), wide(&verdict));
    let class = match report.verdict() {
        "conformant" => "g",
        "not conformant" => "b",
        _ => "n",
    };
    let (all, at) = (left.saturating_add(right), left.saturating_add(8));
    let (label, verdict) = (escaped(&label), escaped(&verdict));
    format!(
        "<svg role=\"img\" aria-label=\"{label}: {verdict}\" width=\"{all}\" height=\"24\" viewBox=\"0 0 {all} 24\">\
         <rect class=\"name\" width=\"{left}\" height=\"24\"/><rect class=\"{class}\" x=\"{left}\" width=\"{right}\" height=\"24\"/>\
         <text class=\"badge\" x=\"8\" y=\"16\">{label}</text><text class=\"badge\" x=\"{at}\" y=\"16\">{verdict}</text></svg>\n"
    )
}

/// Returns a bar chart of passed and failed requirements per report, and the same figures as a
/// table. Empty without earlier reports.
pub(super) fn trend(report: &Report) -> String {
    if report.earlier.is_empty() {
        return String::new();
    }
    let now = EarlierReport::from_report(report);
    let all: Vec<&EarlierReport> = report.earlier.iter().chain([&now]).collect();
    let most = all
        .iter()
        .map(|past| past.passed.saturating_add(past.failed))
        .max()
        .unwrap_or(0)
        .max(1);
    let scaled = |rows: usize| rows.saturating_mul(HEIGHT).div_ceil(most);
    let (width, height) = (
        all.len().saturating_mul(STEP).saturating_add(8),
        HEIGHT.saturating_add(44),
    );
    let mut text = format!(
        "<h2 id=\"trend\">Earlier reports</h2>\n<svg role=\"img\" aria-label=\"Requirements passed \
         and failed in each report; the table below has the numbers\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n"
    );
    for (at, past) in all.iter().enumerate() {
        let (good, bad) = (scaled(past.passed), scaled(past.failed));
        let x = at.saturating_mul(STEP).saturating_add(8);
        let base = HEIGHT.saturating_add(16);
        let (top_good, top_bad) = (
            base.saturating_sub(good),
            base.saturating_sub(good.saturating_add(bad)),
        );
        let _ = writeln!(
            text,
            "<rect class=\"g\" x=\"{x}\" y=\"{top_good}\" width=\"48\" height=\"{good}\"/>\
             <rect class=\"b\" x=\"{x}\" y=\"{top_bad}\" width=\"48\" height=\"{bad}\"/>\
             <text x=\"{x}\" y=\"{}\">{}+{}</text>",
            base.saturating_add(18),
            past.passed,
            past.failed
        );
    }
    text.push_str(
        "</svg>\n<table>\n<caption>Requirements passed and failed, the latest report \
         last</caption>\n<thead><tr><th scope=\"col\">Report</th><th scope=\"col\">Passed</th><th \
         scope=\"col\">Failed</th></tr></thead>\n<tbody>\n",
    );
    for past in all {
        let (passed, failed) = (past.passed, past.failed);
        let _ = writeln!(
            text,
            "<tr><th scope=\"row\">{}</th><td class=\"pass\">{passed}</td><td class=\"fail\">{failed}</td></tr>",
            escaped(&past.began)
        );
    }
    text.push_str("</tbody>\n</table>\n");
    text
}

//! TAP version 14: one test point per requirement, with the outcomes of `JUnit`.

use std::fmt::Write as _;

use svc_declaration::visible;

use super::junit::{is_error, is_skipped};
use crate::outcome::RequirementOutcome;
use crate::report::{Report, RequirementReport};

pub(super) fn written(report: &Report) -> String {
    let mut text = format!("TAP version 14\n1..{}\n", report.rows.len());
    for (row, number) in report.rows.iter().zip(1_usize..) {
        let _ = writeln!(text, "{}", point(row, number));
    }
    text
}

/// Returns the line of a requirement.
fn point(row: &RequirementReport, number: usize) -> String {
    let ok = if row.outcome == RequirementOutcome::Fail || is_error(row) {
        "not ok"
    } else {
        "ok"
    };
    let name = format!("{ok} {number} - {} {}", row.id, row.level);
    let reason = escaped(&row.explanation());
    match row.outcome {
        _ if is_skipped(row) => format!("{name} # SKIP {}: {reason}", row.outcome),
        RequirementOutcome::Pass => name,
        _ => format!("{name}: {}: {reason}", row.outcome),
    }
}

/// Returns text on one line in which nothing starts a directive.
fn escaped(text: &str) -> String {
    let line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    visible(&line).replace('\\', "\\\\").replace('#', "\\#")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{escaped, point};
    use crate::report::RequirementReport;

    fn row(level: &str, outcome: &str) -> RequirementReport {
        let row = json!({
            "id": "ENT-01", "level": level, "outcome": outcome, "reason": "why # not\nok 2", "observations": 1, "checks": [],
        });
        serde_json::from_value(row).expect("a row")
    }

    #[test]
    fn each_outcome_has_its_line() {
        let line = |level: &str, outcome: &str| point(&row(level, outcome), 1);
        assert_eq!(line("MUST", "pass"), "ok 1 - ENT-01 MUST");
        assert_eq!(
            line("MUST", "warn"),
            "ok 1 - ENT-01 MUST: warn: why \\# not ok 2"
        );
        assert_eq!(
            line("MAY", "inconclusive"),
            "ok 1 - ENT-01 MAY # SKIP inconclusive: why \\# not ok 2"
        );
        for outcome in ["not_applicable", "disabled", "waived"] {
            assert!(
                line("MUST", outcome).starts_with("ok 1 - ENT-01 MUST # SKIP "),
                "{outcome}"
            );
        }
        for outcome in ["fail", "error", "inconclusive"] {
            assert!(
                line("MUST", outcome).starts_with("not ok 1 - ENT-01 MUST: "),
                "{outcome}"
            );
        }
    }

    #[test]
    fn what_servers_send_cannot_break_a_line() {
        assert_eq!(
            escaped("a\nnot ok 3 # TODO \\ \u{202e}"),
            "a not ok 3 \\# TODO \\\\ [U+202E]"
        );
    }
}

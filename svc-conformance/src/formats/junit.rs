//! `JUnit` XML: one test case per requirement, one suite per area.

use std::fmt::Write as _;

use super::markup;
use crate::outcome::RequirementOutcome;
use crate::report::{AREAS, Report, RequirementReport, area};

pub(super) fn written(report: &Report) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let failures = report.count(RequirementOutcome::Fail);
    let errors = report
        .count(RequirementOutcome::Error)
        .saturating_add(report.inconclusive().count());
    let skipped = report.rows.iter().filter(|row| is_skipped(row)).count();
    let _ = writeln!(
        text,
        "<testsuites name=\"svc-conformance\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" \
         skipped=\"{skipped}\" time=\"{:.3}\">",
        report.rows.len(),
        report.seconds
    );
    for (name, title) in AREAS {
        let rows: Vec<&RequirementReport> = report
            .rows
            .iter()
            .filter(|row| area(&row.id) == *name)
            .collect();
        let failures = rows
            .iter()
            .filter(|row| row.outcome == RequirementOutcome::Fail)
            .count();
        let errors = rows.iter().filter(|row| is_error(row)).count();
        let skipped = rows.iter().filter(|row| is_skipped(row)).count();
        let _ = writeln!(
            text,
            "  <testsuite name=\"{name} {title}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" \
             skipped=\"{skipped}\">",
            rows.len()
        );
        for row in rows {
            case(&mut text, row);
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn case(text: &mut String, row: &RequirementReport) {
    let _ = write!(
        text,
        "    <testcase classname=\"{}\" name=\"{} {}\"",
        area(&row.id),
        row.id,
        row.level
    );
    let reason = escaped(&row.explanation());
    let inner = if row.outcome == RequirementOutcome::Fail {
        format!(
            "<failure message=\"{reason}\">{}</failure>",
            escaped(&details(row))
        )
    } else if is_error(row) {
        format!("<error message=\"{}: {reason}\"/>", row.outcome.as_str())
    } else if is_skipped(row) {
        format!("<skipped message=\"{}: {reason}\"/>", row.outcome.as_str())
    } else if row.reason.is_empty() {
        text.push_str("/>\n");
        return;
    } else {
        format!(
            "<system-out>{}: {reason}</system-out>",
            row.outcome.as_str()
        )
    };
    let _ = writeln!(text, ">{inner}</testcase>");
}

fn details(row: &RequirementReport) -> String {
    let mut lines = Vec::new();
    for finding in &row.findings {
        lines.push(format!("{}: {}", finding.check, finding.message));
        lines.extend(finding.smallest.iter().map(|step| format!("  {step}")));
    }
    lines.extend(row.replay.iter().map(|file| format!("replay: {file}")));
    lines.join("\n")
}

/// Whether the requirement is mandatory and could not be decided.
pub(super) fn is_error(row: &RequirementReport) -> bool {
    row.outcome == RequirementOutcome::Error
        || (row.outcome == RequirementOutcome::Inconclusive && row.level == "MUST")
}

/// Whether the requirement counts neither for nor against the server.
pub(super) fn is_skipped(row: &RequirementReport) -> bool {
    matches!(
        row.outcome,
        RequirementOutcome::NotApplicable
            | RequirementOutcome::Disabled
            | RequirementOutcome::Waived
    ) || (row.outcome == RequirementOutcome::Inconclusive && row.level != "MUST")
}

/// Escapes text for XML. Characters that XML 1.0 does not allow become a replacement character.
fn escaped(text: &str) -> String {
    markup::escaped(text)
        .replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
        .replace('\n', "&#10;")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_servers_send_cannot_break_the_file() {
        assert_eq!(
            escaped("<a b=\"c\">&\u{1}\u{202e}\u{fffe}\n"),
            "&lt;a b=&quot;c&quot;&gt;&amp;[U+0001][U+202E]\u{fffd}&#10;"
        );
    }
}

//! JSON for a badge, in the format that badge services read.

use crate::outcome::RequirementOutcome;
use crate::report::Report;

pub(super) fn written(report: &Report) -> String {
    let (passed, due) = (
        report.count(RequirementOutcome::Pass),
        report.judged_count(),
    );
    let color = match report.verdict() {
        "conformant" => "brightgreen",
        "conformant with deviations" => "yellowgreen",
        "not conformant" => "red",
        _ => "lightgrey",
    };
    let badge = serde_json::json!({
        "schemaVersion": 1,
        "label": format!("svc {}", report.interface),
        "message": format!("{} ({passed}/{due})", report.verdict()),
        "color": color,
    });
    format!("{badge}\n")
}

//! CSV: the requests and records of each check, in the format of the `costs.csv` that `plan` uses
//! for its estimate.

use std::fmt::Write as _;

use crate::report::Report;

pub(super) fn written(report: &Report) -> String {
    let mut text = String::new();
    for check in report
        .checks
        .iter()
        .filter(|check| !check.end.starts_with("disabled"))
    {
        let intensity = report.intensity.as_str();
        let _ = writeln!(
            text,
            "{},{intensity},{},{}",
            check.id, check.requests, check.records
        );
    }
    text
}

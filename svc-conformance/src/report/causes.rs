//! Failures by their cause: what to mend first.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::RowReport;
use crate::cause::{Cause, Flaw};
use crate::outcome::Outcome;

/// One cause with the rows that fail for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CauseReport {
    /// Its sort.
    pub flaw: Flaw,
    /// The field, link, operation or header; empty where the sort says all.
    pub subject: String,
    /// What is wrong, in words.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
    /// The rows that fail for it, in the order of the catalogue.
    pub rows: Vec<String>,
}

impl CauseReport {
    /// How many rows fail for it, and what it is, in one sentence.
    pub(crate) fn sentence(&self) -> String {
        match self.rows.len() {
            1 => format!("1 row has this cause: {}.", self.what),
            rows => format!("{rows} rows have one cause: {}.", self.what),
        }
    }
}

/// The causes of the rows that failed, the ones with the most rows first. A row that fails for several stands with each; one
/// whose cause is not known stands with none.
pub(super) fn of(rows: &[RowReport]) -> Vec<CauseReport> {
    let mut causes: BTreeMap<&Cause, Vec<String>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.outcome == Outcome::Fail) {
        for cause in row.findings.iter().filter_map(|finding| finding.cause.as_ref()) {
            let rows = causes.entry(cause).or_default();
            if rows.last() != Some(&row.id) {
                rows.push(row.id.clone());
            }
        }
    }
    // What has another type cannot read as it was sent.
    let typed: Vec<String> =
        causes.keys().filter(|cause| cause.flaw == Flaw::Type).map(|cause| cause.subject.clone()).collect();
    causes.retain(|cause, _| cause.flaw != Flaw::Altered || !typed.contains(&cause.subject));
    let report = |(cause, rows): (&Cause, Vec<String>)| CauseReport {
        flaw: cause.flaw,
        subject: cause.subject.clone(),
        what: cause.what(),
        remedy: cause.remedy().to_owned(),
        rows,
    };
    let mut causes: Vec<CauseReport> = causes.into_iter().map(report).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.rows.len()));
    causes
}

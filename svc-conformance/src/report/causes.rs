//! Failures by their cause: what to mend first.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::RowReport;
use crate::cause::{Cause, Flaw};
use crate::outcome::Outcome;

/// Fields, links or operations with one flaw that are told apart; what more have is taken for one cause.
const APART: usize = 5;

/// One cause with the rows that fail for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CauseReport {
    /// Its sort.
    pub flaw: Flaw,
    /// The field, link, operation or header, or all that have the flaw; empty where the sort says all.
    pub subjects: Vec<String>,
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

    fn new(causes: &[&Cause], rows: &[RowReport]) -> Option<Self> {
        let first = causes.first()?;
        let subjects: Vec<String> =
            causes.iter().map(|cause| cause.subject.clone()).filter(|name| !name.is_empty()).collect();
        let what = match subjects.len().saturating_sub(1) {
            0 => first.what(),
            others => format!("{}; so it is with {others} others, such as `{}`", first.what(), subjects.last()?),
        };
        let has = |row: &&RowReport| causes_of(row).any(|cause| causes.contains(&cause));
        let rows = rows.iter().filter(has).map(|row| row.id.clone()).collect();
        Some(Self { flaw: first.flaw, subjects, what, remedy: first.remedy().to_owned(), rows })
    }
}

/// The causes of a row; none where it did not fail.
fn causes_of(row: &RowReport) -> impl Iterator<Item = &Cause> {
    row.findings.iter().filter(|_| row.outcome == Outcome::Fail).filter_map(|finding| finding.cause.as_ref())
}

/// The causes of the rows that failed, the ones with the most rows first. A row that fails for several stands with each; one
/// whose cause is not known stands with none.
pub(super) fn of(rows: &[RowReport]) -> Vec<CauseReport> {
    let mut sorts: BTreeMap<Flaw, BTreeSet<&Cause>> = BTreeMap::new();
    for cause in rows.iter().flat_map(causes_of) {
        sorts.entry(cause.flaw).or_default().insert(cause);
    }
    // What has another type cannot read as it was sent.
    let typed: Vec<&str> = sorts.get(&Flaw::Type).into_iter().flatten().map(|cause| cause.subject.as_str()).collect();
    if let Some(altered) = sorts.get_mut(&Flaw::Altered) {
        altered.retain(|cause| !typed.contains(&cause.subject.as_str()));
    }
    let groups = sorts.into_values().flat_map(|causes| {
        let causes: Vec<&Cause> = causes.into_iter().collect();
        let size = if causes.len() > APART { causes.len() } else { 1 };
        causes.chunks(size).filter_map(|causes| CauseReport::new(causes, rows)).collect::<Vec<_>>()
    });
    let mut causes: Vec<CauseReport> = groups.collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.rows.len()));
    causes
}

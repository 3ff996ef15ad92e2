//! What a run would look at and send.

use std::fmt;

use serde::Serialize;

use crate::catalogue::Requirement;
use crate::settings::Intensity;
use crate::values::display_text;

/// Requests and records of each check, measured against the reference server, for an estimate.
/// Written by `svc-conformance run URL --intensity quick --report costs=quick.csv`, the same at
/// `default`, and for the checks of `deep` alone with `--only`; one file after the other.
const COSTS: &str = include_str!("../costs.csv");

/// Requests of clean-up for each record, measured as those of the checks: it is read once more, and
/// deleted.
const REMOVAL: usize = 2;

/// What a run would look at and send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunPlan {
    /// Address of the entry point.
    pub target: String,
    /// Rows that apply, as far as the declaration tells.
    pub rows: usize,
    /// Every check, in the order of the run.
    pub checks: Vec<PlannedCheck>,
    /// Records that a run cannot create, by the names of fixtures: those that are named, and those
    /// that would open rows.
    pub fixtures: Vec<Fixture>,
    /// Requests of the checks, about.
    pub requests: usize,
    /// Requests that find and remove what was created, about.
    pub clean_up: usize,
    /// Records that it creates, about.
    pub records: usize,
}

/// A record that a run may use where it cannot create one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fixture {
    /// Its name, such as `event`.
    pub name: String,
    /// The record that was named.
    pub named: Option<String>,
    /// The rows that need it; where none is named, the first record that is listed stands in, if
    /// there is any.
    pub rows: Vec<String>,
}

/// One check of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlannedCheck {
    /// Its id.
    pub id: String,
    /// Why it does not run.
    pub left_out: Option<String>,
    /// Whether it writes.
    pub writes: bool,
    /// Requests, about; `None` where it was never measured.
    pub requests: Option<usize>,
    /// Records that it creates, about.
    pub records: Option<usize>,
    /// The rows that it looks at.
    pub rows: Vec<String>,
}

impl PlannedCheck {
    pub(crate) fn new(
        check: &crate::check::Check,
        left_out: Option<String>,
        rows: &[&Requirement],
        intensity: Intensity,
    ) -> Self {
        let costs = costs(check.id, intensity);
        Self {
            id: check.id.to_owned(),
            left_out,
            writes: check.writes,
            requests: costs.map(|(requests, _)| requests),
            records: costs.map(|(_, records)| records),
            rows: rows.iter().map(|row| row.id.clone()).collect(),
        }
    }
}

impl RunPlan {
    pub(crate) fn new(
        target: &str,
        rows: usize,
        checks: Vec<PlannedCheck>,
        fixtures: Vec<Fixture>,
    ) -> Self {
        let runs = || checks.iter().filter(|check| check.left_out.is_none());
        let requests = runs()
            .filter_map(|check| check.requests)
            .fold(0, usize::saturating_add);
        let records = runs()
            .filter_map(|check| check.records)
            .fold(0, usize::saturating_add);
        let clean_up = records.saturating_mul(REMOVAL);
        Self {
            target: target.to_owned(),
            rows,
            requests,
            clean_up,
            records,
            checks,
            fixtures,
        }
    }
}

/// Requests and records of a check: `check,intensity,requests,records` in each line. Where this
/// intensity was not measured, those of the one below.
pub(crate) fn costs(id: &str, intensity: Intensity) -> Option<(usize, usize)> {
    let measured = COSTS.lines().find_map(|line| {
        let mut cells = line.split(',');
        if cells.next()? != id || cells.next()? != intensity.as_str() {
            return None;
        }
        Some((cells.next()?.parse().ok()?, cells.next()?.parse().ok()?))
    });
    let below = match intensity {
        Intensity::Deep => Some(Intensity::Default),
        Intensity::Default => Some(Intensity::Quick),
        Intensity::Quick => None,
    };
    measured.or_else(|| costs(id, below?))
}

impl fmt::Display for RunPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "target {}   {} rows apply\n", self.target, self.rows)?;
        let number = |number: Option<usize>| {
            number.map_or_else(|| "?".to_owned(), |number| number.to_string())
        };
        for check in self.checks.iter().filter(|check| check.left_out.is_none()) {
            let kind = if check.writes { "writes" } else { "reads" };
            let (requests, records) = (number(check.requests), number(check.records));
            writeln!(
                f,
                " {:<36} {kind:<6} {requests:>5} requests {records:>4} records   {}",
                check.id,
                list(&check.rows)
            )?;
        }
        let left_out: Vec<&PlannedCheck> = self
            .checks
            .iter()
            .filter(|check| check.left_out.is_some())
            .collect();
        if !left_out.is_empty() {
            writeln!(f, "\nleft out:")?;
        }
        for check in left_out {
            writeln!(
                f,
                " {:<36} {}",
                check.id,
                display_text(check.left_out.as_deref().unwrap_or_default(), 200)
            )?;
        }
        if !self.fixtures.is_empty() {
            writeln!(
                f,
                "\nfixtures, records that a run cannot create (--fixture NAME=ADDRESS, or `fixture.NAME` in a declaration file):"
            )?;
        }
        for Fixture { name, named, rows } in &self.fixtures {
            let named = named.as_deref().unwrap_or("not named");
            writeln!(
                f,
                " {name:<20} {}   for {}",
                display_text(named, 120),
                list(rows)
            )?;
        }
        let Self {
            requests,
            records,
            clean_up,
            ..
        } = self;
        write!(
            f,
            "\nabout {requests} requests, {records} records, and {clean_up} requests to find and remove them"
        )
    }
}

/// The first few ids.
fn list(rows: &[String]) -> String {
    let first: Vec<&str> = rows.iter().take(4).map(String::as_str).collect();
    match rows.len().saturating_sub(4) {
        0 => first.join(" "),
        more => format!("{} and {more} more", first.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{COSTS, costs};
    use crate::checks;
    use crate::settings::Intensity;

    /// A check that was added is measured, and one that is gone is taken out.
    #[test]
    fn every_check_has_its_costs() {
        let all = checks::all();
        let missing: Vec<&str> = all
            .iter()
            .filter(|check| costs(check.id, check.intensity.max(Intensity::Default)).is_none())
            .map(|check| check.id)
            .collect();
        assert_eq!(
            missing,
            Vec::<&str>::new(),
            "measure them as src/plan.rs says"
        );
        let named = COSTS.lines().filter_map(|line| line.split(',').next());
        let gone: Vec<&str> = named
            .filter(|id| !all.iter().any(|check| check.id == *id))
            .collect();
        assert_eq!(gone, Vec::<&str>::new(), "there are no such checks");
        // What is measured is something: a run at the default intensity sends thousands of
        // requests.
        let sent = all
            .iter()
            .filter_map(|check| costs(check.id, Intensity::Default))
            .map(|(requests, _)| requests);
        assert!(sent.sum::<usize>() > 5000);
    }
}

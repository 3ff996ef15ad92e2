//! What a run would check and send.

use std::fmt;

use serde::Serialize;

use crate::catalogue::Requirement;
use crate::settings::Intensity;
use crate::values::display_text;

/// The measured requests and records of each check against the reference server, for an estimate.
/// Written by `svc-conformance run URL --intensity quick --report costs=quick.csv`, then with
/// `default`, and for the checks of `deep` with `--only`; the files are concatenated.
const COSTS: &str = include_str!("../costs.csv");

/// The clean-up requests per record, measured in the same way: it is read once more, and deleted.
const REMOVAL: usize = 2;

/// What a run would check and send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunPlan {
    /// The URL of the entry point.
    pub target: String,
    /// The number of requirements that apply, as far as the declaration decides.
    pub rows: usize,
    /// All checks, in the order of the run.
    pub checks: Vec<PlannedCheck>,
    /// Records that a run cannot create, by the names of fixtures: the given ones, and those with
    /// which more requirements could be observed.
    pub fixtures: Vec<Fixture>,
    /// The approximate number of requests of the checks.
    pub requests: usize,
    /// The approximate number of requests to find and delete the created records.
    pub clean_up: usize,
    /// The approximate number of records that it creates.
    pub records: usize,
}

/// A record that a run may use if it cannot create one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Fixture {
    /// Its name, such as `event`.
    pub name: String,
    /// The record that was given.
    pub named: Option<String>,
    /// The requirements that need it. If none is given, the run uses the first listed record, if
    /// there is one.
    pub rows: Vec<String>,
}

/// One check of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PlannedCheck {
    /// Its id.
    pub id: String,
    /// Why it does not run.
    #[serde(rename = "left_out")]
    pub skip_reason: Option<String>,
    /// Whether it writes.
    pub writes: bool,
    /// The approximate number of requests. `None` if it was never measured.
    pub requests: Option<usize>,
    /// The approximate number of records that it creates.
    pub records: Option<usize>,
    /// The requirements that it checks.
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
            skip_reason: left_out,
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
        let runs = || checks.iter().filter(|check| check.skip_reason.is_none());
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

/// Returns the requests and records of a check. Each line is `check,intensity,requests,records`. If
/// this intensity was not measured, the next lower one is used.
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
        writeln!(
            f,
            "target {}   {} requirements apply\n",
            self.target, self.rows
        )?;
        let number = |number: Option<usize>| {
            number.map_or_else(|| "?".to_owned(), |number| number.to_string())
        };
        for check in self
            .checks
            .iter()
            .filter(|check| check.skip_reason.is_none())
        {
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
            .filter(|check| check.skip_reason.is_some())
            .collect();
        if !left_out.is_empty() {
            writeln!(f, "\nnot run:")?;
        }
        for check in left_out {
            writeln!(
                f,
                " {:<36} {}",
                check.id,
                display_text(check.skip_reason.as_deref().unwrap_or_default(), 200)
            )?;
        }
        if !self.fixtures.is_empty() {
            writeln!(
                f,
                "\nfixtures, records that a run cannot create (--fixture NAME=ADDRESS, or `fixture.NAME` in a declaration file):"
            )?;
        }
        for Fixture { name, named, rows } in &self.fixtures {
            let named = named.as_deref().unwrap_or("not given");
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
            "\nabout {requests} requests, {records} records, and {clean_up} requests to find and delete them"
        )
    }
}

/// Returns the first few ids.
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

    /// A new check must be measured, and a removed one must be deleted from the file.
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
            "measure them as described in src/plan.rs"
        );
        let named = COSTS.lines().filter_map(|line| line.split(',').next());
        let gone: Vec<&str> = named
            .filter(|id| !all.iter().any(|check| check.id == *id))
            .collect();
        assert_eq!(gone, Vec::<&str>::new(), "there are no such checks");
        // The measured values are plausible: a run at the default intensity sends thousands of
        // requests.
        let sent = all
            .iter()
            .filter_map(|check| costs(check.id, Intensity::Default))
            .map(|(requests, _)| requests);
        assert!(sent.sum::<usize>() > 5000);
    }
}

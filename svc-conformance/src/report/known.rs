//! Known faults: the faults that the self-test plants, each with the requirements that fail for it.
//!
//! If the failures of a run contain those of a known fault, they most likely have one cause. The
//! name of the fault shows what to look for. `svc-self-test --known FILE` writes the file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// One line per fault: its name, a tab, and its requirements. `HAL-02..05` is short for four
/// requirements.
const KNOWN: &str = include_str!("../../known-faults.tsv");

/// The minimum percentage of the requirements of a fault that must be judged, and of the judged
/// ones that must fail. Another seed may omit some.
const FITS: usize = 75;
/// How many failures are outweighed by one requirement of a fault that does not fail.
const OUTWEIGHS: usize = 2;

/// The faults for which the same requirements fail.
struct Known {
    names: Vec<&'static str>,
    rows: BTreeSet<String>,
}

static ALL: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let mut names: BTreeMap<BTreeSet<String>, Vec<&'static str>> = BTreeMap::new();
    for (name, rows) in KNOWN.lines().filter_map(|line| line.split_once('\t')) {
        names
            .entry(rows.split(' ').flat_map(ids).collect())
            .or_default()
            .push(name);
    }
    names
        .into_iter()
        .map(|(rows, names)| Known { names, rows })
        .collect()
});

/// Returns the ids of `HAL-02` or `HAL-02..05`.
fn ids(text: &str) -> Vec<String> {
    let range = || {
        let (first, last) = text.split_once("..")?;
        let (area, first) = first.rsplit_once('-')?;
        let (first, last): (u16, u16) = (first.parse().ok()?, last.parse().ok()?);
        Some(
            (first..=last)
                .map(|number| format!("{area}-{number:02}"))
                .collect(),
        )
    };
    range().unwrap_or_else(|| vec![text.to_owned()])
}

/// Returns the names of all known faults.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|known| known.names.iter().copied())
}

/// Known faults that explain failures.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Explained<'r> {
    /// The names of the faults; each of them explains the failures.
    pub(super) names: Vec<&'static str>,
    /// The failed requirements that no previous fault explains.
    pub(super) rows: BTreeSet<&'r str>,
}

/// Returns the known faults that explain the most failed requirements, one after another. `judged`
/// contains the requirements that passed or failed. A fault is compared by those only, provided
/// that they are most of its requirements. The faults in `without` are not used.
pub(super) fn explained<'r>(
    failed: &BTreeSet<&'r str>,
    judged: &BTreeSet<&str>,
    without: &BTreeSet<&str>,
) -> Vec<Explained<'r>> {
    let mut open: Vec<Candidate<'r>> = ALL
        .iter()
        .filter_map(|known| Candidate::new(known, failed, judged, without))
        .collect();
    let mut found: Vec<Explained<'r>> = Vec::new();
    loop {
        let best = open
            .iter()
            .max_by_key(|one| one.weight())
            .filter(|one| one.explains_enough());
        let Some(best) = best else { return found };
        let explained = Explained {
            names: best.names.clone(),
            rows: best.rows.clone(),
        };
        for one in &mut open {
            one.rows.retain(|row| !explained.rows.contains(row));
        }
        open.retain(|one| !one.rows.is_empty());
        found.push(explained);
    }
}

/// A fault nearly all of whose requirements fail.
struct Candidate<'r> {
    names: Vec<&'static str>,
    /// Its failed requirements that are not explained yet.
    rows: BTreeSet<&'r str>,
    /// How many of its requirements were judged.
    judged: usize,
    /// How many of them passed.
    passed: usize,
}

impl<'r> Candidate<'r> {
    fn new(
        known: &Known,
        failed: &BTreeSet<&'r str>,
        judged: &BTreeSet<&str>,
        without: &BTreeSet<&str>,
    ) -> Option<Self> {
        let names: Vec<&str> = known
            .names
            .iter()
            .copied()
            .filter(|name| !without.contains(name))
            .collect();
        let rows: BTreeSet<&'r str> = known
            .rows
            .iter()
            .filter_map(|row| failed.get(row.as_str()).copied())
            .collect();
        let judged = known
            .rows
            .iter()
            .filter(|row| judged.contains(row.as_str()))
            .count();
        let is_most =
            |part: usize, whole: usize| part.saturating_mul(100) >= whole.saturating_mul(FITS);
        let fits = is_most(judged, known.rows.len()) && is_most(rows.len(), judged);
        let passed = judged.saturating_sub(rows.len());
        (fits && !rows.is_empty() && !names.is_empty()).then_some(Self {
            names,
            rows,
            judged,
            passed,
        })
    }

    /// Returns how much it explains, minus the evidence against it. Of equal candidates, the one
    /// with the fewest requirements is best.
    fn weight(&self) -> (isize, std::cmp::Reverse<usize>) {
        let against = self.passed.saturating_mul(OUTWEIGHS);
        (
            self.rows
                .len()
                .cast_signed()
                .saturating_sub_unsigned(against),
            std::cmp::Reverse(self.judged),
        )
    }

    fn explains_enough(&self) -> bool {
        self.weight().0 > 0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ALL, explained, ids, names};
    use crate::catalogue::Catalogue;

    #[test]
    fn every_row_of_a_known_fault_exists_and_no_name_comes_twice() {
        let catalogue = Catalogue::built_in().expect("the catalogue");
        for row in ALL.iter().flat_map(|known| &known.rows) {
            assert!(catalogue.requirement(row).is_some(), "{row}");
        }
        let names: Vec<&str> = names().collect();
        assert!(names.len() > 1000, "{}", names.len());
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn ranges_of_rows_are_read() {
        assert_eq!(
            ids("RES-person-09..11"),
            ["RES-person-09", "RES-person-10", "RES-person-11"]
        );
        assert_eq!(ids("HAL-02"), ["HAL-02"]);
    }

    #[test]
    fn each_known_fault_explains_its_own_rows_with_one_cause() {
        let catalogue = Catalogue::built_in().expect("the catalogue");
        let judged: BTreeSet<&str> = catalogue
            .requirements()
            .iter()
            .map(|row| row.id.as_str())
            .collect();
        for known in ALL.iter() {
            let failed: BTreeSet<&str> = known.rows.iter().map(String::as_str).collect();
            let all = explained(&failed, &judged, &BTreeSet::new());
            assert!(
                all.len() == 1 && all[0].names == known.names,
                "{:?}: {all:?}",
                known.names
            );
        }
        assert_eq!(explained(&BTreeSet::new(), &judged, &BTreeSet::new()), []);
    }

    #[test]
    fn a_fault_is_not_used_where_most_of_its_rows_pass_or_where_it_is_left_out() {
        let known = ALL
            .iter()
            .find(|known| known.rows.len() > 4)
            .expect("a fault with several requirements");
        let failed: BTreeSet<&str> = known.rows.iter().map(String::as_str).take(2).collect();
        let judged: BTreeSet<&str> = known.rows.iter().map(String::as_str).collect();
        let is_it = |names: &[&str]| names == known.names;
        assert!(
            !explained(&failed, &judged, &BTreeSet::new())
                .iter()
                .any(|one| is_it(&one.names))
        );
        let without: BTreeSet<&str> = known.names.iter().copied().collect();
        assert!(
            !explained(&judged, &judged, &without)
                .iter()
                .any(|one| is_it(&one.names))
        );
        // A fault is unknown if only two of its requirements were judged.
        assert!(
            !explained(&failed, &failed, &BTreeSet::new())
                .iter()
                .any(|one| is_it(&one.names))
        );
    }
}

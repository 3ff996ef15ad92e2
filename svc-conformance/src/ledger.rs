//! The ledger of proven rows: what a test run has shown, row by row.
//!
//! A row counts as proven only through [`row!`](crate::row), an assertion that fails with the row's id. A comment or the
//! name of a test proves nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::catalogue::{Catalogue, Level, Row};

/// A thread-safe record of the rows that were observed to hold, with the number of observations of each.
///
/// Many ledgers may be kept (one per row family) and added up with [`Ledger::add`].
#[derive(Debug, Default)]
pub struct Ledger {
    observations: Mutex<BTreeMap<String, usize>>,
}

impl Ledger {
    /// An empty ledger; usable as a `static`.
    #[must_use]
    pub const fn new() -> Self {
        Self { observations: Mutex::new(BTreeMap::new()) }
    }

    /// Records one observation of a row that holds; what [`row!`](crate::row) calls.
    ///
    /// # Panics
    /// If `holds` is false: with the id, the level and the statement of the row and the caller's message. If the
    /// catalogue has no row of this id: a ledger that took any name would prove nothing.
    #[track_caller]
    #[expect(clippy::panic, reason = "an assertion's job")]
    pub fn observe(&self, id: &str, holds: bool, message: fmt::Arguments<'_>) {
        let row = match Catalogue::built_in() {
            Ok(catalogue) => catalogue.row(id),
            Err(error) => panic!("{error}"),
        };
        let Some(row) = row else { panic!("the catalogue has no row {id}") };
        assert!(holds, "{} {}: {}\n  {message}", row.id, row.level, row.statement);
        let mut observations = self.observations.lock().unwrap_or_else(PoisonError::into_inner);
        let count = observations.entry(row.id.clone()).or_default();
        *count = count.saturating_add(1);
    }

    /// How often a row was observed to hold.
    #[must_use]
    pub fn count(&self, id: &str) -> usize {
        self.observations.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied().unwrap_or_default()
    }

    /// The ids of the proven rows, sorted, each with its number of observations.
    #[must_use]
    pub fn proven(&self) -> Vec<(String, usize)> {
        let observations = self.observations.lock().unwrap_or_else(PoisonError::into_inner);
        observations.iter().map(|(id, count)| (id.clone(), *count)).collect()
    }

    /// Takes over everything that another ledger has.
    pub fn add(&self, other: &Self) {
        let proven = other.proven();
        let mut observations = self.observations.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, count) in proven {
            let sum = observations.entry(id).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// The rows of a level that are neither proven here nor exempt; each exemption is an id with its reason.
    #[must_use]
    pub fn missing<'c>(&self, catalogue: &'c Catalogue, level: Level, exemptions: &[(&str, &str)]) -> Vec<&'c Row> {
        let observations = self.observations.lock().unwrap_or_else(PoisonError::into_inner);
        let due = |row: &&Row| {
            row.level == level && !observations.contains_key(&row.id) && exemptions.iter().all(|(id, _)| *id != row.id)
        };
        catalogue.rows().iter().filter(due).collect()
    }
}

/// Asserts that a row of the catalogue holds, and records the observation in a [`Ledger`](crate::ledger::Ledger).
///
/// `row!(ledger, "COL-23", condition)` or `row!(ledger, "COL-23", condition, "message {}", arguments)`. A condition that does not
/// hold panics with the id, the level and the statement of the row; an id that the catalogue does not have panics at once.
#[macro_export]
macro_rules! row {
    ($ledger:expr, $id:expr, $holds:expr $(,)?) => {
        $ledger.observe($id, $holds, ::std::format_args!("not so: {}", ::std::stringify!($holds)))
    };
    ($ledger:expr, $id:expr, $holds:expr, $($message:tt)+) => {
        $ledger.observe($id, $holds, ::std::format_args!($($message)+))
    };
}

//! Families of cases: each family is run once per process, and its outcome is shared.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use svc_conformance::ledger::Ledger;

use crate::fixture::Fixture;

/// A case: its name and what it does with a service of its own.
pub(crate) type Case = (&'static str, fn(&Fixture));

/// The cases that prove one family of rows.
pub(crate) struct Family {
    name: &'static str,
    cases: &'static [Case],
    outcome: OnceLock<Outcome>,
}

/// What a family has shown.
struct Outcome {
    ledger: Arc<Ledger>,
    failures: Vec<String>,
}

impl Family {
    pub(crate) const fn new(name: &'static str, cases: &'static [Case]) -> Self {
        Self { name, cases, outcome: OnceLock::new() }
    }

    /// Runs every case, unless the process has done so before.
    fn outcome(&self) -> &Outcome {
        self.outcome.get_or_init(|| {
            let ledger = Arc::new(Ledger::new());
            let mut failures = Vec::new();
            for (name, case) in self.cases {
                let run = || case(&Fixture::open(&ledger));
                if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
                    failures.push(format!("{}, {name}: {}", self.name, text(&*panic)));
                }
            }
            Outcome { ledger, failures }
        })
    }

    /// Fails with every case that failed.
    #[track_caller]
    pub(crate) fn assert(&self) {
        let failures = &self.outcome().failures;
        assert!(
            failures.is_empty(),
            "{} of {} cases failed\n\n{}",
            failures.len(),
            self.cases.len(),
            failures.join("\n\n")
        );
    }

    /// Adds what the family has proven to a ledger.
    pub(crate) fn report(&self, ledger: &Ledger) {
        ledger.add(&self.outcome().ledger);
    }
}

/// The words of a panic.
fn text(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without words".to_owned())
}

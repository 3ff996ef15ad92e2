//! The ledger counts what was observed, and nothing else.

use std::panic::catch_unwind;

use svc_conformance::catalogue::{Catalogue, Level};
use svc_conformance::ledger::Ledger;
use svc_conformance::row;

fn message(run: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = catch_unwind(run).expect_err("a panic");
    panic.downcast_ref::<String>().cloned().expect("a text")
}

#[test]
fn an_observation_that_holds_is_counted() {
    let ledger = Ledger::new();
    row!(ledger, "COL-23", 1 + 1 == 2);
    row!(ledger, "COL-23", true, "never shown {}", 1);
    assert_eq!(ledger.count("COL-23"), 2);
    assert_eq!(ledger.proven(), [("COL-23".to_owned(), 2)]);
}

#[test]
fn an_observation_that_does_not_hold_names_the_row() {
    let text = message(|| row!(Ledger::new(), "COL-20", 3 == 4, "got {}", 3));
    assert!(text.starts_with("COL-20 MUST: Collection body field `total_pages`"), "{text}");
    assert!(text.ends_with("got 3"), "{text}");
}

#[test]
fn a_failed_observation_proves_nothing() {
    let ledger = Ledger::new();
    let failed = catch_unwind(std::panic::AssertUnwindSafe(|| row!(ledger, "COL-20", false)));
    assert!(failed.is_err());
    assert_eq!(ledger.count("COL-20"), 0);
}

#[test]
fn an_unknown_id_is_refused_at_once() {
    assert_eq!(message(|| row!(Ledger::new(), "COL-99", true)), "the catalogue has no row COL-99");
}

#[test]
fn missing_rows_are_those_neither_proven_nor_exempt() {
    let catalogue = Catalogue::built_in().expect("a catalogue");
    let ledger = Ledger::new();
    let missing = |ledger: &Ledger| ledger.missing(catalogue, Level::Must, &[("COL-02", "a reason")]).len();
    assert_eq!(missing(&ledger), 539);
    row!(ledger, "COL-01", true);
    row!(ledger, "COL-29", true);
    assert_eq!(missing(&ledger), 538);
}

#[test]
fn ledgers_add_up() {
    let (one, other) = (Ledger::new(), Ledger::new());
    row!(one, "COL-01", true);
    row!(other, "COL-01", true);
    row!(other, "COL-02", true);
    one.add(&other);
    assert_eq!((one.count("COL-01"), one.count("COL-02")), (2, 1));
}

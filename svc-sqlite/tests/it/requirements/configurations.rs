//! The server conforms in every set-up: runs the suite at its lowest intensity on each. `.ci/run
//! settings` runs these tests.

use svc_conformance::{Intensity, RequirementOutcome};

use crate::requirements::fixture::Fixture;

/// Runs the suite on a set-up. Only the known requirements may fail, and every named requirement
/// must pass.
fn conforms(set_up: &str, known: &[&str], rows: &[&str]) {
    let fixture = Fixture::open(&set_up.split(' ').collect::<Vec<_>>());
    let report = fixture
        .wait(fixture.suite().intensity(Intensity::Quick).run())
        .expect("a run");
    let broken = report
        .with_outcome(RequirementOutcome::Fail)
        .chain(report.with_outcome(RequirementOutcome::Error));
    let broken: Vec<&str> = broken.map(|row| row.id.as_str()).collect();
    assert_eq!(broken, known, "with the set-up {set_up:?}: {report}");
    for id in rows {
        let row = report
            .requirement(id)
            .unwrap_or_else(|| panic!("no requirement {id}"));
        assert_eq!(
            row.outcome,
            RequirementOutcome::Pass,
            "{id} with the set-up {set_up:?}: {}",
            row.reason
        );
    }
}

#[test]
#[ignore = "takes a minute with the others: .ci/run settings"]
fn the_default_runner_of_helpers() {
    conforms(
        "composed",
        &[],
        &[
            "HLP-03", "HLP-04", "HLP-07", "HLP-11", "HLP-12", "HLP-13", "HLP-14", "HLP-15",
            "HLP-19", "HAF-01", "ERR-29", "COL-10",
        ],
    );
}

#[test]
#[ignore = "takes a minute with the others: .ci/run settings"]
fn helpers_that_leave_nothing_behind() {
    conforms("whole-call", &[], &["ERR-34", "ERR-37"]);
}

#[test]
#[ignore = "takes a minute with the others: .ci/run settings"]
fn the_style_of_the_examples() {
    conforms("examples", &[], &["CRU-13", "CRU-14", "ERR-17", "ERR-33"]);
}

#[test]
#[ignore = "takes a minute with the others: .ci/run settings"]
fn another_dialect_at_another_address() {
    conforms(
        "prefix=abc base=https://example.org/deep/er/path/v3/",
        &[],
        &["HAL-01", "HAL-09", "HAL-10", "VER-01"],
    );
    conforms("base=http://api.example.org/", &[], &["HAL-01", "ENT-01"]);
}

#[test]
#[ignore = "takes a minute with the others: .ci/run settings"]
fn helpers_only() {
    conforms("helpers-only", &[], &["CAP-10", "HLP-19"]);
}

#[test]
#[ignore = "takes a minute with the others: .ci/run settings"]
fn fewer_operations_and_functions() {
    conforms(
        "without=petitions.update without=petitions.delete without=tags.list without=haf.add_tags",
        &[],
        &["ERR-07", "ERR-38", "CAP-04"],
    );
    let all = "people petitions events forms fundraising_pages donations tags lists queries questions share_pages";
    for many in all.split(' ') {
        let fixture = Fixture::open(&[&format!("without={many}.list")]);
        let entry = fixture.get(&fixture.base);
        assert!(
            entry["_links"].get(format!("svc:{many}")).is_none(),
            "{many} are linked although they cannot be listed"
        );
    }
}

//! Which failures are one cause.

use super::{CauseReport, of};
use crate::cause::{Cause, Flaw};
use crate::outcome::{Finding, Outcome};
use crate::report::RowReport;

/// A failed row with its findings: a check, a message, a cause and the status of the answer before, 0 for none.
fn failed(id: &str, found: &[(&str, &str, Option<(Flaw, &str)>, u16)]) -> RowReport {
    let finding = |(check, message, cause, status): &(&str, &str, Option<(Flaw, &str)>, u16)| Finding {
        check: (*check).to_owned(),
        message: (*message).to_owned(),
        exchange: 1,
        smallest: Vec::new(),
        cause: cause.map(|(flaw, subject)| Cause::new(flaw, subject)),
        refused: (*status > 0).then(|| ("PUT".to_owned(), *status)),
    };
    RowReport {
        id: id.to_owned(),
        level: "MUST".to_owned(),
        outcome: Outcome::Fail,
        reason: String::new(),
        advice: String::new(),
        observations: 1,
        checks: Vec::new(),
        findings: found.iter().map(finding).collect(),
        replay: None,
    }
}

fn rows_of(causes: &[CauseReport]) -> Vec<Vec<&str>> {
    let mut rows: Vec<Vec<&str>> = causes.iter().map(|cause| cause.rows.iter().map(String::as_str).collect()).collect();
    rows.sort();
    rows
}

#[test]
fn a_field_with_several_flaws_is_one_cause_and_named_by_the_first() {
    let rows = [
        failed("TYP-08", &[("typ/person", "gender was sent as", Some((Flaw::Altered, "person.gender")), 0)]),
        failed("RES-person-06", &[("hal/self", "person.gender is 7", Some((Flaw::Type, "person.gender")), 0)]),
        failed("RES-person-08", &[("res/gender", "the two differ", None, 0)]),
        failed("RES-event-21", &[("typ/event", "status was sent as", Some((Flaw::NotStored, "event.status")), 0)]),
    ];
    let causes = of(&rows);
    assert_eq!(rows_of(&causes), [vec!["RES-event-21"], vec!["TYP-08", "RES-person-06", "RES-person-08"]]);
    let first = &causes[0];
    assert_eq!((first.flaw, first.subjects.concat()), (Some(Flaw::Type), "person.gender".to_owned()));
    assert_eq!((first.shows.as_str(), first.received.as_str()), ("RES-person-06", "person.gender is 7"));
    assert!(first.expected.contains("gender"), "{}", first.expected);
}

#[test]
fn a_row_with_two_named_causes_is_in_both_and_joins_nothing() {
    let (title, name) = ((Flaw::NotStored, "petition.title"), (Flaw::NotStored, "form.name"));
    let rows = [
        failed(
            "TYP-01",
            &[("typ/a", "title was sent as", Some(title), 0), ("typ/b", "name was sent as", Some(name), 0)],
        ),
        failed("RES-petition-03", &[("typ/a", "title was sent as", Some(title), 0)]),
        failed("RES-form-02", &[("typ/a", "name was sent as", Some(name), 0)]),
    ];
    assert_eq!(rows_of(&of(&rows)), [["TYP-01", "RES-form-02"], ["TYP-01", "RES-petition-03"]]);
}

#[test]
fn more_fields_than_are_told_apart_are_one_cause() {
    let names = ["person.a", "event.b", "form.c", "petition.d"];
    let row = |(at, name): (usize, &&str)| failed(&format!("R-{at}"), &[("c", "m", Some((Flaw::Altered, *name)), 0)]);
    let rows: Vec<RowReport> = names.iter().enumerate().map(row).collect();
    let causes = of(&rows);
    assert_eq!(causes.len(), 1);
    assert_eq!(
        causes[0].what,
        "`event.b` reads otherwise than it was sent; so it is with 3 others, such as `petition.d`"
    );
    assert_eq!(of(&rows[..3]).len(), 3);
}

#[test]
fn failures_without_a_named_cause_share_a_member_a_sentence_a_check_or_a_refusal() {
    let rows = [
        failed("COL-20", &[("col/a", "total_records is 3", None, 0)]),
        failed("RES-petition-10", &[("res/b", "4 members and a total_records of 3", None, 0)]),
        failed("ENT-10", &[("ent/c", "the link to people leads to no collection: GET", None, 0)]),
        failed("HAL-05", &[("hal/d", "the link to signatures leads to no collection: GET", None, 0)]),
        failed("ERR-14", &[("err/e", "a", None, 409)]),
        failed("LIM-06", &[("lim/f", "b", None, 409)]),
        failed("IDM-02", &[("idm/g", "c", None, 0)]),
        failed("IDM-03", &[("idm/h", "d", None, 0)]),
        failed("SCH-05", &[("sch/i", "e", None, 404)]),
    ];
    let causes = of(&rows);
    assert_eq!(
        rows_of(&causes),
        [
            vec!["COL-20", "RES-petition-10"],
            vec!["ENT-10", "HAL-05"],
            vec!["ERR-14", "LIM-06"],
            vec!["IDM-02", "IDM-03"],
            vec!["SCH-05"]
        ]
    );
    assert!(causes.iter().all(|cause| cause.flaw.is_none() && cause.what.ends_with(" does not hold")));
}

//! Failures by their cause: the first part of the report for mutants whose fault is known.

use std::collections::BTreeSet;

use svc_conformance::{CauseKind, Format, Intensity, Report, RequirementOutcome};
use svc_self_test::mutants::{Mutant, registry};
use svc_self_test::trial::suite;

type Planted = (
    &'static str,
    &'static [&'static str],
    CauseKind,
    &'static str,
    &'static [&'static str],
);

/// A planted fault, the checks that detect it, and the cause that the report names: its type, its
/// subject, and requirements of it.
const PLANTED: &[Planted] = &[
    (
        "email_address.status is lost",
        &["typ/person", "cru/arrays-of-person", "hlp/inline-person"],
        CauseKind::NotStored,
        "email_addresses[].status",
        &[
            "TYP-08",
            "RES-email_address-05",
            "RES-person-29",
            "CRU-18",
            "HLP-03",
        ],
    ),
    (
        "person.family_name is lost",
        &["typ/person", "hlp/signup", "mod/sequences"],
        CauseKind::NotStored,
        "person.family_name",
        &["TYP-01", "RES-person-01", "HLP-19", "ERR-15"],
    ),
    (
        "only the first member of a list is taken",
        &["typ/person", "cru/arrays-of-person"],
        CauseKind::Altered,
        "person.email_addresses",
        &["TYP-12", "CRU-18"],
    ),
    (
        "person.gender has another type",
        &["typ/person"],
        CauseKind::Type,
        "person.gender",
        &["TYP-08", "RES-person-06"],
    ),
    (
        "petition without signatures",
        &["RES-petition-19"],
        CauseKind::Link,
        "petition.signatures",
        &["RES-petition-19"],
    ),
    (
        "declared updates are not there",
        &["ERR-15", "CRU-11"],
        CauseKind::Refused,
        "questions.update",
        &["CRU-11", "ERR-15"],
    ),
    (
        "the key belongs into another header",
        &["CRU-10"],
        CauseKind::KeyRight,
        "questions.create",
        &["CRU-10"],
    ),
    (
        "cache-control-public",
        &["HAL-04", "ENT-09"],
        CauseKind::Header,
        "Cache-Control",
        &["HAL-04"],
    ),
    (
        "no count of pages",
        &["COL-20"],
        CauseKind::Paging,
        "",
        &["COL-20"],
    ),
    (
        "modified_date stays",
        &["CRU-19"],
        CauseKind::Dates,
        "",
        &["CRU-19"],
    ),
    (
        "errors as text",
        &["ERR-12", "ERR-33"],
        CauseKind::ErrorBody,
        "",
        &["ERR-12", "ERR-33"],
    ),
    (
        "helpers take no function",
        &["HAF-05"],
        CauseKind::Function,
        "add_lists",
        &["HAF-05"],
    ),
];

async fn report(name: &str, only: &[&str]) -> Report {
    let faults = registry();
    let named = |fault: &&Mutant| fault.name == name;
    let fault = faults
        .iter()
        .find(named)
        .unwrap_or_else(|| panic!("the fault `{name}` does not exist"));
    let subject = fault.start().await.expect("a service");
    let run = suite(&subject, Intensity::Quick, 1)
        .only(only.iter().copied())
        .run()
        .await;
    run.unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[tokio::test]
async fn planted_faults_have_the_cause_that_was_planted() {
    for (name, only, flaw, subject, rows) in PLANTED {
        let report = report(name, only).await;
        let cause = report
            .causes
            .iter()
            .find(|cause| cause.flaw == Some(*flaw) && cause.subjects.concat() == *subject);
        let cause = cause.unwrap_or_else(|| panic!("{name}: {:#?}", report.causes));
        let missing: Vec<_> = rows
            .iter()
            .filter(|row| !cause.rows.iter().any(|known| known == *row))
            .collect();
        assert!(
            missing.is_empty(),
            "{name}: {missing:?} are not in {:?}",
            cause.rows
        );
        // Every requirement of a cause failed, and every cause has a failed requirement.
        let failed: BTreeSet<&str> = report
            .with_outcome(RequirementOutcome::Fail)
            .map(|row| row.id.as_str())
            .collect();
        for cause in &report.causes {
            assert!(
                !cause.rows.is_empty()
                    && cause.rows.iter().all(|row| failed.contains(row.as_str())),
                "{cause:?}"
            );
        }
    }
}

/// The cause is first, with advice; the failed requirements of the cause follow.
#[tokio::test]
async fn reports_say_the_cause_first() {
    let (name, only, ..) = PLANTED[0];
    let report = report(name, only).await;
    let count = report.causes[0].rows.len();
    assert!(count >= 5, "{:?}", report.causes);
    let text = report.to_string();
    let said = format!(
        "CAUSE {count} requirements fail for one cause: `email_addresses[].status` is declared as writable but not stored.\n  Store it, or declare less.\n"
    );
    assert!(
        text.find(&said)
            .is_some_and(|at| at < text.find("\nFAIL ").expect("a failure")),
        "{text}"
    );
    let markdown = report.to_format(Format::Markdown);
    assert!(
        markdown.contains("| `email_addresses[].status` is declared as writable but not stored |"),
        "{markdown}"
    );
    // A report from before causes were introduced is readable as well.
    let mut json: serde_json::Value =
        serde_json::from_str(&report.to_format(Format::Json)).expect("JSON");
    assert_eq!(json["causes"][0]["flaw"], "not_stored");
    json.as_object_mut().expect("an object").remove("causes");
    assert_eq!(
        serde_json::from_value::<Report>(json)
            .expect("a report")
            .causes,
        []
    );
}

/// A problem of a great many fields is one cause, not one for each field.
#[tokio::test]
async fn what_is_wrong_everywhere_is_one_cause() {
    let report = report("texts have doubled quotes", &["typ/*"]).await;
    let altered: Vec<_> = report
        .causes
        .iter()
        .filter(|cause| cause.flaw == Some(CauseKind::Altered))
        .collect();
    assert!(
        altered.len() == 1 && altered[0].subjects.len() > 10 && altered[0].rows.len() > 20,
        "{altered:?}"
    );
    assert!(
        altered[0]
            .what
            .contains(" others are also affected, such as `"),
        "{}",
        altered[0].what
    );
}

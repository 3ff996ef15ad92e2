//! Profiles: the program's list, the README's table, and the requirements of a run with a profile.

use std::fs;
use std::path::Path;

use svc_conformance::catalogue::Catalogue;
use svc_conformance::{Profile, Report, RequirementOutcome};

use crate::support::{Server, ended, folder, program, run};

fn listed(arguments: &[&str]) -> String {
    let output = program(folder().path())
        .arg("profiles")
        .args(arguments)
        .output()
        .expect("the program");
    let (code, said) = ended(&output);
    assert_eq!(code, 0, "{said}");
    said
}

/// The README contains the table that `svc-conformance profiles --format markdown` writes.
#[test]
fn the_readme_has_the_table_of_the_profiles() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md"))
        .expect("a README");
    let table = listed(&["--format", "markdown"]);
    assert!(
        readme.contains(&table),
        "the README needs this table:\n{table}"
    );
}

#[test]
fn each_profile_is_listed_with_its_needs() {
    let text = listed(&[]);
    for profile in Profile::every() {
        assert!(
            text.contains(profile.claim()) && profile.needs().all(|need| text.contains(need)),
            "{profile:?}: {text}"
        );
    }
    assert!(
        text.contains("formerly read-only") && text.contains("formerly full"),
        "{text}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&listed(&["--format", "json"])).expect("JSON");
    assert_eq!(
        json.as_array().map(Vec::len),
        Some(Profile::every().count())
    );
}

/// A run tests the requirements of its profile. A former name is still accepted, and reports
/// contain the current one.
#[test]
fn a_run_judges_the_rows_of_its_profile() {
    let (server, folder) = (Server::good(), folder());
    let report = |arguments: &[&str]| {
        let little = [
            "--only",
            "ENT-09",
            "--only",
            "RES-person-0*",
            "--only",
            "RES-event-0*",
            "--report",
            "json=report.json",
        ];
        let (code, said) = run(
            folder.path(),
            &server.base,
            &[&little[..], arguments].concat(),
        );
        assert_eq!(code, 0, "{said}");
        let text = fs::read_to_string(folder.path().join("report.json")).expect("a report");
        serde_json::from_str::<Report>(&text).expect("a report")
    };
    let crm = report(&["--profile", "crm"]);
    assert_eq!(crm.profile, Profile::Crm);
    let catalogue = Catalogue::built_in().expect("a catalogue");
    for row in &crm.rows {
        let is_part = Profile::Crm.has_row(catalogue.requirement(&row.id).expect("a row"));
        assert!(
            is_part
                || matches!(
                    row.outcome,
                    RequirementOutcome::Disabled | RequirementOutcome::NotApplicable
                ),
            "{}: {}",
            row.id,
            row.outcome
        );
    }
    let event = crm.requirement("RES-event-02").expect("a row");
    assert_eq!(
        (event.outcome, event.reason.as_str()),
        (RequirementOutcome::Disabled, "not part of the profile crm")
    );
    assert!(crm.count(RequirementOutcome::Pass) > 1, "{crm}");
    let all = report(&["--profile", "full"]);
    assert_eq!(all.profile, Profile::All);
    assert_eq!(
        all.requirement("RES-event-02").map(|row| row.outcome),
        Some(RequirementOutcome::Pass)
    );
    let read = report(&["--profile", "read-only"]);
    assert_eq!((read.profile, read.clean_up.created), (Profile::Read, 0));
}

/// The second service declares what every profile needs except one: it cannot report what has
/// changed.
#[test]
fn a_conformant_server_conforms_to_every_profile_whose_least_it_declares() {
    let (server, folder) = (Server::good(), folder());
    for profile in Profile::every() {
        let little = [
            "--only",
            "ENT",
            "--intensity",
            "quick",
            "--profile",
            profile.as_str(),
        ];
        let (code, said) = run(folder.path(), &server.base, &little);
        let lacks = said.contains("PROFILE exchange requires a way to find what has changed");
        assert_eq!(
            (code == 1, lacks),
            (profile == Profile::Exchange, profile == Profile::Exchange),
            "{profile:?}: {said}"
        );
        assert!(code <= 1 && !said.contains("FAIL"), "{profile:?}: {said}");
    }
}

/// Reports of earlier versions contain the former names.
#[test]
fn a_former_name_in_a_report_is_read() {
    for (name, profile) in [
        ("read-only", Profile::Read),
        ("full", Profile::All),
        ("actions", Profile::Actions),
    ] {
        let read: Profile = serde_json::from_value(name.into()).expect("a profile");
        assert_eq!(read, profile);
        assert_eq!(serde_json::to_value(read).expect("JSON"), profile.as_str());
    }
}

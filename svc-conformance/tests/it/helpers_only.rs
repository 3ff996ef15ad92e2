//! Servers that offer only helpers and neither create nor return a record directly can be tested
//! and can pass.
//!
//! Requirements: CAP-10.

use std::error::Error;

use svc_conformance::{Intensity, Profile, Report, RequirementOutcome, SuiteError};
use svc_self_test::subject::TestSubject;
use svc_self_test::unusual::UnusualServer;
use svc_self_test::{mutants, trial, unusual};

const GIVEN: &str = "record helpers alone, whose addresses are given";
const REFERENCE: &str = "the reference server with helpers only";

fn server(name: &str) -> Result<UnusualServer, Box<dyn Error>> {
    Ok(unusual::registry()
        .into_iter()
        .find(|odd| odd.name == name)
        .ok_or("no such server")?)
}

async fn subject() -> Result<TestSubject, Box<dyn Error>> {
    Ok(server(GIVEN)?.start().await?)
}

/// Returns the requirements that prevent the exit code 0.
fn open(report: &Report) -> Vec<String> {
    let rows = report
        .inconclusive()
        .chain(report.with_outcome(RequirementOutcome::Fail))
        .chain(report.with_outcome(RequirementOutcome::Error));
    rows.map(|row| format!("{} {}: {} {}", row.id, row.outcome, row.reason, row.advice))
        .collect()
}

/// With the addresses of the helpers, or a list of their containers, a run decides every
/// requirement.
///
/// Requirements: CAP-10.
#[tokio::test]
async fn servers_with_helpers_alone_pass() -> Result<(), Box<dyn Error>> {
    for name in [
        GIVEN,
        "record helpers alone, which match people",
        "helpers only, of containers that are listed",
        REFERENCE,
    ] {
        for intensity in [Intensity::Quick, Intensity::Default] {
            let suite = trial::suite(&server(name)?.start().await?, intensity, 7)
                .profile(Profile::HelpersOnly);
            let report = suite.run().await?;
            assert_eq!(open(&report), Vec::<String>::new(), "{name}, {intensity:?}");
            assert_eq!(report.exit_code(), 0, "{name}, {intensity:?}: {report}");
            // The reference server does not declare fields of records that it does not return.
            let field = (name != REFERENCE).then_some("RES-signature-04");
            for id in ["HLP-01", "HLP-03", "HLP-06", "HLP-07", "HLP-11", "HLP-15"]
                .into_iter()
                .chain(field)
            {
                assert_eq!(
                    report.requirement(id).map(|row| row.outcome),
                    Some(RequirementOutcome::Pass),
                    "{name}: {id}"
                );
            }
        }
    }
    Ok(())
}

/// A fault of such a server is detected.
#[tokio::test]
async fn a_fault_of_a_server_with_helpers_alone_is_found() -> Result<(), Box<dyn Error>> {
    let faults: Vec<_> = mutants::registry()
        .into_iter()
        .filter(|fault| fault.family == "helpers alone")
        .collect();
    assert!(faults.len() >= 5, "{} faults", faults.len());
    for fault in faults {
        let report = trial::suite(&fault.start().await?, Intensity::Quick, 7)
            .run()
            .await?;
        let failed: Vec<&str> = report
            .with_outcome(RequirementOutcome::Fail)
            .map(|row| row.id.as_str())
            .collect();
        assert!(
            failed.iter().any(|row| fault.breaks(row)),
            "{}: {failed:?}",
            fault.name
        );
        assert_eq!(report.exit_code(), 1, "{}", fault.name);
    }
    Ok(())
}

/// Without the address of a helper its requirements are undecided, and the advice names the fixture
/// that decides them.
#[tokio::test]
async fn the_advice_names_the_fixture_of_the_helper() -> Result<(), Box<dyn Error>> {
    let mut subject = subject().await?;
    let named = std::mem::take(&mut subject.fixtures);
    let suite = trial::suite(&subject, Intensity::Quick, 7)
        .only(["HLP-03", "HLP-11", "HLP-15", "HLP-16", "HLP-22"]);
    let mut with_advice = suite.clone();
    for row in suite.run().await?.inconclusive() {
        let (_, rest) = row
            .advice
            .split_once("--fixture ")
            .ok_or("the advice names no fixture")?;
        let (name, _) = rest
            .split_once("=ADDRESS")
            .ok_or("the advice asks for no address")?;
        let (_, address) = named
            .iter()
            .find(|(one, _)| one == name)
            .ok_or("the server does not have the fixture")?;
        with_advice = with_advice.fixture(name, address);
    }
    let report = with_advice.run().await?;
    assert_eq!(open(&report), Vec::<String>::new());
    assert_eq!(
        report.requirement("HLP-11").map(|row| row.outcome),
        Some(RequirementOutcome::Pass)
    );
    Ok(())
}

/// An address without a helper does not make the server fail, and the report names the option to
/// set.
#[tokio::test]
async fn a_wrong_address_of_a_helper_fails_no_requirement() -> Result<(), Box<dyn Error>> {
    let mut subject = subject().await?;
    for (_, address) in &mut subject.fixtures {
        address.push_str("000");
    }
    let report = trial::suite(&subject, Intensity::Quick, 7)
        .only(["HLP"])
        .run()
        .await?;
    assert_eq!(report.count(RequirementOutcome::Fail), 0, "{report}");
    let row = report.requirement("HLP-11").ok_or("a row")?;
    assert_eq!(row.outcome, RequirementOutcome::Inconclusive, "{row:?}");
    assert!(
        row.reason
            .contains("the fixture helper.record_signature does not exist"),
        "{}",
        row.reason
    );
    assert!(
        row.advice.contains(
            "pass the URL of a helper that the key may use with --fixture helper.record_signature"
        ),
        "{}",
        row.advice
    );
    Ok(())
}

/// A fixture that cannot be the address of a helper ends the run before its first request.
#[tokio::test]
async fn what_is_no_address_of_a_declared_helper_is_refused() -> Result<(), Box<dyn Error>> {
    for (name, address, reason) in [
        ("helper.record_signature", "17", "is not a URL"),
        (
            "helper.record_signature",
            "http://elsewhere.example.org/do/record_signature/1",
            "is on another host",
        ),
        (
            "helper.record_everything",
            "/rest/do/1",
            "there is no fixture `helper.record_everything`",
        ),
    ] {
        let suite = trial::suite(&subject().await?, Intensity::Quick, 7).fixture(name, address);
        match suite.run().await {
            Err(SuiteError::Usage(text)) => assert!(text.contains(reason), "{text}"),
            other => return Err(format!("{name}={address}: {other:?}").into()),
        }
    }
    let mut options = svc_self_test::independent_server::ServerOptions::default();
    options.without.push("petitions".to_owned());
    options.without.push("signatures".to_owned());
    let suite = trial::suite(&TestSubject::second_server(options), Intensity::Quick, 7);
    let refused = suite
        .fixture("helper.record_signature", "/rest/do/record_signature/1")
        .run()
        .await;
    assert!(
        matches!(&refused, Err(SuiteError::Usage(text)) if text.contains("does not declare")),
        "{refused:?}"
    );
    Ok(())
}

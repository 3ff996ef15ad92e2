//! One run of the suite against one service.

use std::time::Duration;

use super::mutants::Mutant;
use super::subject::TestSubject;
use svc_conformance::DeclarationSource;
use svc_conformance::InProcess;
use svc_conformance::Intensity;
use svc_conformance::Keys;
use svc_conformance::Report;
use svc_conformance::RequirementOutcome;
use svc_conformance::Suite;
use svc_conformance::SuiteError;

/// The longest wait for a message. The reference server makes a second attempt after 5 to 6 s.
const LONGEST_WAIT: Duration = Duration::from_secs(12);

/// Runs the suite against a mutant. The run ends at the first confirmed failure of one of `rows`,
/// or executes every check if `rows` is empty. If the fault hides the declaration, the suite gets
/// the declaration of the correct service as a file.
pub(super) async fn faulty(
    fault: &Mutant,
    intensity: Intensity,
    seed: u64,
    rows: &[String],
) -> Result<Report, String> {
    let ends_there = |suite: Suite| {
        if rows.is_empty() {
            suite
        } else {
            suite.stop_at_failure_of(rows)
        }
    };
    let start = || async { fault.start().await.map_err(|error| error.to_string()) };
    let ran = ends_there(suite(&start().await?, intensity, seed))
        .run()
        .await;
    match ran {
        Err(SuiteError::NotPublished(_) | SuiteError::Declaration(_)) => {
            let declaration = fault
                .over
                .declaration()
                .await
                .map_err(|error| error.to_string())?;
            let subject = start().await?;
            let suite = suite(&subject, intensity, seed)
                .declaration_from(declaration, DeclarationSource::File);
            ends_there(suite)
                .run()
                .await
                .map_err(|error| error.to_string())
        }
        other => other.map_err(|error| error.to_string()),
    }
}

/// Returns the requirements of a report that failed.
pub(super) fn failed(report: &Report) -> impl Iterator<Item = &svc_conformance::RequirementReport> {
    report.with_outcome(RequirementOutcome::Fail)
}

/// Returns a run of the suite against a service.
#[must_use]
pub fn suite(subject: &TestSubject, intensity: Intensity, seed: u64) -> Suite {
    let mut keys = Keys::primary(&subject.key);
    if let Some(other) = &subject.other_key {
        keys = keys.other_tenant(other);
    }
    if let Some((key, lacks)) = &subject.restricted_key {
        keys = keys.restricted(key, lacks);
    }
    let mut target = InProcess::new(subject.wire.clone()).base_url(subject.base.clone());
    if let Some(time) = subject.time.clone() {
        target = target.on_wait(move |duration| time.pass(duration));
    }
    let mut suite = Suite::new(target)
        .keys(keys)
        .trust_keys(true)
        .intensity(intensity)
        .seed(seed);
    for (name, address) in &subject.fixtures {
        suite = suite.fixture(name, address);
    }
    if subject.sends() {
        suite = suite
            .webhook_receiver("127.0.0.1:0")
            .webhook_timeout(LONGEST_WAIT);
    }
    // A trial always has the same result.
    let suite = suite.nonce(format!("{seed:012x}"));
    suite.clean_up(false).allow_side_effects(true)
}

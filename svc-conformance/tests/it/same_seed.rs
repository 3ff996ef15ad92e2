//! The same seed sends the same requests, whatever is filtered. Several runs on the same data do
//! not affect each other.

use std::convert::Infallible;

use svc_conformance::{InProcess, Intensity, Keys, Report, RequirementOutcome, Suite};
use svc_core::auth::Operation;
use svc_core::model::Kind;
use svc_self_test::independent_server::ServerOptions;
use svc_self_test::subject::TestSubject;
use tokio::task::yield_now;
use tower::ServiceExt;

/// Checks of every type.
const PART: &[&str] = &[
    "ent/*",
    "typ/petition",
    "cru/*-of-signature",
    "err/*-of-form",
    "mod/sequences",
];

fn suite(subject: &TestSubject, seed: u64, only: &[&str]) -> Suite {
    // Runs in one thread send their requests alternately.
    let in_turn = subject.wire.clone().and_then(async |response| {
        yield_now().await;
        Ok::<_, Infallible>(response)
    });
    Suite::new(InProcess::new(in_turn).base_url(subject.base.clone()))
        .keys(Keys::primary(subject.key.clone()))
        .intensity(Intensity::Quick)
        .only(only.iter().copied())
        .seed(seed)
}

async fn run(seed: u64, only: &[&str]) -> Report {
    let subject = TestSubject::second_server(ServerOptions::default());
    suite(&subject, seed, only)
        .nonce("thesamenonce")
        .run()
        .await
        .expect("a run")
}

#[tokio::test]
async fn two_runs_of_one_seed_send_the_same() {
    let (one, other) = (run(7, PART).await, run(7, PART).await);
    assert!(one.requests > 200, "{one}");
    assert_eq!((one.requests, one.digest), (other.requests, other.digest));
}

#[tokio::test]
async fn another_seed_sends_something_else() {
    let (one, other) = (
        run(7, &["mod/sequences"]).await,
        run(8, &["mod/sequences"]).await,
    );
    assert_ne!(one.digest, other.digest);
}

/// A second run with the same seed does not use the records of the first run, which still exist.
#[tokio::test]
async fn records_that_stay_disturb_no_later_run() {
    let subject = TestSubject::second_server(ServerOptions {
        matches_people: true,
        ..ServerOptions::default()
    });
    for _ in 0..2 {
        let report = suite(&subject, 7, &["typ/*", "cru/*", "hlp/*", "mod/sequences"])
            .clean_up(false)
            .run()
            .await;
        let report = report.expect("a run");
        assert_eq!(report.exit_code(), 0, "{report}");
    }
}

/// On a server without deletes, a second run with the same seed has the same results.
#[tokio::test]
async fn runs_on_a_server_without_deletes_have_the_same_results() {
    let subject = TestSubject::reference(|mut api| {
        for kind in Kind::ALL {
            if kind.schema().has_operation(Operation::Delete) {
                api = api.without_capability(&format!("{}.delete", kind.plural()));
            }
        }
        api
    });
    let subject = subject.await.expect("a server");
    let mut results = Vec::new();
    for _ in 0..2 {
        let report = suite(&subject, 7, &["*"]).run().await.expect("a run");
        let accused = report.with_outcome(RequirementOutcome::Fail).count();
        assert_eq!(accused, 0, "{report}");
        let outcomes = report.rows.iter().map(|row| (row.id.clone(), row.outcome));
        results.push((report.exit_code(), outcomes.collect::<Vec<_>>()));
    }
    assert_eq!(results.first(), results.get(1));
}

/// Simultaneous runs on the same data do not mistake each other's writes for a failure of the
/// server.
#[tokio::test]
async fn runs_at_the_same_time_fail_no_requirement() {
    let subject = TestSubject::second_server(ServerOptions {
        matches_people: true,
        ..ServerOptions::default()
    });
    let run = |seed| suite(&subject, seed, &["mod/*", "haf/unknown*", "hlp/canvass*"]).run();
    let (one, other) = tokio::join!(run(7), run(8));
    for report in [one, other] {
        let report = report.expect("a run");
        let accused = report.rows.iter().filter(|row| {
            matches!(
                row.outcome,
                RequirementOutcome::Fail | RequirementOutcome::Warn
            )
        });
        assert_eq!(accused.count(), 0, "{report}");
        assert!(report.requests > 100, "{report}");
    }
}

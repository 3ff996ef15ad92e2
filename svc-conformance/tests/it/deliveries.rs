//! The receiver of webhooks, over real sockets: the messages of the reference server are checked,
//! and missing settings are named.

use std::time::Duration;

use svc_conformance::{InProcess, Keys, Report, RequirementOutcome, Suite};
use svc_self_test::subject::TestSubject;

/// The requirements that only a receiver can observe.
const RECEIVED: [&str; 5] = ["HOOK-07", "HOOK-08", "HOOK-11", "HOOK-12", "MRG-13"];

async fn run(subject: &TestSubject, set_up: impl FnOnce(Suite) -> Suite) -> Report {
    let target = InProcess::new(subject.wire.clone()).base_url(subject.base.clone());
    let (narrow, lacks) = subject.restricted_key.clone().expect("a restricted key");
    let suite = Suite::new(target)
        .keys(Keys::primary(&subject.key).restricted(narrow, lacks))
        .only(["HOOK", "MRG-13"]);
    set_up(suite).run().await.expect("a report")
}

fn outcome<'r>(report: &'r Report, row: &str) -> (RequirementOutcome, &'r str) {
    let row = report.requirement(row).expect("a requirement");
    (row.outcome, row.reason.as_str())
}

#[tokio::test]
async fn deliveries_of_a_conformant_server_pass() {
    let subject = TestSubject::sending(|api| api).await.expect("a server");
    let report = run(&subject, |suite| suite.webhook_receiver("127.0.0.1:0")).await;
    for row in RECEIVED.into_iter().chain(["HOOK-03"]) {
        assert_eq!(
            outcome(&report, row),
            (RequirementOutcome::Pass, ""),
            "{row}"
        );
    }
    let seen = &report.requirement("HOOK-03").expect("a requirement").checks;
    assert!(
        seen.iter().any(|check| check == "hook/readable"),
        "{seen:?}"
    );
    let left = subject.wire.send(call(&subject)).await;
    assert!(
        !String::from_utf8_lossy(&left.body).contains("127.0.0.1"),
        "the webhooks with the receiver's address are removed"
    );
}

/// Returns the list of webhooks.
fn call(subject: &TestSubject) -> svc_self_test::transport::BufferedRequest {
    let key = subject.key.parse().expect("a header");
    svc_self_test::transport::BufferedRequest {
        method: http::Method::GET,
        uri: format!("{}webhooks", subject.base)
            .parse()
            .expect("an address"),
        headers: http::HeaderMap::from_iter([(
            http::HeaderName::from_static("svc-api-token"),
            key,
        )]),
        body: bytes::Bytes::new(),
    }
}

#[tokio::test]
async fn without_a_receiver_deliveries_are_not_applicable() {
    let subject = TestSubject::sending(|api| api).await.expect("a server");
    let report = run(&subject, |suite| suite).await;
    for row in RECEIVED {
        let expected = (
            RequirementOutcome::NotApplicable,
            "no receiver was given (--webhook-receiver)",
        );
        assert_eq!(outcome(&report, row), expected, "{row}");
    }
}

/// A server that sends only to the internet rejects the receiver's address, which is not a failure
/// of the server.
#[tokio::test]
async fn a_receiver_that_the_server_refuses_leaves_deliveries_undecided() {
    let subject = TestSubject::reference(svc_core::ApiBuilder::merge_people)
        .await
        .expect("a server");
    let report = run(&subject, |suite| suite.webhook_receiver("127.0.0.1:0")).await;
    for row in RECEIVED {
        let (outcome, reason) = outcome(&report, row);
        assert_eq!(outcome, RequirementOutcome::Inconclusive, "{row}");
        assert!(reason.contains("--webhook-receiver-url"), "{reason}");
    }
}

/// If nothing is sent to the receiver's URL, the failure names the waiting time.
#[tokio::test]
async fn a_server_that_sends_nothing_fails() {
    let subject = TestSubject::sending(|api| api).await.expect("a server");
    let elsewhere = |suite: Suite| {
        let suite = suite
            .webhook_receiver_url("http://127.0.0.1:9/hooks/")
            .webhook_timeout(Duration::from_millis(300));
        suite.only(["hook/delivered"])
    };
    let report = run(&subject, elsewhere).await;
    let (outcome, reason) = outcome(&report, "HOOK-07");
    assert_eq!(outcome, RequirementOutcome::Fail);
    assert!(
        reason.contains("no message arrived within 300ms after"),
        "{reason}"
    );
}

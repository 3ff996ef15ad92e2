//! The same seed sends the same requests, whatever is filtered.

use svc_conformance::{InProcess, Intensity, Keys, Report, Suite};
use svc_self_test::second_server::Options;
use svc_self_test::subject::Subject;

/// Checks of every sort.
const PART: &[&str] = &["ent/*", "typ/petition", "cru/*-of-signature", "err/*-of-form", "mod/sequences"];

async fn run(seed: u64, only: &[&str]) -> Report {
    let subject = Subject::second_server(Options::default());
    Suite::new(InProcess::new(subject.wire.clone()).base(subject.base.clone()))
        .keys(Keys::primary(subject.key.clone()))
        .intensity(Intensity::Quick)
        .only(only.iter().copied())
        .seed(seed)
        .nonce("same")
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
    let (one, other) = (run(7, &["mod/sequences"]).await, run(8, &["mod/sequences"]).await);
    assert_ne!(one.digest, other.digest);
}

//! The stateful search finds faults that only a sequence of requests brings out, and shrinks them (feature `self-test`).

use svc_conformance::self_test::faults::{Planted, planted};
use svc_conformance::{InProcess, Keys, Report, Suite};

async fn searched(planted: &Planted, seed: u64) -> Report {
    let subject = planted.fault.start().await.expect("a faulty server");
    Suite::new(InProcess::new(subject.wire.clone()).base(subject.base.clone()))
        .keys(Keys::primary(subject.key.clone()))
        .only(["mod/sequences"])
        .stop_at_failure(planted.fault.rows.clone())
        .clean_up(false)
        .seed(seed)
        .run()
        .await
        .expect("a run")
}

#[tokio::test]
async fn every_planted_fault_is_found_and_shrunk() {
    for planted in planted() {
        for seed in 0..1 {
            let report = searched(&planted, seed).await;
            let name = &planted.fault.name;
            println!("{name}, seed {seed}: {} requests", report.requests);
            let findings: Vec<_> =
                report.rows.iter().filter(|row| planted.fault.breaks(&row.id)).flat_map(|row| &row.findings).collect();
            let fewest = findings.iter().map(|finding| finding.smallest.len()).filter(|steps| *steps > 0).min();
            let steps = fewest.unwrap_or_else(|| panic!("{name}, seed {seed}: not found\n{report}"));
            assert!(steps <= planted.steps + 1, "{name}, seed {seed}: {steps} steps\n{report}");
        }
    }
}

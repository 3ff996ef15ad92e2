//! The stateful search finds faults that become visible only in a sequence of requests, and shrinks
//! them. `self-test` runs it with 20 seeds.

use svc_conformance::Intensity;
use svc_self_test::mutants::planted;
use svc_self_test::smallest::search;

#[tokio::test]
async fn every_planted_fault_is_found_and_shrunk() {
    for planted in planted() {
        let found = search(&planted, Intensity::Default, 0..1).await;
        assert!(found.is_near(), "{found:#?}");
    }
}

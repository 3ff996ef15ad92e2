//! Bodies generated from the declaration: valid, at a limit, or with exactly one error.

mod body;
mod compare;
mod constraints;
mod field_value;
mod invalid_body;
mod minimal_body;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::seed::Seed;

pub(crate) use body::{BodyVariant, FieldValue, body, described_values, part};
pub(crate) use compare::{differs, lost, lost_in, restored, same};
pub(crate) use constraints::{has_order, max_items};
pub(crate) use invalid_body::{InvalidBody, faults};
pub(crate) use minimal_body::{complete, minimal_body, with, without};

/// Returns one value of a strategy. The same seed returns the same value.
pub(crate) fn sample<S: Strategy>(strategy: &S, seed: Seed) -> Option<S::Value> {
    strategy
        .new_tree(&mut runner(seed))
        .ok()
        .map(|tree| tree.current())
}

/// Returns a runner whose random numbers depend only on the seed.
pub(crate) fn runner(seed: Seed) -> TestRunner {
    let config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(
        config,
        TestRng::from_seed(RngAlgorithm::ChaCha, &seed.bytes()),
    )
}

//! Shared by the tests of this crate: a backend in memory, an API over it, and generators from the
//! tables.

pub(crate) mod generate;
pub(crate) mod partial_calls;
pub(crate) mod server;
pub(crate) mod store_backend;
pub(crate) mod typed_backend;

use proptest::test_runner::{Config, RngSeed};

/// Uses the same cases in every run and writes no files. `PROPTEST_RNG_SEED` and `PROPTEST_CASES`
/// select others.
pub(crate) fn config(cases: u32) -> Config {
    let asked = Config::default();
    let rng_seed = if asked.rng_seed == RngSeed::Random {
        RngSeed::Fixed(7396)
    } else {
        asked.rng_seed
    };
    let cases = if asked.cases == 256 {
        cases
    } else {
        asked.cases
    };
    Config {
        rng_seed,
        cases,
        failure_persistence: None,
        ..asked
    }
}

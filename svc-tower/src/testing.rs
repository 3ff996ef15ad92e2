//! How the property tests of this crate run.

use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run, and no files: `PROPTEST_RNG_SEED` and `PROPTEST_CASES` change that.
pub(crate) fn config() -> Config {
    let default = Config::default();
    let rng_seed = if default.rng_seed == RngSeed::Random {
        RngSeed::Fixed(7396)
    } else {
        default.rng_seed
    };
    Config {
        rng_seed,
        failure_persistence: None,
        ..default
    }
}

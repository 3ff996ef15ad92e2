//! The configuration of the property tests of this crate.

use proptest::test_runner::{Config, RngSeed};

/// Returns a configuration with the same cases in every run and without files. `PROPTEST_RNG_SEED`
/// and `PROPTEST_CASES` change this.
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

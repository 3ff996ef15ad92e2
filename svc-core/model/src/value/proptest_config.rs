//! The configuration of the property tests of this crate.

use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed},
};

/// Returns a configuration with the same cases in every run and without files. `PROPTEST_RNG_SEED`
/// and `PROPTEST_CASES` override it.
pub(crate) fn config() -> Config {
    let asked = Config::default();
    let rng_seed = if asked.rng_seed == RngSeed::Random {
        RngSeed::Fixed(7396)
    } else {
        asked.rng_seed
    };
    Config {
        rng_seed,
        failure_persistence: None,
        ..asked
    }
}

/// Texts of characters that are difficult to compare.
pub(crate) fn awkward() -> impl Strategy<Value = String> {
    let letters: Vec<char> =
        "aAbzZ09.-_+@\"\\ \u{a0}\u{301}\u{308}\u{212a}éÉßẞςσΣıİаÅ\u{212b}ﬁ。ü\u{200b}\u{200d}[]:xn漢\u{5d0}"
            .chars()
            .collect();
    prop::collection::vec(prop::sample::select(letters), 0..14)
        .prop_map(|letters| letters.into_iter().collect())
}

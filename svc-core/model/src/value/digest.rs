//! Digests that can be stored and compared later.

use twox_hash::{XxHash3_64, XxHash3_128};

/// Returns a digest of 128 bits, which is the same on every machine and in every build.
///
/// It distinguishes different data, but it is not secure against forgery. Use it only if the author
/// of both texts would gain nothing from a collision.
#[must_use]
pub fn digest(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

/// Returns a digest of 64 bits, for data that is compared with a single other value.
#[must_use]
pub fn short_digest(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published digest of the empty text. Digests that another build stored remain valid.
    #[test]
    fn idm_04_etg_01_syn_03_every_build_gives_the_same() {
        assert_eq!(digest(b""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        assert_ne!(digest(b"a"), digest(b"b"));
        assert_eq!(short_digest(b""), 0x2d06_8005_38d3_94c2);
        assert_ne!(short_digest(b"a"), short_digest(b"b"));
    }
}

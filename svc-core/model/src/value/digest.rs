//! A digest that outlives programs.

use twox_hash::{XxHash3_64, XxHash3_128};

/// 128 bits that stand for these bytes: the same on every machine and from every build, as they are
/// kept and compared later.
///
/// They tell other bytes apart, not forged ones: nobody but who wrote both would gain anything.
#[must_use]
pub fn digest(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

/// [`digest`] in 64 bits, for what is compared with one other value only.
#[must_use]
pub fn short_digest(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published value of nothing: what was kept by another build is still found.
    #[test]
    fn idm_04_etg_01_syn_03_every_build_gives_the_same() {
        assert_eq!(digest(b""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
        assert_ne!(digest(b"a"), digest(b"b"));
        assert_eq!(short_digest(b""), 0x2d06_8005_38d3_94c2);
        assert_ne!(short_digest(b"a"), short_digest(b"b"));
    }
}

//! A digest that outlives programs.

/// FNV-1a of 128 bits over these parts: the same on every machine and from every compiler, as what is kept outlives a program.
/// It tells mistakes apart, not forgeries: whoever forges a request has the key of the first one.
pub(crate) fn digest(parts: &[&[u8]]) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let bytes = parts.iter().flat_map(|part| part.iter().copied().chain([0]));
    bytes.fold(BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest is kept: it must never be another one.
    #[test]
    fn idm_04_a_request_is_told_from_others_by_every_build() {
        assert_eq!(digest(&[]), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(digest(&[b"people", b"{}"]), digest(&[b"people", b"{}"]));
        assert_ne!(digest(&[b"people", b"{}"]), digest(&[b"people{}", b""]));
        // The published value of "foobar", whose end is not marked there.
        assert_eq!(
            b"foobar".iter().fold(digest(&[]), |hash, byte| (hash ^ u128::from(*byte))
                .wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)),
            0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18
        );
    }
}

//! Pseudo-random numbers that are always the same.

/// A stream of numbers that its seed determines: the generator `SplitMix64`.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    /// Returns the stream of a name. Different names have different streams.
    pub(super) fn named(name: &str) -> Self {
        // FNV-1a distributes short names over all bits.
        let hash =
            |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Self(name.bytes().fold(0xcbf2_9ce4_8422_2325, hash))
    }

    /// Returns the next number.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`, or zero if `bound` is zero.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        let scaled = u128::from(self.next()).wrapping_mul(u128::from(bound)) >> 64;
        u32::try_from(scaled).unwrap_or_default()
    }

    /// Returns true with a probability of `share` percent.
    pub(super) fn percent(&mut self, share: u32) -> bool {
        self.below(100) < share
    }

    /// Returns one of the values, with equal probability.
    pub(super) fn pick<'a, T>(&mut self, values: &'a [T]) -> Option<&'a T> {
        let place = self.below(u32::try_from(values.len()).unwrap_or(u32::MAX));
        values.get(usize::try_from(place).unwrap_or_default())
    }

    /// Returns one of the texts, or an empty text if there is none.
    pub(super) fn text(&mut self, values: &[&'static str]) -> &'static str {
        self.pick(values).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_name_decides_the_stream() {
        let numbers = |name: &str| {
            let mut random = Random::named(name);
            [random.next(), random.next(), random.next()]
        };
        assert_eq!(numbers("demo"), numbers("demo"));
        assert_ne!(numbers("demo"), numbers("other"));
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all_of_it() {
        let mut random = Random::named("demo");
        let mut met = [false; 7];
        for _ in 0..500 {
            let number = random.below(7) as usize;
            met[number] = true;
        }
        assert_eq!(met, [true; 7]);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.text(&[]), "");
    }
}

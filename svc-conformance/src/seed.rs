//! Randomness: every check has its own seed, derived from the seed of the run and the id of the
//! check. Filters therefore change nothing.

/// A seed from which other seeds and values are derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seed(u64);

impl Seed {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the seed for a name.
    pub(crate) fn of(self, name: &str) -> Self {
        // FNV-1a, then one step of splitmix64: the same in all versions and on all machines.
        let fold =
            |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let hash = self
            .0
            .to_le_bytes()
            .into_iter()
            .chain(name.bytes())
            .fold(0xcbf2_9ce4_8422_2325, fold);
        Self(mixed(hash))
    }

    /// Returns a short name of this seed, of letters and digits.
    pub(crate) fn token(self) -> String {
        format!("{:012x}", self.0 >> 16)
    }

    /// Returns a random number generator.
    pub(crate) const fn rng(self) -> Rng {
        Rng(self.0)
    }

    /// Returns the seed in the form of proptest.
    pub(crate) fn bytes(self) -> [u8; 32] {
        let mut rng = self.rng();
        let mut bytes = [0; 32];
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&rng.next().to_le_bytes());
        }
        bytes
    }
}

/// A random number generator (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }

    /// Returns a number below a bound, or zero for the bound zero.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        self.next()
            .checked_rem(bound)
            .and_then(|rest| usize::try_from(rest).ok())
            .unwrap_or(0)
    }

    /// Returns one of the items.
    pub(crate) fn pick<'t, T>(&mut self, things: &'t [T]) -> Option<&'t T> {
        let at = self.below(things.len());
        things.get(at)
    }

    /// Returns true once in `n` times on average.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

const fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::Seed;

    #[test]
    fn a_seed_depends_on_the_run_and_the_name_alone() {
        assert_eq!(Seed::new(42).of("a"), Seed::new(42).of("a"));
        assert_ne!(Seed::new(42).of("a"), Seed::new(42).of("b"));
        assert_ne!(Seed::new(42).of("a"), Seed::new(43).of("a"));
        assert_eq!(Seed::new(1).token().len(), 12);
        // These values must not change: replay files and reports contain seeds.
        assert_eq!(
            Seed::new(42).of("col/paging").rng().next(),
            Seed::new(42).of("col/paging").rng().next()
        );
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut rng = Seed::new(7).rng();
        assert!((0..1000).all(|_| rng.below(5) < 5));
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.pick::<u8>(&[]), None);
    }
}

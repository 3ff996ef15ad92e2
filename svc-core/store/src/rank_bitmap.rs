//! A set of row ids that finds its n-th member. The cost is the same for every n.

/// The number of row ids in one bucket.
const BUCKET: i64 = 64;

/// A set of row ids that finds its n-th member.
///
/// It stores one bit for each row in buckets of 64 consecutive ids, and a Fenwick tree with the
/// number of members of each bucket. This takes 20 bytes for each bucket that has ever had a
/// member. Updates are idempotent.
///
/// Requirements: COL-22.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct RankBitmap {
    /// The numbers of the buckets in ascending order: row id divided by 64.
    buckets: Vec<i64>,
    /// The members of each bucket.
    bits: Vec<u64>,
    /// Node `i`, counted from 1, is the number of members of the buckets after `i - lowest_bit(i)`
    /// up to `i`.
    tree: Vec<u32>,
}

impl RankBitmap {
    /// Returns the memory use in bytes.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.buckets.capacity().saturating_mul(20)
    }

    /// Adds a row. This is fast after the last row and in an existing bucket. A new bucket between
    /// others moves all later buckets.
    pub fn insert(&mut self, seq: i64) {
        let (number, bit) = place(seq);
        let index = match self.buckets.last() {
            Some(last) if *last < number => Err(self.buckets.len()),
            None => Err(0),
            Some(_) => self.buckets.binary_search(&number),
        };
        let index = index.unwrap_or_else(|index| {
            self.buckets.insert(index, number);
            self.bits.insert(index, 0);
            self.regrow(index);
            index
        });
        if let Some(bits) = self.bits.get_mut(index).filter(|bits| **bits & bit == 0) {
            *bits |= bit;
            self.count(index, |node| node.saturating_add(1));
        }
    }

    /// Removes a row.
    pub fn remove(&mut self, seq: i64) {
        let (number, bit) = place(seq);
        let Ok(index) = self.buckets.binary_search(&number) else {
            return;
        };
        if let Some(bits) = self.bits.get_mut(index).filter(|bits| **bits & bit != 0) {
            *bits &= !bit;
            self.count(index, |node| node.saturating_sub(1));
        }
    }

    /// Returns the row id at `position`, counted from 0.
    #[must_use]
    pub fn nth(&self, position: u64) -> Option<i64> {
        let mut rest = position;
        let mut index = 0_usize;
        let mut step = self
            .tree
            .len()
            .checked_ilog2()
            .map_or(0, |log| 1_usize << log);
        while step > 0 {
            let node = index.saturating_add(step);
            if let Some(members) = self
                .tree
                .get(node.saturating_sub(1))
                .map(|members| u64::from(*members))
                && members <= rest
            {
                rest = rest.saturating_sub(members);
                index = node;
            }
            step >>= 1;
        }
        let (number, mut bits) = self.buckets.get(index).zip(self.bits.get(index).copied())?;
        for _ in 0..rest {
            // Clears the lowest set bit.
            bits &= bits.wrapping_sub(1);
        }
        Some(
            number
                .saturating_mul(BUCKET)
                .saturating_add(i64::from(bits.trailing_zeros())),
        )
    }

    /// Updates the nodes that include a bucket.
    fn count(&mut self, index: usize, change: impl Fn(u32) -> u32) {
        let mut node = index.saturating_add(1);
        while let Some(members) = self.tree.get_mut(node.saturating_sub(1)) {
            *members = change(*members);
            node = node.saturating_add(lowest_bit(node));
        }
    }

    /// Computes the nodes starting with a new bucket.
    fn regrow(&mut self, index: usize) {
        self.tree.truncate(index);
        for bits in self.bits.iter().skip(index) {
            let node = self.tree.len().saturating_add(1);
            let mut members = bits.count_ones();
            let mut below = 1;
            while below < lowest_bit(node) {
                let child = self.tree.get(node.saturating_sub(below).saturating_sub(1));
                members = members.saturating_add(child.copied().unwrap_or_default());
                below <<= 1;
            }
            self.tree.push(members);
        }
    }
}

impl FromIterator<i64> for RankBitmap {
    fn from_iter<I: IntoIterator<Item = i64>>(rows: I) -> Self {
        let mut members = Self::default();
        rows.into_iter().for_each(|seq| members.insert(seq));
        members
    }
}

/// Returns the bucket of a row and its bit in the bucket.
fn place(seq: i64) -> (i64, u64) {
    (seq.div_euclid(BUCKET), 1 << seq.rem_euclid(BUCKET))
}

fn lowest_bit(node: usize) -> usize {
    node & node.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn agrees(members: &RankBitmap, model: &BTreeSet<i64>) {
        for (position, seq) in model.iter().enumerate() {
            assert_eq!(
                members.nth(position as u64),
                Some(*seq),
                "position {position}"
            );
        }
        for beyond in [0, 1, 63, 64, 1000, u64::MAX] {
            assert_eq!(members.nth(beyond.saturating_add(model.len() as u64)), None);
        }
    }

    #[test]
    fn nobody() {
        agrees(&RankBitmap::default(), &BTreeSet::new());
    }

    #[test]
    fn a_million_rows_take_little_memory() {
        let members: RankBitmap = (1..=1_000_000).collect();
        assert_eq!(members.nth(0), Some(1));
        assert_eq!(members.nth(975_000), Some(975_001));
        assert_eq!(members.nth(1_000_000), None);
        assert!(
            members.memory_bytes() < 1 << 20,
            "{}",
            members.memory_bytes()
        );
    }

    #[test]
    fn extreme_rows() {
        let rows = [i64::MIN, -1, 0, 63, 64, i64::MAX];
        agrees(&rows.into_iter().collect(), &rows.into_iter().collect());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20), ..ProptestConfig::default() })]

        /// After any inserts and removals in any order, every position returns the right row.
        ///
        /// Requirements: COL-22, UND-20.
        #[test]
        fn as_a_sorted_set(changes in prop::collection::vec((prop_oneof![0_i64..2_000, 0_i64..100_000], prop::bool::weighted(0.7)), 0..300)) {
            let mut members = RankBitmap::default();
            let mut model = BTreeSet::new();
            for (seq, is_member) in changes {
                if is_member {
                    members.insert(seq);
                    model.insert(seq);
                } else {
                    members.remove(seq);
                    model.remove(&seq);
                }
            }
            agrees(&members, &model);
        }
    }
}

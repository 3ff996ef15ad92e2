//! A queue that serves its tenants fairly.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    hash::Hash,
};

/// A queue of items of several tenants.
///
/// It returns the items of one tenant in the order in which they arrived. It returns one item of
/// each waiting tenant before it returns another item of the same one. A tenant with many items
/// therefore delays each other tenant by at most one item.
///
/// # Examples
///
/// ```
/// use svc_core::fair_queue::FairQueue;
///
/// let mut queue = FairQueue::default();
/// for item in [1, 2, 3] {
///     queue.push("busy", item);
/// }
/// queue.push("quiet", 4);
/// let order: Vec<i32> = std::iter::from_fn(|| queue.pop()).collect();
/// assert_eq!(order, [1, 4, 2, 3]);
/// ```
pub struct FairQueue<K, T> {
    waiting: HashMap<K, VecDeque<T>>,
    len: usize,
    /// The tenants with waiting items, the next one first.
    turns: VecDeque<K>,
}

impl<K, T> Default for FairQueue<K, T> {
    fn default() -> Self {
        Self {
            waiting: HashMap::new(),
            len: 0,
            turns: VecDeque::new(),
        }
    }
}

impl<K, T> fmt::Debug for FairQueue<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FairQueue")
            .field("tenants", &self.turns.len())
            .finish_non_exhaustive()
    }
}

impl<K: Hash + Eq + Clone, T> FairQueue<K, T> {
    /// Appends an item of a tenant.
    pub fn push(&mut self, tenant: K, item: T) {
        self.len = self.len.saturating_add(1);
        if let Some(items) = self.waiting.get_mut(&tenant) {
            items.push_back(item);
        } else {
            self.turns.push_back(tenant.clone());
            self.waiting.insert(tenant, VecDeque::from([item]));
        }
    }

    /// Removes and returns the first item of the next tenant. Returns `None` if the queue is empty.
    pub fn pop(&mut self) -> Option<T> {
        let tenant = self.turns.pop_front()?;
        let items = self.waiting.get_mut(&tenant)?;
        let item = items.pop_front();
        self.len = self.len.saturating_sub(1);
        if items.is_empty() {
            self.waiting.remove(&tenant);
        } else {
            self.turns.push_back(tenant);
        }
        item
    }

    /// Returns the number of waiting items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of waiting items of a tenant.
    #[must_use]
    pub fn len_of(&self, tenant: &K) -> usize {
        self.waiting.get(tenant).map_or(0, VecDeque::len)
    }

    /// Returns the number of tenants with waiting items.
    #[must_use]
    pub fn tenants(&self) -> usize {
        self.turns.len()
    }

    /// Returns whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every item is returned once, and those of a tenant in their order. No tenant waits while
        /// another one is served twice.
        #[test]
        fn tenants_are_served_in_turn(items in proptest::collection::vec((0_u8..5, any::<u16>()), 0..60)) {
            let mut queue = FairQueue::default();
            for (tenant, item) in &items {
                queue.push(*tenant, (*tenant, *item));
            }
            prop_assert_eq!((queue.is_empty(), queue.len()), (items.is_empty(), items.len()));
            prop_assert_eq!(queue.len_of(&0), items.iter().filter(|(tenant, _)| *tenant == 0).count());
            let served: Vec<(u8, u16)> = std::iter::from_fn(|| queue.pop()).collect();
            prop_assert!(queue.is_empty() && queue.waiting.is_empty());
            prop_assert_eq!((queue.len(), queue.tenants()), (0, 0));
            for tenant in 0..5 {
                let of = |all: &[(u8, u16)]| all.iter().filter(|(of, _)| *of == tenant).copied().collect::<Vec<_>>();
                prop_assert_eq!(of(&served), of(&items));
            }
            for (place, (tenant, _)) in served.iter().enumerate() {
                let Some(gap) = served.iter().skip(place + 1).position(|(of, _)| of == tenant) else { continue };
                let between: Vec<u8> = served.iter().skip(place + 1).take(gap).map(|(of, _)| *of).collect();
                let still_waiting: Vec<u8> = served.iter().skip(place + 1).map(|(of, _)| *of).collect();
                for other in still_waiting.into_iter().filter(|other| other != tenant) {
                    prop_assert!(between.contains(&other), "{} is served twice before {}", tenant, other);
                }
            }
        }
    }
}

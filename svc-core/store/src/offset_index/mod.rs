//! Finds the start of page n of a collection. The cost is the same for page 2 and page 40 000.
//!
//! The rows of a collection are read once, at the first request for a page by number, and are then
//! updated with each commit. No row numbers are stored. An update of a [`RankBitmap`] is
//! idempotent, so a commit that the first read already contains can be applied again. Only the
//! order of commits matters.
//!
//! Requirements: COL-22.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;
use svc_core::{
    error::{Error, Result},
    model::Kind,
};

use super::rank_bitmap::RankBitmap;

/// The maximum numbers of collections and bytes in memory. A larger collection is stored alone.
const COLLECTIONS: usize = 64;
const BYTES: usize = 8 * 1024 * 1024;

/// Identifies a collection within the store.
pub type CollectionKey = Box<[u8]>;

/// Returns the key of a collection of a tenant: all records of a kind, or those under one record,
/// given by its kind and the bytes of its id.
#[must_use]
pub fn collection_key(tenant: i64, members: Kind, owner: Option<(Kind, &[u8])>) -> CollectionKey {
    let code = |kind: Kind| u8::try_from(kind.code()).unwrap_or_default();
    let mut name = Vec::with_capacity(26);
    name.extend_from_slice(&tenant.to_be_bytes());
    name.push(code(members));
    if let Some((kind, id)) = owner {
        name.push(code(kind));
        name.extend_from_slice(id);
    }
    name.into()
}

/// A row that was added to a collection or removed from it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MembershipChange {
    /// The collection.
    pub collection: CollectionKey,
    /// The row.
    pub row: i64,
    /// Whether the row is a member now.
    pub is_member: bool,
}

impl MembershipChange {
    /// Creates a change.
    #[must_use]
    pub fn new(collection: CollectionKey, row: i64, is_member: bool) -> Self {
        Self {
            collection,
            row,
            is_member,
        }
    }
}

/// The rows of collections in memory.
///
/// ```text
/// let row = index.nth(&collection_key, position, |mut load| async move {
///     for row in rows_of_the_collection().await? {
///         load.insert(row);
///     }
///     load.finish()
/// }).await?;
/// ```
///
/// Requirements: COL-22.
pub struct OffsetIndex {
    known: Mutex<IndexSlots>,
    /// The number of applied commits.
    followed: AtomicU64,
    collections: usize,
    bytes: usize,
}

#[derive(Default)]
struct IndexSlots {
    slots: HashMap<CollectionKey, IndexSlot>,
    /// Counts lookups and loads. The slot with the smallest `IndexSlot::used` is removed first.
    clock: u64,
}

struct IndexSlot {
    used: u64,
    state: SlotState,
}

enum SlotState {
    /// The collection has been loading since `since`. Commits since then are collected, and waiting
    /// callers are woken when this state ends.
    Loading {
        since: u64,
        meanwhile: Vec<(i64, bool)>,
        waiting: Vec<oneshot::Sender<()>>,
    },
    Ready(RankBitmap),
}

enum SlotLookup {
    Ready(Option<i64>),
    Wait(oneshot::Receiver<()>),
    Load(IndexLoad),
}

impl Default for OffsetIndex {
    /// Creates an index with at most 64 collections and 8 MiB.
    fn default() -> Self {
        Self::with_limits(COLLECTIONS, BYTES)
    }
}

impl OffsetIndex {
    /// Creates an index with limits for collections and bytes. The collection that was used last
    /// always stays.
    #[must_use]
    pub fn with_limits(collections: usize, bytes: usize) -> Self {
        Self {
            known: Mutex::default(),
            followed: AtomicU64::new(0),
            collections,
            bytes,
        }
    }

    /// Applies a commit. Must be called in the order of commits, and before the commit is
    /// acknowledged.
    pub fn apply(&self, moves: &[MembershipChange]) {
        let mut known = self.lock();
        for change in moves {
            match known
                .slots
                .get_mut(&change.collection)
                .map(|slot| &mut slot.state)
            {
                Some(SlotState::Ready(members)) if change.is_member => members.insert(change.row),
                Some(SlotState::Ready(members)) => members.remove(change.row),
                Some(SlotState::Loading { meanwhile, .. }) => {
                    meanwhile.push((change.row, change.is_member));
                }
                None => {}
            }
        }
        self.followed.fetch_add(1, Ordering::Release);
    }

    /// Returns a number that changes with every applied commit. Pages read before and after it may
    /// differ, even if the file is the same.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.followed.load(Ordering::Acquire)
    }

    /// Returns the row at `position`, counted from 0; `None` after the last one.
    ///
    /// `read` must insert every row of the collection into the load, preferably in ascending order,
    /// and finish it. It is only called if the collection is not in memory, by one caller at a
    /// time. If a load is not finished, the next caller loads the collection.
    ///
    /// # Errors
    ///
    /// Returns the errors of `read`.
    pub async fn nth<E, F>(
        self: &Arc<Self>,
        collection: &[u8],
        position: u64,
        read: impl FnOnce(IndexLoad) -> F,
    ) -> Result<Option<i64>, E>
    where
        F: Future<Output = Result<Option<i64>, E>>,
    {
        loop {
            match self.lookup(collection, position) {
                SlotLookup::Ready(row) => return Ok(row),
                // The caller is woken when the other caller's load has ended, successfully or not.
                SlotLookup::Wait(end) => drop(end.await),
                SlotLookup::Load(load) => return read(load).await,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, IndexSlots> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lookup(self: &Arc<Self>, collection: &[u8], position: u64) -> SlotLookup {
        let mut known = self.lock();
        let now = known.tick();
        let Some(slot) = known.slots.get_mut(collection) else {
            let state = SlotState::Loading {
                since: now,
                meanwhile: Vec::new(),
                waiting: Vec::new(),
            };
            known
                .slots
                .insert(collection.into(), IndexSlot { used: now, state });
            let index = Arc::clone(self);
            let members = RankBitmap::default();
            return SlotLookup::Load(IndexLoad {
                index,
                collection: collection.into(),
                since: now,
                members,
                position,
            });
        };
        slot.used = now;
        match &mut slot.state {
            SlotState::Ready(members) => SlotLookup::Ready(members.nth(position)),
            SlotState::Loading { waiting, .. } => {
                let (wakes, end) = oneshot::channel();
                waiting.push(wakes);
                SlotLookup::Wait(end)
            }
        }
    }
}

impl fmt::Debug for OffsetIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OffsetIndex")
            .field("collections", &self.lock().slots.len())
            .finish_non_exhaustive()
    }
}

impl IndexSlots {
    fn tick(&mut self) -> u64 {
        self.clock = self.clock.saturating_add(1);
        self.clock
    }

    /// Removes the least recently used collections until the limits are met, but never the last
    /// one.
    fn shrink(&mut self, collections: usize, bytes: usize) {
        loop {
            let ready: Vec<_> = self
                .slots
                .iter()
                .filter_map(|(name, slot)| match &slot.state {
                    SlotState::Ready(members) => Some((slot.used, members.memory_bytes(), name)),
                    SlotState::Loading { .. } => None,
                })
                .collect();
            let total = ready
                .iter()
                .fold(0_usize, |total, (_, bytes, _)| total.saturating_add(*bytes));
            if ready.len() <= 1 || (ready.len() <= collections && total <= bytes) {
                return;
            }
            let Some(oldest) = ready.into_iter().min().map(|(_, _, name)| name.clone()) else {
                return;
            };
            self.slots.remove(&oldest);
        }
    }
}

/// The task of loading a collection. If it is dropped without `finish`, the next caller gets it.
#[non_exhaustive]
pub struct IndexLoad {
    index: Arc<OffsetIndex>,
    collection: CollectionKey,
    since: u64,
    members: RankBitmap,
    position: u64,
}

impl IndexLoad {
    /// Adds a row of the collection.
    pub fn insert(&mut self, row: i64) {
        self.members.insert(row);
    }

    /// Completes the load with the commits since its start, and returns the row that the caller
    /// requested.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unexpected`](svc_core::ErrorKind::Unexpected) if the index no longer expects
    /// this load, which cannot happen.
    pub fn finish(mut self) -> Result<Option<i64>> {
        let mut members = std::mem::take(&mut self.members);
        let mut known = self.index.lock();
        let now = known.tick();
        let slot = known.slots.get_mut(&self.collection);
        let Some(slot) = slot.filter(|slot| self.is_of(slot)) else {
            return Err(Error::unexpected(
                "a collection was removed from the index during its load",
            ));
        };
        if let SlotState::Loading { meanwhile, .. } = &slot.state {
            for (row, is_member) in meanwhile {
                if *is_member {
                    members.insert(*row);
                } else {
                    members.remove(*row);
                }
            }
        }
        let row = members.nth(self.position);
        *slot = IndexSlot {
            used: now,
            state: SlotState::Ready(members),
        };
        known.shrink(self.index.collections, self.index.bytes);
        drop(known);
        Ok(row)
    }

    fn is_of(&self, slot: &IndexSlot) -> bool {
        matches!(slot.state, SlotState::Loading { since, .. } if since == self.since)
    }
}

impl fmt::Debug for IndexLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexLoad")
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl Drop for IndexLoad {
    fn drop(&mut self) {
        let mut known = self.index.lock();
        if known
            .slots
            .get(&self.collection)
            .is_some_and(|slot| self.is_of(slot))
        {
            known.slots.remove(&self.collection);
        }
    }
}

#[cfg(test)]
mod tests;

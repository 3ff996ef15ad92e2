//! Where page n of a collection begins, at the same cost for page 2 and page 40 000.
//!
//! The members of a collection are read once, at the first jump into it, and then follow the
//! commits of the store. No counter of rows is stored. Telling [`RankBitmap`] twice what it knows
//! changes nothing, so a commit that the first read has seen already does no harm when it is told
//! again, and only its order with other commits matters.
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

/// Collections and bytes that are kept; a collection larger than this is kept alone.
const COLLECTIONS: usize = 64;
const BYTES: usize = 8 * 1024 * 1024;

/// Names a collection: bytes that no other collection of the store has.
pub type CollectionKey = Box<[u8]>;

/// Names a collection of a tenant: of all records of a kind, or of those under one record, by its
/// kind and the bytes of its id.
#[must_use]
pub fn collection(tenant: i64, members: Kind, owner: Option<(Kind, &[u8])>) -> CollectionKey {
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

/// A row that became a member of a collection, or is one no longer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MembershipChange {
    /// The collection.
    pub collection: CollectionKey,
    /// The row.
    pub row: i64,
    /// Whether it is a member now.
    pub is_member: bool,
}

impl MembershipChange {
    /// A row that comes into a collection, or leaves it.
    #[must_use]
    pub fn new(collection: CollectionKey, row: i64, is_member: bool) -> Self {
        Self {
            collection,
            row,
            is_member,
        }
    }
}

/// The collections whose members are in memory.
///
/// ```text
/// let row = index.nth(&collection, position, |mut load| async move {
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
    /// How often a commit was followed.
    followed: AtomicU64,
    collections: usize,
    bytes: usize,
}

#[derive(Default)]
struct IndexSlots {
    slots: HashMap<CollectionKey, IndexSlot>,
    /// Counts look-ups and loads: the least of `IndexSlot::used` goes first.
    clock: u64,
}

struct IndexSlot {
    used: u64,
    state: SlotState,
}

enum SlotState {
    /// Being read since `since`; what is committed meanwhile is kept, and the callers who wait are
    /// woken when this goes.
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
    /// For 64 collections and 8 MiB.
    fn default() -> Self {
        Self::with_limits(COLLECTIONS, BYTES)
    }
}

impl OffsetIndex {
    /// For so many collections and bytes at most; the one that was used last is always kept.
    #[must_use]
    pub fn with_limits(collections: usize, bytes: usize) -> Self {
        Self {
            known: Mutex::default(),
            followed: AtomicU64::new(0),
            collections,
            bytes,
        }
    }

    /// Follows a commit: called in the order of commits, and before the commit is answered.
    pub fn follow(&self, moves: &[MembershipChange]) {
        let mut known = self.known();
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

    /// Another number after every commit that was followed: pages found before and after it may
    /// differ, though the file is the same.
    #[must_use]
    pub fn followed(&self) -> u64 {
        self.followed.load(Ordering::Acquire)
    }

    /// The row of the member with `position` members before it; `None` after the last one.
    ///
    /// `read` tells the load every row of the collection, best in ascending order, and finishes it.
    /// It is called only when the collection is not in memory, by one caller at a time; a load that
    /// goes unfinished is the next caller's.
    ///
    /// # Errors
    ///
    /// What `read` returns.
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
            match self.look(collection, position) {
                SlotLookup::Ready(row) => return Ok(row),
                // Woken when the other caller's load ended, well or badly.
                SlotLookup::Wait(end) => drop(end.await),
                SlotLookup::Load(load) => return read(load).await,
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, IndexSlots> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(self: &Arc<Self>, collection: &[u8], position: u64) -> SlotLookup {
        let mut known = self.known();
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
            .field("collections", &self.known().slots.len())
            .finish_non_exhaustive()
    }
}

impl IndexSlots {
    fn tick(&mut self) -> u64 {
        self.clock = self.clock.saturating_add(1);
        self.clock
    }

    /// Forgets the collections that were not used for longest until the rest keeps the limits;
    /// never the last one.
    fn shrink(&mut self, collections: usize, bytes: usize) {
        loop {
            let ready: Vec<_> = self
                .slots
                .iter()
                .filter_map(|(name, slot)| match &slot.state {
                    SlotState::Ready(members) => Some((slot.used, members.bytes(), name)),
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

/// The duty to read a collection; when it goes unfulfilled, the next caller gets it.
#[non_exhaustive]
pub struct IndexLoad {
    index: Arc<OffsetIndex>,
    collection: CollectionKey,
    since: u64,
    members: RankBitmap,
    position: u64,
}

impl IndexLoad {
    /// Takes a row of the collection over.
    pub fn insert(&mut self, row: i64) {
        self.members.insert(row);
    }

    /// Puts the members in place with what was committed meanwhile, and answers the caller's own
    /// question.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unexpected`](svc_core::ErrorKind::Unexpected) when nobody waits for this load
    /// any more, which cannot be.
    pub fn finish(mut self) -> Result<Option<i64>> {
        let mut members = std::mem::take(&mut self.members);
        let mut known = self.index.known();
        let now = known.tick();
        let slot = known.slots.get_mut(&self.collection);
        let Some(slot) = slot.filter(|slot| self.is_of(slot)) else {
            return Err(Error::unexpected(
                "a collection was forgotten while it was read",
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
        f.debug_struct("Load")
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl Drop for IndexLoad {
    fn drop(&mut self) {
        let mut known = self.index.known();
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

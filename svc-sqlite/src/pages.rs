//! Where page n of a collection begins, at the same cost for page 2 and page 40 000 (COL-22).
//!
//! The members of a collection are read once, at the first jump into it, and then follow the writer's commits. No
//! counter of rows is stored. Telling [`Members`] twice what it knows changes nothing, so a commit that the first read
//! has seen already does no harm when it is told again, and only its order with other commits matters.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_channel::oneshot;
use rusqlite::Connection;
use svc_core::error::{Error, Result};

use crate::members::Members;
use crate::readers::Readers;

/// Collections and bytes that are kept; a collection larger than this is kept alone.
const COLLECTIONS: usize = 64;
const BYTES: usize = 8 * 1024 * 1024;

/// Names a collection: any bytes that no other collection of the file has.
pub(crate) type Collection = Box<[u8]>;

/// A row that became a member of a collection, or is one no longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) collection: Collection,
    pub(crate) seq: i64,
    pub(crate) is_member: bool,
}

/// The collections whose members are in memory.
pub(crate) struct Positions {
    known: Mutex<Known>,
    /// How often a commit was followed.
    followed: AtomicU64,
    collections: usize,
    bytes: usize,
}

#[derive(Default)]
struct Known {
    slots: HashMap<Collection, Slot>,
    /// Counts look-ups and loads: the least of `Slot::used` goes first.
    clock: u64,
}

struct Slot {
    used: u64,
    state: State,
}

enum State {
    /// Being read since `since`; what is committed meanwhile is kept, and the callers who wait are woken when this goes.
    Loading {
        since: u64,
        meanwhile: Vec<(i64, bool)>,
        waiting: Vec<oneshot::Sender<()>>,
    },
    Ready(Members),
}

enum Look {
    Ready(Option<i64>),
    Wait(oneshot::Receiver<()>),
    Load(Load),
}

impl Positions {
    pub(crate) fn new() -> Self {
        Self::with_limits(COLLECTIONS, BYTES)
    }

    fn with_limits(collections: usize, bytes: usize) -> Self {
        Self { known: Mutex::default(), followed: AtomicU64::new(0), collections, bytes }
    }

    /// Follows a commit: called by its `after_commit` hook, so in the order of commits and before its answer.
    pub(crate) fn follow(&self, changes: &[Change]) {
        let mut known = self.known();
        for change in changes {
            match known.slots.get_mut(&change.collection).map(|slot| &mut slot.state) {
                Some(State::Ready(members)) if change.is_member => members.insert(change.seq),
                Some(State::Ready(members)) => members.remove(change.seq),
                Some(State::Loading { meanwhile, .. }) => meanwhile.push((change.seq, change.is_member)),
                None => {}
            }
        }
        self.followed.fetch_add(1, Ordering::Release);
    }

    /// Another number after every commit that was followed: pages found before and after it may differ, though the file
    /// is the same.
    pub(crate) fn followed(&self) -> u64 {
        self.followed.load(Ordering::Acquire)
    }

    /// The row of the member with `position` members before it; `None` behind the last one.
    ///
    /// `scan` tells every row of the collection, best in ascending order; it runs on a reading thread, and only when
    /// the collection is not in memory.
    pub(crate) async fn nth<F>(
        self: &Arc<Self>,
        readers: &Readers,
        collection: &[u8],
        position: u64,
        scan: F,
    ) -> Result<Option<i64>>
    where
        F: FnOnce(&Connection, &mut dyn FnMut(i64)) -> Result<()> + Send + 'static,
    {
        loop {
            match self.look(collection, position) {
                Look::Ready(seq) => return Ok(seq),
                // Woken when the other caller's load ended, well or badly.
                Look::Wait(end) => drop(end.await),
                Look::Load(load) => {
                    let read = move |file: &Connection| {
                        let mut members = Members::default();
                        scan(file, &mut |seq| members.insert(seq))?;
                        load.finish(members, position)
                    };
                    return readers.spawn(read).await;
                }
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(self: &Arc<Self>, collection: &[u8], position: u64) -> Look {
        let mut known = self.known();
        let now = known.tick();
        let Some(slot) = known.slots.get_mut(collection) else {
            let state = State::Loading { since: now, meanwhile: Vec::new(), waiting: Vec::new() };
            known.slots.insert(collection.into(), Slot { used: now, state });
            return Look::Load(Load { positions: Arc::clone(self), collection: collection.into(), since: now });
        };
        slot.used = now;
        match &mut slot.state {
            State::Ready(members) => Look::Ready(members.nth(position)),
            State::Loading { waiting, .. } => {
                let (wakes, end) = oneshot::channel();
                waiting.push(wakes);
                Look::Wait(end)
            }
        }
    }
}

impl fmt::Debug for Positions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Positions").field("collections", &self.known().slots.len()).finish_non_exhaustive()
    }
}

impl Known {
    fn tick(&mut self) -> u64 {
        self.clock = self.clock.saturating_add(1);
        self.clock
    }

    /// Forgets the collections that were not used for longest until the rest keeps the limits; never the last one.
    fn shrink(&mut self, collections: usize, bytes: usize) {
        loop {
            let ready: Vec<_> = self
                .slots
                .iter()
                .filter_map(|(name, slot)| match &slot.state {
                    State::Ready(members) => Some((slot.used, members.bytes(), name)),
                    State::Loading { .. } => None,
                })
                .collect();
            let total = ready.iter().fold(0_usize, |total, (_, bytes, _)| total.saturating_add(*bytes));
            if ready.len() <= 1 || (ready.len() <= collections && total <= bytes) {
                return;
            }
            let Some(oldest) = ready.into_iter().min().map(|(_, _, name)| name.clone()) else { return };
            self.slots.remove(&oldest);
        }
    }
}

/// The duty to read a collection; when it goes unfulfilled, the next caller gets it.
struct Load {
    positions: Arc<Positions>,
    collection: Collection,
    since: u64,
}

impl Load {
    /// Puts the members in place with what was committed meanwhile, and answers the caller's own question.
    fn finish(self, mut members: Members, position: u64) -> Result<Option<i64>> {
        let mut known = self.positions.known();
        let now = known.tick();
        let slot = known.slots.get_mut(&self.collection);
        let Some(slot) = slot.filter(|slot| self.is_of(slot)) else {
            return Err(Error::unexpected("a collection was forgotten while it was read"));
        };
        if let State::Loading { meanwhile, .. } = &slot.state {
            for (seq, is_member) in meanwhile {
                if *is_member {
                    members.insert(*seq);
                } else {
                    members.remove(*seq);
                }
            }
        }
        let seq = members.nth(position);
        *slot = Slot { used: now, state: State::Ready(members) };
        known.shrink(self.positions.collections, self.positions.bytes);
        drop(known);
        Ok(seq)
    }

    fn is_of(&self, slot: &Slot) -> bool {
        matches!(slot.state, State::Loading { since, .. } if since == self.since)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let mut known = self.positions.known();
        if known.slots.get(&self.collection).is_some_and(|slot| self.is_of(slot)) {
            known.slots.remove(&self.collection);
        }
    }
}

#[cfg(test)]
mod tests;

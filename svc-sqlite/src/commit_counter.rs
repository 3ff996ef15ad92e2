//! Whether anything was committed to the data file, by this process or by another one.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::file::open_reader;
use crate::metadata;
use crate::options::SqliteOptions;

/// Looks that can be taken at the same time, each over a connection of its own.
const WATCHES: usize = 4;

/// How old a request may be that is served with what a look has told; an older one looks anew.
const RECENT: Duration = Duration::from_millis(10);

/// Counts the commits to a data file, some of them together.
pub(crate) struct CommitCounter {
    path: PathBuf,
    patience: Duration,
    /// Two requests on two cores do not wait for each other.
    watches: [Mutex<VersionProbe>; WATCHES],
    count: AtomicU64,
    /// Of what the nanoseconds below are counted from.
    opened: Instant,
    /// When the youngest of the looks began whose outcome is counted, and when this store last
    /// committed.
    looked: AtomicU64,
    committed: AtomicU64,
}

/// SQLite's `data_version` tells a connection whether any other one has committed since it last
/// looked.
#[derive(Default)]
struct VersionProbe {
    file: Option<Connection>,
    version: Option<i64>,
    /// The changes to keys, as far as they were counted since the version is this one.
    keys: Option<i64>,
    /// Whether it has looked since the last call of [`CommitCounter::take_idle`].
    used: bool,
}

impl CommitCounter {
    pub(crate) fn new(options: &SqliteOptions) -> Self {
        Self {
            path: options.path.clone(),
            patience: options.busy_timeout,
            watches: std::array::from_fn(|_| Mutex::default()),
            count: AtomicU64::new(0),
            opened: Instant::now(),
            looked: AtomicU64::new(0),
            committed: AtomicU64::new(0),
        }
    }

    /// A number that is another one after every commit: when it is the same as before, what was
    /// read since then is current.
    pub(crate) fn count(&self) -> rusqlite::Result<u64> {
        self.probe(|_| Ok(())).map(|(count, ())| count)
    }

    /// The same, or as it was at any moment after `since`: a request looks once, and not at all
    /// where another one has looked since it began. What this store has committed is seen at once.
    pub(crate) fn count_since(&self, since: Instant) -> rusqlite::Result<u64> {
        let needed = self
            .nanoseconds(since)
            .max(self.committed.load(Ordering::Acquire));
        if self.looked.load(Ordering::Acquire) > needed && since.elapsed() < RECENT {
            return Ok(self.count.load(Ordering::Acquire));
        }
        self.count()
    }

    /// This store has committed.
    pub(crate) fn committed(&self) {
        self.committed
            .fetch_max(self.nanoseconds(Instant::now()), Ordering::AcqRel);
    }

    fn nanoseconds(&self, moment: Instant) -> u64 {
        u64::try_from(moment.saturating_duration_since(self.opened).as_nanos()).unwrap_or(u64::MAX)
    }

    /// The number of changes to keys, as it was at this call or later.
    pub(crate) fn key_epoch(&self) -> rusqlite::Result<i64> {
        // The watch's own connection tells: no reader has to begin its snapshot anew for each
        // write.
        self.probe(VersionProbe::key_epoch).map(|(_, epoch)| epoch)
    }

    /// Looks with one of the watches, and asks it for something more.
    fn probe<T>(
        &self,
        ask: impl FnOnce(&mut VersionProbe) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<(u64, T)> {
        let mut watch = self.watch();
        let watch = &mut *watch;
        let begun = self.nanoseconds(Instant::now());
        let looked = watch.look(&self.path, self.patience).map(|is_changed| {
            // A commit that this watch has seen before was counted then, which is after whatever it
            // makes stale was read.
            if is_changed {
                self.count.fetch_add(1, Ordering::AcqRel).wrapping_add(1)
            } else {
                self.count.load(Ordering::Acquire)
            }
        });
        if looked.is_ok() {
            self.looked.fetch_max(begun, Ordering::AcqRel);
        }
        let answer = looked.and_then(|count| Ok((count, ask(watch)?)));
        if answer.is_err() {
            // It may remember a damaged page, and its next look is a first one.
            *watch = VersionProbe::default();
        }
        answer
    }

    /// Whether nobody has asked since the last call of this.
    pub(crate) fn take_idle(&self) -> bool {
        self.watches.iter().fold(true, |quiet, watch| {
            let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
            !std::mem::take(&mut watch.used) && quiet
        })
    }

    /// A watch that nobody uses now, or else the first one.
    fn watch(&self) -> MutexGuard<'_, VersionProbe> {
        let free = self
            .watches
            .iter()
            .find_map(|watch| match watch.try_lock() {
                Ok(watch) => Some(watch),
                Err(TryLockError::Poisoned(watch)) => Some(watch.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            });
        let [first, ..] = &self.watches;
        free.unwrap_or_else(|| first.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl VersionProbe {
    /// Whether something was committed since the last look, or this is the first one.
    fn look(&mut self, path: &std::path::Path, patience: Duration) -> rusqlite::Result<bool> {
        self.used = true;
        let file = self
            .file
            .take()
            .map_or_else(|| open_reader(path, patience), Ok)?;
        let file = &*self.file.insert(file);
        let version = file
            .prepare_cached("PRAGMA data_version")?
            .query_row((), |row| row.get(0))?;
        let is_changed = self.version.replace(version) != Some(version);
        if is_changed {
            self.keys = None;
        }
        Ok(is_changed)
    }

    /// The number of changes to keys; read at the first call after a change.
    fn key_epoch(&mut self) -> rusqlite::Result<i64> {
        if let Some(epoch) = self.keys {
            return Ok(epoch);
        }
        let file = self
            .file
            .as_ref()
            .ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        Ok(*self.keys.insert(metadata::key_epoch(file)?))
    }
}

impl fmt::Debug for CommitCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataVersion")
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

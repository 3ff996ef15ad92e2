//! Detects whether this process or another one has committed to the data file.

use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::file::open_reader;
use crate::metadata;
use crate::options::SqliteOptions;

/// Number of probes that can run at the same time, each with a connection of its own.
const WATCHES: usize = 4;

/// Maximum age of a request that uses the result of an earlier probe. An older request probes
/// again.
const RECENT: Duration = Duration::from_millis(10);

/// Counts the commits to a data file. Several commits may be counted as one.
pub(crate) struct CommitCounter {
    path: PathBuf,
    patience: Duration,
    /// Several, so that two requests on two cores do not wait for each other.
    watches: [Mutex<VersionProbe>; WATCHES],
    count: AtomicU64,
    /// The time from which the nanoseconds below are counted.
    opened: Instant,
    /// The start of the latest probe whose result is counted, and the time of the last commit of
    /// this store.
    looked: AtomicU64,
    committed: AtomicU64,
}

/// A connection that detects commits: SQLite's `data_version` changes when any other connection has
/// committed since the last probe.
#[derive(Default)]
struct VersionProbe {
    file: Option<Connection>,
    version: Option<i64>,
    /// The number of changes to keys at the current version, if it was read.
    keys: Option<i64>,
    /// Whether it has probed since the last call of [`CommitCounter::take_idle`].
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

    /// Returns a number that changes with every commit. If it is unchanged, everything that was
    /// read since then is current.
    pub(crate) fn count(&self) -> rusqlite::Result<u64> {
        self.probe(|_| Ok(())).map(|(count, ())| count)
    }

    /// Returns the same number as of any time after `since`. A request probes at most once, and not
    /// at all if another request has probed since it began. Commits of this store are visible
    /// immediately.
    pub(crate) fn count_since(&self, since: Instant) -> rusqlite::Result<u64> {
        let needed = self
            .nanoseconds(since)
            .max(self.committed.load(Ordering::Acquire));
        if self.looked.load(Ordering::Acquire) > needed && since.elapsed() < RECENT {
            return Ok(self.count.load(Ordering::Acquire));
        }
        self.count()
    }

    /// Records that this store has committed.
    pub(crate) fn committed(&self) {
        self.committed
            .fetch_max(self.nanoseconds(Instant::now()), Ordering::AcqRel);
    }

    fn nanoseconds(&self, moment: Instant) -> u64 {
        u64::try_from(moment.saturating_duration_since(self.opened).as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns the number of changes to keys at the time of this call or later.
    pub(crate) fn key_epoch(&self) -> rusqlite::Result<i64> {
        // Uses the connection of the probe: readers do not have to restart their snapshot for each
        // write.
        self.probe(VersionProbe::key_epoch).map(|(_, epoch)| epoch)
    }

    /// Probes with one of the connections, and reads one more value from it.
    fn probe<T>(
        &self,
        ask: impl FnOnce(&mut VersionProbe) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<(u64, T)> {
        let mut watch = self.watch();
        let watch = &mut *watch;
        let begun = self.nanoseconds(Instant::now());
        let looked = watch.look(&self.path, self.patience).map(|is_changed| {
            // A commit that this probe has detected before is already counted. Data that it makes
            // stale was read before that.
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
            // Its cache may contain a damaged page. Its next probe counts as the first one.
            *watch = VersionProbe::default();
        }
        answer
    }

    /// Returns whether no request has probed since the last call of this method.
    pub(crate) fn take_idle(&self) -> bool {
        self.watches.iter().fold(true, |quiet, watch| {
            let mut watch = watch.lock().unwrap_or_else(PoisonError::into_inner);
            !std::mem::take(&mut watch.used) && quiet
        })
    }

    /// Returns a probe that is not in use, or else the first one.
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
    /// Returns whether something was committed since the last probe, or whether this is the first
    /// one.
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

    /// Returns the number of changes to keys. It is read at the first call after a change.
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
        f.debug_struct("CommitCounter")
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

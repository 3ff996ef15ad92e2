//! Options for opening a data file.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use svc_core::helper::{DefaultMatching, PersonMatching};
use svc_core::link::ShareNames;
use svc_core::value::Timestamp;

/// Returns the current time. Tests set their own clock.
pub(crate) type ClockFn = Arc<dyn Fn() -> Timestamp + Send + Sync>;
/// Runs on the writer between the last job and COMMIT.
pub(crate) type BeforeCommitFn = Arc<dyn Fn() + Send + Sync>;

/// Options for opening a data file. Only the path is required, and every default is safe.
///
/// ```
/// let options = svc_sqlite::SqliteOptions::new("people.db").max_readers(4);
/// assert_eq!(options.path().to_str(), Some("people.db"));
/// ```
///
/// Requirements: UND-36, UND-42.
#[derive(Clone)]
pub struct SqliteOptions {
    pub(crate) path: PathBuf,
    pub(crate) beside: bool,
    pub(crate) inline_commit: bool,
    pub(crate) readers: usize,
    pub(crate) queue: usize,
    pub(crate) batch: usize,
    pub(crate) busy_timeout: Duration,
    pub(crate) synchronous_normal: bool,
    pub(crate) max_page_count: Option<u32>,
    pub(crate) share_names: ShareNames,
    pub(crate) matching: Arc<dyn PersonMatching>,
    pub(crate) keep_changes: Option<Duration>,
    pub(crate) now: ClockFn,
    pub(crate) before_commit: Option<BeforeCommitFn>,
}

impl SqliteOptions {
    /// Creates options for the data file at `path`. Opening creates the file if it does not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            path: path.into(),
            beside: false,
            inline_commit: true,
            readers: cores.saturating_add(2),
            queue: 16_384,
            batch: 256,
            busy_timeout: Duration::from_secs(2),
            synchronous_normal: false,
            max_page_count: None,
            share_names: ShareNames::default(),
            matching: Arc::new(DefaultMatching),
            keep_changes: None,
            now: Arc::new(Timestamp::now),
            before_commit: None,
        }
    }

    /// Opens an existing file next to a server that may be running on it, for key management and
    /// backups.
    ///
    /// Without this option the file is locked for one server, and a second server is rejected.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.beside = true;
        self
    }

    /// Sets whether a write may commit on the calling thread if no other write is in progress
    /// (default: yes).
    ///
    /// This one sync is the only time that a caller's thread is blocked. Turn it off for
    /// single-threaded runtimes.
    #[must_use]
    pub fn inline_commit(mut self, yes: bool) -> Self {
        self.inline_commit = yes;
        self
    }

    /// Sets the maximum number of reading connections (default: the number of cores plus two). The
    /// minimum is two.
    #[must_use]
    pub fn max_readers(mut self, connections: usize) -> Self {
        self.readers = connections.max(2);
        self
    }

    /// Sets the maximum number of waiting writes (default: 16 384). One tenant can have half of
    /// them. Further writes are rejected as unavailable. A batch has up to 512 of its entries here.
    #[must_use]
    pub fn max_queued_writes(mut self, writes: usize) -> Self {
        self.queue = writes.max(1);
        self
    }

    /// Sets the maximum number of writes that share one transaction, and therefore one sync
    /// (default: 256). With 1, each write has its own transaction.
    #[must_use]
    pub fn max_batch_size(mut self, writes: usize) -> Self {
        self.batch = writes.max(1);
        self
    }

    /// Sets how long a write waits for another process that locks the file (default: two seconds).
    #[must_use]
    pub fn busy_timeout(mut self, wait: Duration) -> Self {
        self.busy_timeout = wait;
        self
    }

    /// Sends responses before writes are safe against power loss. This is faster and **not
    /// durable**. It is never the default.
    #[must_use]
    pub fn relaxed_durability(mut self) -> Self {
        self.synchronous_normal = true;
        self
    }

    /// Limits the file to this many pages of 4096 bytes. Writes beyond the limit are rejected as on
    /// a full disk.
    #[must_use]
    pub fn max_page_count(mut self, pages: u32) -> Self {
        self.max_page_count = Some(pages);
        self
    }

    /// Sets the names of the two network share objects in the API. They are fixed when the file is
    /// created.
    ///
    /// Requirements: HAL-11.
    #[must_use]
    pub fn share_names(mut self, names: ShareNames) -> Self {
        self.share_names = names;
        self
    }

    /// Sets the method that decides whether a posted person already exists (default:
    /// [`DefaultMatching`]). [`SqliteStore::register_all`](crate::SqliteStore::register_all) publishes
    /// its description.
    ///
    /// It must have no side effects: it runs again if the transaction of a request is repeated.
    ///
    /// Requirements: HLP-04.
    #[must_use]
    pub fn person_matching(mut self, matching: impl PersonMatching + 'static) -> Self {
        self.matching = Arc::new(matching);
        self
    }

    /// Sets how long entries stay in the change feed (default: forever).
    ///
    /// An older cursor gets 410, so clients should poll much more often. Expired entries are
    /// deleted with later writes of their tenant.
    ///
    /// Requirements: SYN-08.
    #[must_use]
    pub fn change_feed_retention(mut self, time: Duration) -> Self {
        self.keep_changes = Some(time);
        self
    }

    /// Sets the clock, instead of that of the system.
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.now = Arc::new(clock);
        self
    }

    /// Calls `hold` on the writer before each COMMIT. Tests use it to prove that no response is
    /// sent before a write is durable.
    #[doc(hidden)]
    #[must_use]
    pub fn before_commit(mut self, hold: impl Fn() + Send + Sync + 'static) -> Self {
        self.before_commit = Some(Arc::new(hold));
        self
    }

    /// Returns the path of the data file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteOptions")
            .field("path", &self.path)
            .field("beside", &self.beside)
            .finish_non_exhaustive()
    }
}

//! How a data file is opened.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use svc_core::helper::{DefaultMatching, PersonMatching};
use svc_core::link::ShareNames;
use svc_core::value::Timestamp;

/// Tells the time; a test sets its own.
pub(crate) type ClockFn = Arc<dyn Fn() -> Timestamp + Send + Sync>;
/// Runs on the writer between the last job and COMMIT.
pub(crate) type BeforeCommitFn = Arc<dyn Fn() + Send + Sync>;

/// How a data file is opened. Only the path is needed; everything else has a default that is safe.
///
/// ```
/// let options = svc_sqlite::SqliteOptions::new("people.db").readers(4);
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
    /// The data file at `path`; it is made when there is none.
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

    /// Opens an existing file beside the server that may be running on it, for key management and
    /// backups.
    ///
    /// Without this the file is locked for one server, and a second one is refused.
    #[must_use]
    pub fn beside_a_server(mut self) -> Self {
        self.beside = true;
        self
    }

    /// Whether a write may be committed on the calling thread when no other is under way (default:
    /// yes).
    ///
    /// That one sync is the only wait on a caller's thread; turn it off for single-threaded
    /// runtimes.
    #[must_use]
    pub fn inline_commit(mut self, yes: bool) -> Self {
        self.inline_commit = yes;
        self
    }

    /// How many reading connections are kept at most (default: one for each core, and two; at least
    /// two).
    #[must_use]
    pub fn readers(mut self, connections: usize) -> Self {
        self.readers = connections.max(2);
        self
    }

    /// Number of writes that may wait, at most half of them of one tenant; more are rejected as
    /// unavailable (default: 16 384). A batch has up to 512 of its entries here.
    #[must_use]
    pub fn queue(mut self, writes: usize) -> Self {
        self.queue = writes.max(1);
        self
    }

    /// How many writes share one transaction, and so one sync, at most (default: 256); with 1 each
    /// has its own.
    #[must_use]
    pub fn batch(mut self, writes: usize) -> Self {
        self.batch = writes.max(1);
        self
    }

    /// How long a write waits for another process that holds the file (default: two seconds).
    #[must_use]
    pub fn busy_timeout(mut self, wait: Duration) -> Self {
        self.busy_timeout = wait;
        self
    }

    /// Answers before a write is safe against power loss: faster, **not durable**, never the
    /// default.
    #[must_use]
    pub fn synchronous_normal(mut self) -> Self {
        self.synchronous_normal = true;
        self
    }

    /// Bounds the file to this many pages of 4096 bytes; beyond, writes are refused as on a full
    /// disk.
    #[must_use]
    pub fn max_page_count(mut self, pages: u32) -> Self {
        self.max_page_count = Some(pages);
        self
    }

    /// What the two network share objects are called on the wire; fixed in the file when it is
    /// made.
    ///
    /// Requirements: HAL-11.
    #[must_use]
    pub fn share_names(mut self, names: ShareNames) -> Self {
        self.share_names = names;
        self
    }

    /// Decides whether a posted person is known already; by default [`DefaultMatching`]. Its text
    /// is published by [`Store::register_all`](crate::SqliteStore::register_all).
    ///
    /// It must have no effects of its own: it is asked again when the transaction of a call is done
    /// again.
    ///
    /// Requirements: HLP-04.
    #[must_use]
    pub fn matching(mut self, matching: impl PersonMatching + 'static) -> Self {
        self.matching = Arc::new(matching);
        self
    }

    /// How long changes stay in the change feed (default: for ever). A cursor of before is then
    /// 410, so let clients come back much sooner; the oldest go with later writes of their tenant.
    ///
    /// Requirements: SYN-08.
    #[must_use]
    pub fn keep_changes(mut self, time: Duration) -> Self {
        self.keep_changes = Some(time);
        self
    }

    /// Tells the time from `clock` instead of the system.
    #[must_use]
    pub fn now(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.now = Arc::new(clock);
        self
    }

    /// Calls `hold` on the writer before each COMMIT: for tests that nothing is answered before it
    /// is durable.
    #[doc(hidden)]
    #[must_use]
    pub fn before_commit(mut self, hold: impl Fn() + Send + Sync + 'static) -> Self {
        self.before_commit = Some(Arc::new(hold));
        self
    }

    /// Where the data file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Debug for SqliteOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("path", &self.path)
            .field("beside", &self.beside)
            .finish_non_exhaustive()
    }
}

//! The store: an open data file, and the operations of the API. Its parts do not depend on it.

mod export;
mod keys;
mod maintenance;
mod outbox;
mod store_impl;
mod tenants;
mod webhooks;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use svc_core::api::ApiBuilder;
use svc_core::backend::Notifier;
use svc_core::helper::PersonMatching;
use svc_core::link::ShareNames;
use svc_core::value::Timestamp;
use svc_core::{RevisionSource, Tenant};
use svc_store::{
    cursor::CursorCodec, duplicates::DuplicateIndex, feed::FeedCursors, keys::KeyCache,
    offset_index::OffsetIndex,
};

use crate::commit_counter::CommitCounter;
use crate::file::{FileError, ServerLock, open_writer, sqlite};
use crate::metadata;
use crate::migrate::{MIGRATIONS, migrate};
use crate::options::{ClockFn, SqliteOptions};
use crate::read_pool::ReadPool;
use crate::recount::recount_if_changed;
use crate::tenants::TenantNumbers;
use crate::writer::Writer;

/// An open data file. It is cheap to clone, and closed when the last clone is dropped.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<SqliteInner>,
}

/// The state that the clones of a store share. Fields are dropped in this order: the writer is
/// last, and empties the log.
struct SqliteInner {
    readers: ReadPool,
    data_version: Arc<CommitCounter>,
    keys: KeyCache,
    writer: Writer,
    tenants: TenantNumbers,
    offset_index: Arc<OffsetIndex>,
    cursors: CursorCodec,
    feed_cursors: FeedCursors,
    duplicates: DuplicateIndex,
    bells: Arc<Notifier<i64>>,
    /// Notifies that the outbox has new entries, of any tenant.
    outgoing: Arc<Notifier<()>>,
    path: PathBuf,
    share_names: ShareNames,
    matching: Arc<dyn PersonMatching>,
    /// How long entries stay in the change feed.
    keep_changes: Option<Duration>,
    patience: Duration,
    now: ClockFn,
    _lock: Option<ServerLock>,
}

impl SqliteStore {
    /// Opens the data file. Creates it if it does not exist, and upgrades it if it is older.
    ///
    /// # Errors
    ///
    /// Returns a one-line error if the file is in use, newer, damaged, of another program, or
    /// cannot be read or written. In particular:
    ///
    /// - [`FileError::UnknownMeasure`]: a newer program has derived totals, values or indexes
    ///   that this program does not know.
    /// - [`FileError::Uncounted`]: another version has derived them, and the options
    ///   are [`shared`](SqliteOptions::shared). Only a server derives them again.
    ///
    /// Requirements: UND-42.
    pub fn open(mut options: SqliteOptions) -> Result<Self, FileError> {
        let (mut connection, lock) = open_writer(&mut options)?;
        migrate(
            &mut connection,
            &options.path,
            MIGRATIONS,
            !options.beside,
            (options.now)(),
        )?;
        recount_if_changed(&mut connection, &options.path, !options.beside)?;
        let share_names = metadata::share_names(&mut connection, &options)?;
        // Afterwards the writer decides whether a write waits for a file that another process
        // locks.
        connection
            .busy_timeout(Duration::ZERO)
            .map_err(sqlite(&options.path))?;
        let secret = metadata::secret(&mut connection, &options.path)?;
        let data_version = Arc::new(CommitCounter::new(&options));
        let readers = ReadPool::start(&options, Arc::clone(&data_version))?;
        let writer = Writer::start(connection, &options, readers.snapshots())?;
        let inner = SqliteInner {
            readers,
            data_version,
            keys: KeyCache::default(),
            writer,
            tenants: TenantNumbers::default(),
            offset_index: Arc::default(),
            cursors: CursorCodec::new(&secret),
            feed_cursors: FeedCursors::new(&secret),
            duplicates: DuplicateIndex::new(&secret),
            bells: Arc::default(),
            outgoing: Arc::default(),
            path: options.path,
            matching: options.matching,
            keep_changes: options.keep_changes,
            share_names,
            patience: options.busy_timeout,
            now: options.now,
            _lock: lock,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Returns the absolute path of the data file, with links resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Returns the names of the two share objects in this file.
    ///
    /// Requirements: HAL-11.
    #[must_use]
    pub fn share_names(&self) -> &ShareNames {
        &self.inner.share_names
    }

    /// Registers every kind and all eight helpers. Each helper runs in one transaction.
    ///
    /// Full events and ticket levels are declared as enforced, and the store's matching method is
    /// published. The scheduling helper is included if [`delivery`](ApiBuilder::delivery) is
    /// registered.
    ///
    /// ```no_run
    /// use svc_core::api::{Api, Vendor};
    /// let store = svc_sqlite::SqliteStore::open(svc_sqlite::SqliteOptions::new("people.db"))?;
    /// let api = store
    ///     .register_all(Api::builder(Vendor::new("Acme", "Acme CRM")))
    ///     .authenticator(store.clone())
    ///     .anonymous_helpers(store.clone())
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Requirements: LIM-04, LIM-05, HLP-05.
    #[must_use]
    pub fn register_all(&self, api: ApiBuilder) -> ApiBuilder {
        api.store(&Arc::new(self.clone()))
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.inner.writer
    }

    pub(crate) fn readers(&self) -> &ReadPool {
        &self.inner.readers
    }

    #[cfg(test)]
    pub(crate) fn offset_index(&self) -> &Arc<OffsetIndex> {
        &self.inner.offset_index
    }

    /// Returns the current time of the configured clock.
    fn now(&self) -> Timestamp {
        (self.inner.now)()
    }
}

/// Counts the commits of all tenants, including those of other processes. Returns `None` while the
/// file cannot be read.
///
/// ```no_run
/// use svc_core::api::{Api, Vendor};
/// let store = svc_sqlite::SqliteStore::open(svc_sqlite::SqliteOptions::new("people.db"))?;
/// let api = store
///     .register_all(Api::builder(Vendor::new("Acme", "Acme CRM")))
///     .authenticator(store.clone())
///     .response_cache(store.clone())
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[async_trait::async_trait]
impl RevisionSource for SqliteStore {
    async fn revision(&self, _: &Tenant, since: Instant) -> Option<u64> {
        // Neither number decreases, so their sum is equal only if both are.
        let committed = self.inner.data_version.count_since(since).ok()?;
        Some(committed.wrapping_add(self.inner.offset_index.generation()))
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.inner.path)
            .finish_non_exhaustive()
    }
}

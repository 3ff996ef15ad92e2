//! The store: a data file that is open.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use svc_core::CountChanges;
use svc_core::helper::PersonMatching;
use svc_core::link::ShareNames;
use svc_core::value::Timestamp;

use crate::changes::Changes;
use crate::continuation::Continuations;
use crate::file::{FileError, Lock, io, open_writer, sqlite};
use crate::keys::Keys;
use crate::migrate::{MIGRATIONS, migrate};
use crate::options::{Clock, Options};
use crate::pages::Positions;
use crate::readers::Readers;
use crate::tenants::Tenants;
use crate::writer::Writer;

/// An open data file; cheap to clone, closed with its last clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

/// What the clones of a store share. Fields close in this order: the writer last, which empties the log.
struct Inner {
    readers: Readers,
    changes: Arc<Changes>,
    keys: Keys,
    writer: Writer,
    tenants: Tenants,
    positions: Arc<Positions>,
    continuations: Continuations,
    path: PathBuf,
    share_names: ShareNames,
    matching: Arc<dyn PersonMatching>,
    patience: Duration,
    now: Clock,
    _lock: Option<Lock>,
}

impl Store {
    /// Opens the data file, makes it when there is none, and brings it up to date (UND-42).
    ///
    /// # Errors
    /// One clear line: the file is in use, newer, damaged, of another program, or cannot be read or written.
    pub fn open(mut options: Options) -> Result<Self, FileError> {
        let (mut connection, lock) = open_writer(&mut options)?;
        migrate(&mut connection, &options.path, MIGRATIONS, !options.beside, (options.now)())?;
        let share_names = fix_share_names(&mut connection, &options)?;
        // From here on a write that finds the file held by another process decides itself whether to wait.
        connection.busy_timeout(Duration::ZERO).map_err(sqlite(&options.path))?;
        let secret = fix_secret(&mut connection, &options.path)?;
        let changes = Arc::new(Changes::new(&options));
        let readers = Readers::start(&options, Arc::clone(&changes))?;
        let writer = Writer::start(connection, &options, readers.views())?;
        let keys = Keys::new(Arc::clone(&changes));
        let inner = Inner {
            readers,
            changes,
            keys,
            writer,
            tenants: Tenants::default(),
            positions: Arc::new(Positions::new()),
            continuations: Continuations::new(&secret),
            path: options.path,
            matching: options.matching,
            share_names,
            patience: options.busy_timeout,
            now: options.now,
            _lock: lock,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Where the data file is: its absolute path, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// What the two share objects are called in this file (HAL-11).
    #[must_use]
    pub fn share_names(&self) -> &ShareNames {
        &self.inner.share_names
    }

    /// How it is decided whether a posted person is known already.
    pub(crate) fn matching_method(&self) -> &Arc<dyn PersonMatching> {
        &self.inner.matching
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.inner.writer
    }

    pub(crate) fn readers(&self) -> &Readers {
        &self.inner.readers
    }

    pub(crate) fn positions(&self) -> &Arc<Positions> {
        &self.inner.positions
    }

    pub(crate) fn continuations(&self) -> &Continuations {
        &self.inner.continuations
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.inner.keys
    }

    pub(crate) fn known_tenants(&self) -> &Tenants {
        &self.inner.tenants
    }

    /// How long whoever finds the file held by another process waits.
    pub(crate) fn patience(&self) -> Duration {
        self.inner.patience
    }

    /// Now, as the options tell it.
    pub(crate) fn now(&self) -> Timestamp {
        (self.inner.now)()
    }
}

/// Counts commits, also those of other processes; `None` while the file cannot be looked at.
///
/// ```no_run
/// use svc_core::api::{Api, Vendor};
/// let store = svc_sqlite::Store::open(svc_sqlite::Options::new("people.db"))?;
/// let api = store
///     .register_all(Api::builder(Vendor::new("Acme", "Acme CRM")))
///     .authenticator(store.clone())
///     .keep_reads(store.clone())
///     .build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl CountChanges for Store {
    fn changes(&self) -> Option<u64> {
        // Neither number ever falls, so their sum is the same only when both are.
        let committed = self.inner.changes.count().ok()?;
        Some(committed.wrapping_add(self.inner.positions.followed()))
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.inner.path).finish_non_exhaustive()
    }
}

/// Fixes the names of the share objects in a new file, and refuses others in one that has them.
fn fix_share_names(connection: &mut Connection, options: &Options) -> Result<ShareNames, FileError> {
    let failed = sqlite(&options.path);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    let name = |which: &str| {
        let sql = "SELECT value FROM meta WHERE name = ?1";
        transaction.query_row(sql, [which], |row| row.get::<_, String>(0)).optional()
    };
    let stored = name("network_a").map_err(&failed)?.zip(name("network_b").map_err(&failed)?);
    if let Some(stored) = stored.and_then(|(a, b)| ShareNames::new(&a, &b)) {
        return if options.beside || stored == options.share_names {
            Ok(stored)
        } else {
            Err(FileError::ShareNames { path: options.path.clone(), stored })
        };
    }
    let (network_a, network_b) = (options.share_names.network_a(), options.share_names.network_b());
    let sql = "INSERT OR REPLACE INTO meta (name, value) VALUES ('network_a', ?1), ('network_b', ?2)";
    transaction.execute(sql, [network_a, network_b]).map_err(&failed)?;
    transaction.commit().map_err(&failed)?;
    Ok(options.share_names.clone())
}

/// Reads the secret of the file's continuations; a new file gets a random one.
fn fix_secret(connection: &mut Connection, path: &Path) -> Result<[u8; 32], FileError> {
    let failed = sqlite(path);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    let stored = transaction
        .query_row("SELECT value FROM meta WHERE name = 'secret'", (), |row| row.get(0))
        .optional()
        .map_err(&failed)?;
    if let Some(secret) = stored {
        return Ok(secret);
    }
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|error| io(path)(error.into()))?;
    transaction.execute("INSERT INTO meta (name, value) VALUES ('secret', ?1)", [secret]).map_err(&failed)?;
    transaction.commit().map_err(&failed)?;
    Ok(secret)
}

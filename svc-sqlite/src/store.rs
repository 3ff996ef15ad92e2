//! The store: a data file that is open.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::continuation::Continuations;
use crate::file::{FileError, Lock, io, open_writer, sqlite};
use crate::migrate::{MIGRATIONS, migrate};
use crate::options::{Clock, Options};
use crate::pages::Positions;
use crate::readers::Readers;
use crate::writer::Writer;

/// An open data file; cheap to clone, closed with its last clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

/// What the clones of a store share. Fields close in this order: the writer last, which empties the log.
struct Inner {
    readers: Readers,
    writer: Writer,
    positions: Arc<Positions>,
    continuations: Continuations,
    path: PathBuf,
    share_names: Option<(String, String)>,
    now: Clock,
    _lock: Option<Lock>,
}

impl Store {
    /// Opens the data file, makes it when there is none, and brings it up to date (UND-42).
    ///
    /// # Errors
    /// One clear line: the file is in use, newer, damaged, of another program, or cannot be read or written.
    pub fn open(options: Options) -> Result<Self, FileError> {
        let (mut connection, lock) = open_writer(&options)?;
        migrate(&mut connection, &options.path, MIGRATIONS, !options.beside, (options.now)())?;
        let share_names = fix_share_names(&mut connection, &options)?;
        // From here on a write that finds the file held by another process decides itself whether to wait.
        connection.busy_timeout(std::time::Duration::ZERO).map_err(sqlite(&options.path))?;
        let secret = fix_secret(&mut connection, &options.path)?;
        let writer = Writer::start(connection, &options)?;
        let readers = Readers::start(&options)?;
        let inner = Inner {
            readers,
            writer,
            positions: Arc::new(Positions::new()),
            continuations: Continuations::new(&secret),
            path: options.path,
            share_names,
            now: options.now,
            _lock: lock,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Where the data file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The names of the two share objects, when they have been fixed in this file.
    #[must_use]
    pub fn share_names(&self) -> Option<(&str, &str)> {
        self.inner.share_names.as_ref().map(|(first, second)| (first.as_str(), second.as_str()))
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

    /// Now, as the options tell it.
    pub(crate) fn now(&self) -> chrono::DateTime<chrono::Utc> {
        (self.inner.now)()
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.inner.path).finish_non_exhaustive()
    }
}

/// Reads the names of the share objects; the first that are given stay.
fn fix_share_names(connection: &mut Connection, options: &Options) -> Result<Option<(String, String)>, FileError> {
    let failed = sqlite(&options.path);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&failed)?;
    let name = |which: &str| {
        transaction.query_row("SELECT value FROM meta WHERE name = ?1", [which], |row| row.get(0)).optional()
    };
    let stored = name("share_name_1").map_err(&failed)?.zip(name("share_name_2").map_err(&failed)?);
    match (stored, &options.share_names) {
        (Some(stored), Some(wanted)) if stored != *wanted => {
            Err(FileError::ShareNames { path: options.path.clone(), stored })
        }
        (None, Some((first, second))) => {
            transaction
                .execute(
                    "INSERT INTO meta (name, value) VALUES ('share_name_1', ?1), ('share_name_2', ?2)",
                    [first, second],
                )
                .map_err(&failed)?;
            transaction.commit().map_err(&failed)?;
            Ok(options.share_names.clone())
        }
        (stored, _) => Ok(stored),
    }
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

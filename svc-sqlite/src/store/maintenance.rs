//! Maintenance of a store that runs: copies, the emptying of its log, marks of programs, and what
//! it does.

use std::path::{Path, PathBuf};
use std::thread;

use futures_channel::oneshot;
use svc_core::Result;

use super::SqliteStore;
use crate::backup::{backup, checkpoint, compact};
use crate::file::{FileError, io};
use crate::metadata;
use crate::stats::SqliteStats;

impl SqliteStore {
    /// Copies the store into a new file that only its owner can read, while others read and write.
    ///
    /// The copy shows one moment, is durable when this returns, and opens like any data file.
    /// Writers do not wait for it; the log grows until it is done. When the caller goes away, it is
    /// completed all the same.
    ///
    /// # Errors
    /// [`FileError::Exists`] when `to` exists; what the file system says otherwise, and nothing is
    /// left at `to` then.
    pub async fn backup(&self, to: impl Into<PathBuf>) -> Result<(), FileError> {
        let (to, patience) = (to.into(), self.inner.patience);
        self.aside(to.clone(), move |from| backup(from, &to, patience))
            .await
    }

    /// Copies the log into the file and empties it: what was deleted or replaced is overwritten in
    /// both.
    ///
    /// Copies that SQLite left in the free space of a page when it moved rows between pages may
    /// outlast this; [`SqliteStore::compact`] removes those too.
    ///
    /// # Errors
    /// [`FileError::Sqlite`] with "database is locked" when long reads or writes are under way
    /// beyond the busy timeout.
    pub async fn checkpoint(&self) -> Result<(), FileError> {
        let (patience, snapshots) = (self.inner.patience, self.readers().snapshots());
        self.aside(self.path().to_owned(), move |path| {
            checkpoint(path, &snapshots, patience)
        })
        .await
    }

    /// Writes the whole file anew, without free space, and empties the log: afterwards no byte of
    /// anything that was ever erased is in them.
    ///
    /// Maintenance for a quiet hour: it takes time and room in proportion to the file, and writes
    /// are refused as unavailable meanwhile; reads go on.
    ///
    /// # Errors
    /// As [`SqliteStore::checkpoint`]; a full disk.
    ///
    /// Requirements: UND-26.
    pub async fn compact(&self) -> Result<(), FileError> {
        let (patience, snapshots) = (self.inner.patience, self.readers().snapshots());
        self.aside(self.path().to_owned(), move |path| {
            compact(path, &snapshots, patience)
        })
        .await
    }

    /// Runs long work on a thread of its own; `about` is the file that its failure to start is told
    /// of.
    async fn aside(
        &self,
        about: PathBuf,
        work: impl FnOnce(&Path) -> Result<(), FileError> + Send + 'static,
    ) -> Result<(), FileError> {
        let (answer, arrives) = oneshot::channel();
        // The store stays open as long as the work lasts.
        let store = self.clone();
        let spawned = thread::Builder::new()
            .name("svc-sqlite-aside".to_owned())
            .spawn(move || {
                // The caller may have gone away meanwhile.
                let _ = answer.send(work(store.path()));
            });
        spawned.map_err(io(&about))?;
        arrives.await.unwrap_or_else(|oneshot::Canceled| {
            Err(io(&about)(std::io::Error::other("the work was cut short")))
        })
    }

    /// Writes a mark, or replaces it: a short text that a program keeps in the file for itself,
    /// such as how far it got with filling it.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn mark(&self, name: &str, value: &str) -> Result<()> {
        let (name, value) = (name.to_owned(), value.to_owned());
        Ok(self
            .writer()
            .run(None, move |job| {
                Ok(metadata::set_mark(job.file, &name, &value)?)
            })
            .await?)
    }

    /// Reads a mark; `None` when it was never written.
    ///
    /// # Errors
    /// Storage trouble.
    pub fn read_mark(&self, name: &str) -> Result<Option<String>> {
        Ok(self
            .readers()
            .with(|file| Ok(metadata::mark(file, name)?))?)
    }

    /// What the store has done and has to do. It may be called often: it waits for nobody's work.
    #[must_use]
    pub fn stats(&self) -> SqliteStats {
        let readers = self.readers().load();
        SqliteStats {
            writes_waiting: self.writer().waiting(),
            commits: self.writer().commits().so_far(),
            readers_open: readers.open,
            readers_busy: readers.busy,
            reads_waiting: readers.waiting,
        }
    }
}

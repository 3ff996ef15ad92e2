//! Maintenance of a running store: copies, checkpoints of its log, marks of programs, and
//! statistics.

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
    /// Copies the store into a new file that only its owner can read. Reads and writes continue.
    ///
    /// The copy is one snapshot, is durable when this returns, and opens like any data file.
    /// Writers do not wait for it, and the log grows until it is finished. If the caller no longer
    /// waits, the copy is still completed.
    ///
    /// # Errors
    ///
    /// Returns [`FileError::Exists`] if `to` exists. Any other error is one of SQLite or the file
    /// system, and no file remains at `to`.
    pub async fn backup(&self, to: impl Into<PathBuf>) -> Result<(), FileError> {
        let (to, patience) = (to.into(), self.inner.patience);
        self.run_on_thread(to.clone(), move |from| backup(from, &to, patience))
            .await
    }

    /// Copies the log into the file and empties it. Deleted and replaced data is then overwritten
    /// in both.
    ///
    /// Copies in the free space of a page, which SQLite leaves when it moves rows between pages,
    /// may remain. [`SqliteStore::compact`] also removes those.
    ///
    /// # Errors
    ///
    /// Returns [`FileError::Sqlite`] with "database is locked" if long reads or writes last longer
    /// than the busy timeout.
    pub async fn checkpoint(&self) -> Result<(), FileError> {
        let (patience, snapshots) = (self.inner.patience, self.readers().snapshots());
        self.run_on_thread(self.path().to_owned(), move |path| {
            checkpoint(path, &snapshots, patience)
        })
        .await
    }

    /// Rewrites the whole file without free space, and empties the log. Afterwards neither contains
    /// any erased data.
    ///
    /// Use it when there is little load: it takes time and disk space in proportion to the file.
    /// During this, writes are rejected as unavailable, and reads continue.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`SqliteStore::checkpoint`], or an error if the disk is full.
    ///
    /// Requirements: UND-26.
    pub async fn compact(&self) -> Result<(), FileError> {
        let (patience, snapshots) = (self.inner.patience, self.readers().snapshots());
        self.run_on_thread(self.path().to_owned(), move |path| {
            compact(path, &snapshots, patience)
        })
        .await
    }

    /// Runs long work on a thread of its own. `about` is the file that the error names if the
    /// thread cannot be started.
    async fn run_on_thread(
        &self,
        about: PathBuf,
        work: impl FnOnce(&Path) -> Result<(), FileError> + Send + 'static,
    ) -> Result<(), FileError> {
        let (answer, arrives) = oneshot::channel();
        // The store remains open until the work is finished.
        let store = self.clone();
        let spawned = thread::Builder::new()
            .name("svc-sqlite-aside".to_owned())
            .spawn(move || {
                // The caller may no longer wait.
                let _ = answer.send(work(store.path()));
            });
        spawned.map_err(io(&about))?;
        arrives.await.unwrap_or_else(|oneshot::Canceled| {
            Err(io(&about)(std::io::Error::other("the work was aborted")))
        })
    }

    /// Writes a mark, or replaces it. A mark is a short text that a program stores in the file,
    /// such as the progress of an import.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage fails.
    pub async fn set_metadata(&self, name: &str, value: &str) -> Result<()> {
        let (name, value) = (name.to_owned(), value.to_owned());
        Ok(self
            .writer()
            .run(None, move |job| {
                Ok(metadata::set_mark(job.file, &name, &value)?)
            })
            .await?)
    }

    /// Returns a mark, or `None` if it was never written.
    ///
    /// # Errors
    ///
    /// Returns an error if the storage fails.
    pub fn metadata(&self, name: &str) -> Result<Option<String>> {
        Ok(self
            .readers()
            .with(|file| Ok(metadata::mark(file, name)?))?)
    }

    /// Returns the statistics of the store. It can be called often, because it does not wait for
    /// other work.
    #[must_use]
    pub fn stats(&self) -> SqliteStats {
        let readers = self.readers().load();
        SqliteStats {
            queued_writes: self.writer().waiting(),
            commits: self.writer().commits().snapshot(),
            open_readers: readers.open,
            busy_readers: readers.busy,
            queued_reads: readers.waiting,
        }
    }
}

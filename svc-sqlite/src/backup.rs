//! Copies of a running store, and the emptying of its log.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::file::{FileError, io, make, open_reader, sqlite, sync_directory};
use crate::readers::Views;
use crate::store::Store;

/// Pages copied in one step.
const STEP: i32 = 1_024;
/// Between two attempts at emptying the log.
const PAUSE: Duration = Duration::from_millis(5);

impl Store {
    /// Copies the store into a new file that only its owner can read, while others read and write.
    ///
    /// The copy shows one moment, is durable when this returns, and opens like any data file. Writers do not wait for
    /// it; the log grows until it is done. When the caller goes away, it is completed all the same.
    ///
    /// # Errors
    /// [`FileError::Exists`] when `to` exists; what the file system says otherwise, and nothing is left at `to` then.
    pub async fn backup(&self, to: impl Into<PathBuf>) -> Result<(), FileError> {
        let (to, patience) = (to.into(), self.patience());
        let target = to.clone();
        self.aside(to, move |from| {
            // Made first: nothing of another's is removed when it exists.
            drop(make(&target)?);
            let copied = copy(from, &target, patience);
            if copied.is_err() {
                // The first error is the one to tell.
                let _ = fs::remove_file(&target);
            }
            copied
        })
        .await
    }

    /// Copies the log into the file and empties it: what was deleted or replaced is overwritten in both.
    ///
    /// Copies that SQLite left in the free space of a page when it moved rows between pages may outlast this;
    /// [`Store::compact`] removes those too.
    ///
    /// # Errors
    /// [`FileError::Sqlite`] with "database is locked" when long reads or writes are under way beyond the busy timeout.
    pub async fn checkpoint(&self) -> Result<(), FileError> {
        let (patience, views) = (self.patience(), self.readers().views());
        self.aside(self.path().to_owned(), move |path| {
            empty_log(&connect(path, patience)?, &views, patience).map_err(sqlite(path))
        })
        .await
    }

    /// Writes the whole file anew, without free space, and empties the log: afterwards no byte of anything that was ever
    /// erased is in them (UND-26).
    ///
    /// Maintenance for a quiet hour: it takes time and room in proportion to the file, and writes are refused as
    /// unavailable meanwhile; reads go on.
    ///
    /// # Errors
    /// As [`Store::checkpoint`]; a full disk.
    pub async fn compact(&self) -> Result<(), FileError> {
        let (patience, views) = (self.patience(), self.readers().views());
        self.aside(self.path().to_owned(), move |path| {
            let file = connect(path, patience)?;
            file.execute_batch("VACUUM").and_then(|()| empty_log(&file, &views, patience)).map_err(sqlite(path))
        })
        .await
    }

    /// Runs long work on a thread of its own; `about` is the file that its failure to start is told of.
    async fn aside(
        &self,
        about: PathBuf,
        work: impl FnOnce(&Path) -> Result<(), FileError> + Send + 'static,
    ) -> Result<(), FileError> {
        let (answer, arrives) = oneshot::channel();
        // The store stays open as long as the work lasts.
        let store = self.clone();
        let spawned = thread::Builder::new().name("svc-sqlite-aside".to_owned()).spawn(move || {
            // The caller may have gone away meanwhile.
            let _ = answer.send(work(store.path()));
        });
        spawned.map_err(io(&about))?;
        arrives
            .await
            .unwrap_or_else(|oneshot::Canceled| Err(io(&about)(std::io::Error::other("the work was cut short"))))
    }
}

/// A connection for one piece of maintenance, as durable as the writer's.
fn connect(path: &Path, patience: Duration) -> Result<Connection, FileError> {
    let failed = sqlite(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let file = Connection::open_with_flags(path, flags).map_err(&failed)?;
    file.busy_timeout(patience).map_err(&failed)?;
    file.pragma_update(None, "synchronous", "full").map_err(&failed)?;
    Ok(file)
}

/// Waits for readers as long as `patience` allows, and also, which SQLite does not do by itself, for another checkpoint.
fn empty_log(file: &Connection, views: &Views, patience: Duration) -> rusqlite::Result<()> {
    let start = Instant::now();
    let _pause = views.pause();
    loop {
        let is_busy = file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0));
        match is_busy {
            Ok(false) => return Ok(()),
            Err(error) if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) => return Err(error),
            _ if start.elapsed() >= patience => return Err(busy()),
            _ => thread::sleep(PAUSE),
        }
    }
}

fn busy() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None)
}

fn copy(from: &Path, to: &Path, patience: Duration) -> Result<(), FileError> {
    let source = open_reader(from, patience).map_err(sqlite(from))?;
    // Inside one read the source does not change; without it, every write would start the copy anew.
    source
        .execute_batch("BEGIN")
        .and_then(|()| source.query_row("SELECT count(*) FROM migration", (), |row| row.get::<_, i64>(0)))
        .map_err(sqlite(from))?;
    let failed = sqlite(to);
    let mut target = connect(to, patience)?;
    {
        let copy = Backup::new(&source, &mut target).map_err(&failed)?;
        loop {
            match copy.step(STEP).map_err(&failed)? {
                StepResult::Done => break,
                StepResult::More => {}
                // Nobody else has the target, and the source is held by a read: this does not pass by waiting.
                _ => return Err(failed(busy())),
            }
        }
    }
    target.close().map_err(|(_, error)| failed(error))?;
    fs::File::open(to).and_then(|copy| copy.sync_all()).map_err(io(to))?;
    sync_directory(to)
}

#[cfg(test)]
mod tests;

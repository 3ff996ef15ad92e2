//! Copies of a store that is in use, and checkpoints of its log.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::file::{FileError, io, make, open_reader, sqlite, sync_directory};
use crate::read_pool::Snapshots;

/// Pages copied in one step.
const STEP: i32 = 1_024;
/// Pause between two attempts to empty the log.
const PAUSE: Duration = Duration::from_millis(5);

/// Copies the file at `from` to a new file at `to` that only its owner can read.
pub(crate) fn backup(from: &Path, to: &Path, patience: Duration) -> Result<(), FileError> {
    // Creates the target first, so that an existing file is never removed.
    drop(make(to)?);
    let copied = copy(from, to, patience);
    if copied.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(to);
    }
    copied
}

/// Copies the log into the file and empties it.
pub(crate) fn checkpoint(
    path: &Path,
    snapshots: &Snapshots,
    patience: Duration,
) -> Result<(), FileError> {
    empty_log(&connect(path, patience)?, snapshots, patience).map_err(sqlite(path))
}

/// Rewrites the whole file and empties the log.
pub(crate) fn compact(
    path: &Path,
    snapshots: &Snapshots,
    patience: Duration,
) -> Result<(), FileError> {
    let file = connect(path, patience)?;
    file.execute_batch("VACUUM")
        .and_then(|()| empty_log(&file, snapshots, patience))
        .map_err(sqlite(path))
}

/// Opens a connection for one maintenance task, as durable as that of the writer.
fn connect(path: &Path, patience: Duration) -> Result<Connection, FileError> {
    let failed = sqlite(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let file = Connection::open_with_flags(path, flags).map_err(&failed)?;
    file.busy_timeout(patience).map_err(&failed)?;
    file.pragma_update(None, "synchronous", "full")
        .map_err(&failed)?;
    Ok(file)
}

/// Waits for readers for up to `patience`, and also for another checkpoint, which SQLite itself
/// does not wait for.
fn empty_log(file: &Connection, snapshots: &Snapshots, patience: Duration) -> rusqlite::Result<()> {
    let start = Instant::now();
    let _guard = snapshots.checkpoint();
    loop {
        let is_busy = file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0));
        match is_busy {
            Ok(false) => return Ok(()),
            Err(error) if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) => {
                return Err(error);
            }
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
    // The source does not change during one read transaction. Without it, every write would restart
    // the copy.
    source
        .execute_batch("BEGIN")
        .and_then(|()| {
            source.query_row("SELECT count(*) FROM migration", (), |row| {
                row.get::<_, i64>(0)
            })
        })
        .map_err(sqlite(from))?;
    let failed = sqlite(to);
    let mut target = connect(to, patience)?;
    {
        let copy = Backup::new(&source, &mut target).map_err(&failed)?;
        loop {
            match copy.step(STEP).map_err(&failed)? {
                StepResult::Done => break,
                StepResult::More => {}
                // No other process has the target, and a read holds the source. Waiting does not
                // help.
                _ => return Err(failed(busy())),
            }
        }
    }
    target.close().map_err(|(_, error)| failed(error))?;
    fs::File::open(to)
        .and_then(|copy| copy.sync_all())
        .map_err(io(to))?;
    sync_directory(to).map_err(io(to))
}

#[cfg(test)]
mod tests;

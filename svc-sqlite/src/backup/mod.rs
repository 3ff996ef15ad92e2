//! Copies of a running store, and the emptying of its log.

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
/// Between two attempts at emptying the log.
const PAUSE: Duration = Duration::from_millis(5);

/// Copies the file at `from` to `to`, which only its owner can read.
pub(crate) fn backup(from: &Path, to: &Path, patience: Duration) -> Result<(), FileError> {
    // Made first: nothing of another's is removed when it exists.
    drop(make(to)?);
    let copied = copy(from, to, patience);
    if copied.is_err() {
        // The first error is the one to tell.
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

/// Writes the whole file anew, and empties the log.
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

/// A connection for one piece of maintenance, as durable as the writer's.
fn connect(path: &Path, patience: Duration) -> Result<Connection, FileError> {
    let failed = sqlite(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let file = Connection::open_with_flags(path, flags).map_err(&failed)?;
    file.busy_timeout(patience).map_err(&failed)?;
    file.pragma_update(None, "synchronous", "full")
        .map_err(&failed)?;
    Ok(file)
}

/// Waits for readers as long as `patience` allows, and also, which SQLite does not do by itself,
/// for another checkpoint.
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
    // Inside one read the source does not change; without it, every write would start the copy
    // anew.
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
                // Nobody else has the target, and the source is held by a read: this does not pass
                // by waiting.
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

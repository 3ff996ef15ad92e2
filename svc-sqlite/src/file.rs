//! The data file: access rights, the lock of its server, and the settings of each connection.
//!
//! Requirements: UND-36, UND-42.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use svc_core::link::ShareNames;

use crate::options::SqliteOptions;
use crate::wal::unreadable_frames;

/// Marks a data file of this library, `SvcR`: the application id in the header of the SQLite file.
pub const APPLICATION_ID: i32 = 0x5376_6352;
/// Offset of the application id in the first page.
const APPLICATION_ID_OFFSET: usize = 68;
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Number of distinct prepared statements that the writer and each reader cache.
const STATEMENTS: usize = 512;
/// Page cache of a connection in KiB. It is small, because it is anonymous memory and the kernel
/// caches the file. A larger one makes the writer slower: its pages do not fit into the processor's
/// cache.
const PAGE_CACHE: i64 = 2 * 1024;
/// Size in bytes to which the write-ahead log is truncated when it restarts.
const LOG_BYTES: i64 = 32 * 1024 * 1024;

/// Error raised when a data file cannot be opened, copied or removed. Each message names the file
/// and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// An error of the operating system.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An error of SQLite.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The file does not exist, and the options do not allow creating it.
    #[error("{}: the data file does not exist; start the server once to create it", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The target of a copy exists. Files are never overwritten.
    #[error("{}: the file exists already; choose another name", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file was created by another program.
    #[error("{}: the file was created by another program; choose another file", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// A later version of this library has derived totals, values or indexes that this program does
    /// not know.
    #[error("{}: the file has `{measure}`, a total, index or form of values that this program does not know; use a newer program", path.display())]
    UnknownMeasure {
        /// The file.
        path: PathBuf,
        /// The kind and the field, or `values` for the form of values.
        measure: String,
    },
    /// Totals, values and indexes were derived by another version, and only a server may derive them
    /// again.
    #[error("{}: the totals and indexes of this file are of another version; start the server once to derive them again", path.display())]
    Uncounted {
        /// The file.
        path: PathBuf,
    },
    /// Another server has the file open.
    #[error("{}: another server has this file open; stop that server, or choose another file", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A later version of this library has changed the file.
    #[error("{}: the file has version {found}, but this program supports versions up to {known} only; use a newer program", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The file's version.
        found: u32,
        /// The highest version that this program supports.
        known: u32,
    },
    /// The file needs an upgrade, which only a server may do.
    #[error("{}: the file has version {found}, but version {known} is required; start the server once to upgrade it", path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// The file's version.
        found: u32,
        /// The version that this program requires.
        known: u32,
    },
    /// The file is damaged.
    #[error("{}: the file is damaged ({source}); restore a backup", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
    /// The file has the tables of this library, and another application id in its header.
    #[error("{}: the file is damaged (wrong application id in the header); restore a backup", path.display())]
    Header {
        /// The file.
        path: PathBuf,
    },
    /// The recorded migrations of the file do not match those of this program.
    #[error("{}: the file is damaged (migration {number} has an unexpected checksum); restore a backup", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The number of the migration.
        number: u32,
    },
    /// The records of an older version cannot be upgraded.
    #[error("{}: the records cannot be upgraded: {reason}", path.display())]
    Repair {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: svc_core::Error,
    },
    /// The file has other names for the two share objects.
    #[error("{}: the share names of this file are {} and {}; use these names, or another file", path.display(), stored.network_a(), stored.network_b())]
    ShareNames {
        /// The file.
        path: PathBuf,
        /// The names that the file has.
        stored: ShareNames,
    },
}

/// Adds the path of the file to an error of SQLite.
pub(crate) fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> FileError + '_ {
    move |source| {
        let path = path.to_owned();
        if is_damage(&source) {
            FileError::Corrupt { path, source }
        } else {
            FileError::Sqlite { path, source }
        }
    }
}

/// Returns whether SQLite reports a damaged file.
fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Returns whether a damaged data file caused an error of a store. If so, restore a backup.
#[must_use]
pub fn is_damaged(error: &svc_core::Error) -> bool {
    error
        .source()
        .and_then(|cause| cause.downcast_ref())
        .is_some_and(is_damage)
}

/// Adds the path of the file to an error of the operating system.
pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> FileError + '_ {
    move |source| FileError::Io {
        path: path.to_owned(),
        source,
    }
}

/// Returns whether a data file of this library exists at `path`.
///
/// Returns `false` if there is no file, or one of another program.
///
/// # Errors
///
/// Returns the error of the operating system if the file exists and cannot be read.
pub fn is_data_file(path: &Path) -> io::Result<bool> {
    Ok(header(path)?.is_some_and(|head| head.starts_with(MAGIC) && is_marked(&head)))
}

/// Returns the header of the file at `path`, or `None` if the file does not exist or is shorter.
fn header(path: &Path) -> io::Result<Option<[u8; 100]>> {
    let mut head = [0_u8; 100];
    match File::open(path).and_then(|mut file| file.read_exact(&mut head)) {
        Ok(()) => Ok(Some(head)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Returns whether a header has the application id of this library.
fn is_marked(head: &[u8]) -> bool {
    head.get(APPLICATION_ID_OFFSET..)
        .is_some_and(|id| id.starts_with(&APPLICATION_ID.to_be_bytes()))
}

/// Removes the data file at `path` with its log. Returns `false` if there is none.
///
/// An empty file is also removed, because it has no data of another program.
///
/// # Errors
///
/// Returns [`FileError::NotOurs`] for a file of another program, and [`FileError::InUse`] if a
/// server has it open.
pub fn remove_data_file(path: &Path) -> Result<bool, FileError> {
    if !path.try_exists().map_err(io(path))? {
        return Ok(false);
    }
    // The log is next to the file itself, not next to a link to it.
    let path = &path.canonicalize().map_err(io(path))?;
    let is_empty = fs::metadata(path).map_err(io(path))?.len() == 0;
    if !is_empty && !is_data_file(path).map_err(io(path))? {
        return Err(FileError::NotOurs {
            path: path.to_owned(),
        });
    }
    let _lock = ServerLock::take(path)?;
    // The log is removed first: without its file, it would be used as the log of the next one.
    for file in [
        with_suffix(path, "-wal"),
        with_suffix(path, "-shm"),
        with_suffix(path, "-journal"),
        path.to_owned(),
    ] {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(&file)(error)),
            _ => {}
        }
    }
    sync_directory(path).map_err(io(path))?;
    Ok(true)
}

/// Returns `path` with `suffix` appended.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the path of the write-ahead log of the data file at `path`.
pub(crate) fn log_of(path: &Path) -> PathBuf {
    with_suffix(path, "-wal")
}

/// Returns options that create a file which only its owner can read. SQLite gives `-wal` and `-shm`
/// the mode of their file.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates an empty file that only its owner can read. Never changes an existing file.
pub(crate) fn make(path: &Path) -> Result<File, FileError> {
    private()
        .create_new(true)
        .open(path)
        .map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists {
                path: path.to_owned(),
            },
            _ => FileError::Io {
                path: path.to_owned(),
                source,
            },
        })
}

/// Syncs the directory of `path`, which makes the creation, renaming or removal of the file
/// durable.
///
/// Does nothing on systems that cannot sync directories (Windows).
///
/// # Errors
///
/// Returns the error of the operating system if the directory cannot be opened or synced.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// Removes all access rights except the owner's, in case the file was copied with a wider mode.
fn close_to_others(path: &Path) -> Result<(), FileError> {
    #[cfg(unix)]
    for file in [
        path.to_owned(),
        with_suffix(path, "-wal"),
        with_suffix(path, "-shm"),
    ] {
        use std::os::unix::fs::PermissionsExt;
        match fs::metadata(&file) {
            Ok(metadata) if metadata.permissions().mode() & 0o077 != 0 => {
                fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).map_err(io(&file))?;
            }
            _ => {}
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// The lock of the only server of a data file. The system releases it when the process ends,
/// however it ends.
///
/// It is a file of its own: closing a second handle of the data file would drop SQLite's locks on
/// it.
#[derive(Debug)]
pub(crate) struct ServerLock {
    _file: File,
}

impl ServerLock {
    /// Acquires the lock of `path`, or returns an error if another server has it.
    fn take(path: &Path) -> Result<Self, FileError> {
        let file = with_suffix(path, "-lock");
        let open = private()
            .create(true)
            .truncate(false)
            .open(&file)
            .map_err(io(&file))?;
        match open.try_lock() {
            Ok(()) => Ok(Self { _file: open }),
            Err(TryLockError::WouldBlock) => Err(FileError::InUse {
                path: path.to_owned(),
            }),
            Err(TryLockError::Error(error)) => Err(io(&file)(error)),
        }
    }
}

/// Returns whether a server has the data file at `path` open.
///
/// # Errors
///
/// Returns an error if the lock file cannot be opened.
pub fn is_served(path: &Path) -> Result<bool, FileError> {
    let file = match path.canonicalize() {
        Ok(path) => with_suffix(&path, "-lock"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(io(path)(error)),
    };
    let open = match File::open(&file) {
        Ok(open) => open,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(io(&file)(error)),
    };
    match open.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(io(&file)(error)),
    }
}

/// Opens the writing connection. Creates the file if there is none, restricts it to its owner, and
/// locks it for one server.
///
/// Afterwards the path in `options` is that of the file itself, with links and the current folder
/// resolved.
pub(crate) fn open_writer(
    options: &mut SqliteOptions,
) -> Result<(Connection, Option<ServerLock>), FileError> {
    let path = &options.path;
    if options.beside {
        if !path.try_exists().map_err(io(path))? {
            return Err(FileError::Missing { path: path.clone() });
        }
    } else {
        match make(path) {
            Ok(_) => sync_directory(path).map_err(io(path))?,
            Err(FileError::Exists { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    options.path = path.canonicalize().map_err(io(path))?;
    let path = &options.path;
    let lock = if options.beside {
        None
    } else {
        Some(ServerLock::take(path)?)
    };
    if lock.is_some() {
        warn_of_lost_commits(path)?;
    }
    let writer = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sqlite(path))?;
    // Opening waits. Afterwards the writer itself decides who waits.
    writer
        .busy_timeout(options.busy_timeout)
        .map_err(sqlite(path))?;
    claim(&writer, path)?;
    close_to_others(path)?;
    settings(&writer, options).map_err(sqlite(path))?;
    close_to_others(path)?;
    Ok((writer, lock))
}

/// Logs how many frames of the log SQLite will not read, before it overwrites them.
fn warn_of_lost_commits(path: &Path) -> Result<(), FileError> {
    let frames = unreadable_frames(path, &log_of(path)).map_err(io(path))?;
    if frames > 0 {
        tracing::warn!(
            frames,
            "{frames} frames of the write-ahead log cannot be read: the last commits are lost; restore a backup if it has them"
        );
    }
    Ok(())
}

/// Opens an existing data file that no server has open, for a check. Nothing in it is changed, and
/// its log remains when the connection is closed. Also returns the path with links resolved.
pub(crate) fn open_unserved(path: &Path) -> Result<(Connection, PathBuf, ServerLock), FileError> {
    let missing = || FileError::Missing {
        path: path.to_owned(),
    };
    if !path.try_exists().map_err(io(path))? {
        return Err(missing());
    }
    let path = path.canonicalize().map_err(io(path))?;
    let lock = ServerLock::take(&path)?;
    let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sqlite(&path))?;
    // By default, the last connection that closes copies the log into the file and removes it.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        .map_err(sqlite(&path))?;
    if is_ours(&connection, &path)? {
        Ok((connection, path, lock))
    } else {
        Err(missing())
    }
}

/// Marks an empty file as a data file. Rejects a damaged file and one of another program.
fn claim(connection: &Connection, path: &Path) -> Result<(), FileError> {
    if is_ours(connection, path)? {
        return Ok(());
    }
    // Before the log is turned on, so that the mark is in the file itself, where `is_data_file`
    // reads it.
    connection
        .pragma_update(None, "application_id", APPLICATION_ID)
        .map_err(sqlite(path))
}

/// Returns whether the file belongs to this library; `false` for an empty one. Rejects a damaged
/// file and one of another program.
fn is_ours(connection: &Connection, path: &Path) -> Result<bool, FileError> {
    let foreign = || FileError::NotOurs {
        path: path.to_owned(),
    };
    let id = connection.query_row("PRAGMA application_id", (), |row| row.get(0));
    let id: i32 = match id {
        Ok(id) => id,
        // SQLite cannot read the header, but the application id in it still identifies the program.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            let is_ours = header(path)
                .map_err(io(path))?
                .is_some_and(|head| is_marked(&head));
            return Err(if is_ours {
                sqlite(path)(error)
            } else {
                foreign()
            });
        }
        Err(error) => return Err(sqlite(path)(error)),
    };
    if id == APPLICATION_ID {
        return Ok(true);
    }
    let pages: i64 = connection
        .query_row("PRAGMA page_count", (), |row| row.get(0))
        .map_err(sqlite(path))?;
    if id != 0 || pages != 0 {
        return Err(if has_tables(connection) {
            FileError::Header {
                path: path.to_owned(),
            }
        } else {
            foreign()
        });
    }
    Ok(false)
}

/// Returns whether the file has tables of this library.
fn has_tables(connection: &Connection) -> bool {
    ["migration", "tenant", "total"]
        .iter()
        .all(|name| connection.table_exists(None, *name).unwrap_or(false))
}

fn connect(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Applies the settings of a writing connection: durable, strict, and deleted data is overwritten.
fn settings(writer: &Connection, options: &SqliteOptions) -> rusqlite::Result<()> {
    let mode: String = writer.query_row("PRAGMA journal_mode = wal", (), |row| row.get(0))?;
    if mode != "wal" {
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN),
            Some(format!(
                "the write-ahead log cannot be turned on here (journal mode is {mode})"
            )),
        ));
    }
    writer.pragma_update(
        None,
        "synchronous",
        if options.synchronous_normal {
            "normal"
        } else {
            "full"
        },
    )?;
    writer.pragma_update(None, "secure_delete", true)?;
    // These pragmas also return the new value.
    writer.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    if let Some(pages) = options.max_page_count {
        writer.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    common_settings(writer)
}

fn common_settings(connection: &Connection) -> rusqlite::Result<()> {
    // Otherwise SQLite compiles a statement with a range or a limit again for each new value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update_and_check(None, "mmap_size", 0, |_| Ok(()))?;
    connection.pragma_update(None, "cache_size", PAGE_CACHE.saturating_neg())
}

/// Opens a connection that cannot write.
pub(crate) fn open_reader(path: &Path, busy_timeout: Duration) -> rusqlite::Result<Connection> {
    let reader = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    reader.busy_timeout(busy_timeout)?;
    common_settings(&reader)?;
    reader.pragma_update(None, "query_only", true)?;
    Ok(reader)
}

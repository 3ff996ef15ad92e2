//! Errors of this crate, which callers get as a [`svc_core::Error`].
//!
//! A problem that the operator fixes outside the server, such as a busy, full or unreadable file,
//! becomes 503. Anything else becomes 500.
//!
//! Requirements: UND-36.

use std::time::Duration;

use rusqlite::{ErrorCode, types::FromSqlError};
use svc_core::{Error, ErrorKind};

/// How long a client waits before a retry after a lock or a full queue. Both end by themselves.
const SOON: Duration = Duration::from_secs(1);
/// How long a client waits before a retry after a full disk or an unreadable file. An operator must
/// fix both.
const LATER: Duration = Duration::from_secs(30);

/// The result of the functions of this crate; see [`StoreError`].
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// The reason why a read or a write failed.
///
/// It deliberately does not implement [`std::error::Error`]: `?` would then turn every value into
/// [`ErrorKind::Unexpected`]. The only way out of this crate is the conversion below.
#[derive(Debug)]
pub(crate) enum StoreError {
    /// An error of the API, returned unchanged.
    Rejected(Error),
    /// An error of SQLite.
    Sqlite(rusqlite::Error),
    /// A temporary failure. Retry after this time.
    Transient(Duration),
    /// The transaction ended because another job failed. The text is for the log.
    RolledBack(String),
}

impl StoreError {
    /// The error for a request that was too late, or for which the queue was full.
    pub(crate) const UNAVAILABLE: Self = Self::Transient(SOON);

    /// Returns an error that should be impossible, with a sentence for the log.
    pub(crate) fn unexpected(what: impl Into<String>) -> Self {
        Self::Rejected(Error::unexpected(what.into()))
    }

    /// Returns the error for the other jobs of the same transaction.
    pub(crate) fn for_others(&self) -> Self {
        match self {
            Self::Transient(time) => Self::Transient(*time),
            Self::Sqlite(error) => match passes_after(error) {
                Some(time) => Self::Transient(time),
                None => Self::RolledBack(format!("SQLite reports: {error}")),
            },
            Self::RolledBack(text) => Self::RolledBack(text.clone()),
            Self::Rejected(error) => match error.kind() {
                ErrorKind::Unavailable { retry_after } => Self::Transient(*retry_after),
                ErrorKind::Unexpected => Self::RolledBack(error.to_string()),
                _ => Self::RolledBack("SQLite ended the transaction during a job".to_owned()),
            },
        }
    }

    /// Returns whether the connection that reported this may have a damaged page in its cache.
    pub(crate) fn taints(&self) -> bool {
        matches!(self, Self::Sqlite(error) if is_unreadable(error))
    }
}

/// Returns whether the file differs from what this process wrote.
fn is_unreadable(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DatabaseCorrupt, NotADatabase, SystemIoFailure};
    match error.sqlite_error_code() {
        Some(DatabaseCorrupt | SystemIoFailure | NotADatabase | CannotOpen) => true,
        // The tables existed when the file was opened. Now it is an empty file, or that of another
        // program.
        _ => error.to_string().starts_with("no such table"),
    }
}

/// Returns the delay after which an error of SQLite may be over, or `None` if a retry does not
/// help.
fn passes_after(error: &rusqlite::Error) -> Option<Duration> {
    match error.sqlite_error_code()? {
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::OperationInterrupted => Some(SOON),
        ErrorCode::DiskFull | ErrorCode::OutOfMemory => Some(LATER),
        _ => is_unreadable(error).then_some(LATER),
    }
}

/// Converts to the error that callers outside this crate get.
impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Rejected(error) => error,
            StoreError::Sqlite(error) => match passes_after(&error) {
                Some(retry_after) => Self::unavailable(retry_after).with_source(error),
                None => Self::unexpected(error),
            },
            StoreError::Transient(retry_after) => Self::unavailable(retry_after),
            StoreError::RolledBack(text) => Self::unexpected(text),
        }
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        Self::Rejected(error)
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<FromSqlError> for StoreError {
    fn from(error: FromSqlError) -> Self {
        Self::Sqlite(error.into())
    }
}

#[cfg(test)]
mod tests;

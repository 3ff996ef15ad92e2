//! Why a call did not succeed, inside this crate. Outside it is a [`svc_core::Error`]: what
//! somebody mends beside the server, as a file that is busy, full or unreadable, is 503, anything
//! else 500.
//!
//! Requirements: UND-36.

use std::time::Duration;

use rusqlite::{ErrorCode, types::FromSqlError};
use svc_core::{Error, ErrorKind};

/// How long a client waits after a lock or a full queue: they end by themselves.
const SOON: Duration = Duration::from_secs(1);
/// How long a client waits after a full disk or an unreadable file: somebody must make room, or
/// bring the file back.
const LATER: Duration = Duration::from_secs(30);

/// What the functions of this crate return; see [`StoreError`].
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why a read or a write did not succeed.
///
/// It is no [`std::error::Error`] on purpose: as one it would become [`ErrorKind::Unexpected`] with
/// `?`, whatever it says. So there is one way out of this crate, the conversion below.
#[derive(Debug)]
pub(crate) enum StoreError {
    /// What the interface answers, as it is.
    Refused(Error),
    /// What SQLite reports.
    Sqlite(rusqlite::Error),
    /// It passes by itself: try again after this time.
    Passing(Duration),
    /// The transaction ended with the failure of another job; the text is for the log.
    Lost(String),
}

impl StoreError {
    /// The answer to a request that came too late or found no room.
    pub(crate) const UNAVAILABLE: Self = Self::Passing(SOON);

    /// What cannot be, in a sentence for the log.
    pub(crate) fn unexpected(what: impl Into<String>) -> Self {
        Self::Refused(Error::unexpected(what.into()))
    }

    /// What it means for everybody else whose work was in the same transaction.
    pub(crate) fn for_others(&self) -> Self {
        match self {
            Self::Passing(time) => Self::Passing(*time),
            Self::Sqlite(error) => match passes_after(error) {
                Some(time) => Self::Passing(time),
                None => Self::Lost(format!("the data file answers: {error}")),
            },
            Self::Lost(text) => Self::Lost(text.clone()),
            Self::Refused(error) => match error.kind() {
                ErrorKind::Unavailable { retry_after } => Self::Passing(*retry_after),
                ErrorKind::Unexpected => Self::Lost(error.to_string()),
                _ => Self::Lost("SQLite ended the transaction during a job".to_owned()),
            },
        }
    }

    /// Whether the connection that reported this may hold a damaged page in its cache.
    pub(crate) fn taints(&self) -> bool {
        matches!(self, Self::Sqlite(error) if is_unreadable(error))
    }
}

/// Whether the file is not as this process has left it.
fn is_unreadable(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DatabaseCorrupt, NotADatabase, SystemIoFailure};
    match error.sqlite_error_code() {
        Some(DatabaseCorrupt | SystemIoFailure | NotADatabase | CannotOpen) => true,
        // Opening saw to it that all tables are there: this is an empty file, or another program's.
        _ => error.to_string().starts_with("no such table"),
    }
}

/// The time after which what SQLite reports may have passed; `None` for what another try does not
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

/// The way out.
impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(error) => error,
            StoreError::Sqlite(error) => match passes_after(&error) {
                Some(retry_after) => Self::unavailable(retry_after).caused_by(error),
                None => Self::unexpected(error),
            },
            StoreError::Passing(retry_after) => Self::unavailable(retry_after),
            StoreError::Lost(text) => Self::unexpected(text),
        }
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
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

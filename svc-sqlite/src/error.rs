//! Why a call did not succeed, inside this crate. Outside it is a [`svc_core::Error`]: busy and full are passing (503), a
//! broken file is not (500) (UND-36).

use rusqlite::{ErrorCode, types::FromSqlError};
use svc_core::Error;

/// Seconds a client waits after a lock or a full queue: they end by themselves.
const SOON: u32 = 1;
/// Seconds a client waits after a full disk: somebody must make room.
const LATER: u32 = 30;

/// What the functions of this crate return; see [`StoreError`].
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why a read or a write did not succeed.
///
/// It is no [`std::error::Error`] on purpose: as one it would become [`Error::Unexpected`] with `?`, whatever it says. So
/// there is one way out of this crate, the conversion below.
#[derive(Debug)]
pub(crate) enum StoreError {
    /// What the interface answers, as it is.
    Refused(Error),
    /// What SQLite reports.
    Sqlite(rusqlite::Error),
    /// It passes by itself: try again after so many seconds.
    Passing(u32),
    /// The transaction ended with the failure of another job; the text is for the log.
    Lost(String),
}

impl StoreError {
    /// The answer to a request that came too late or found no room.
    pub(crate) const UNAVAILABLE: Self = Self::Passing(SOON);

    /// What cannot be, in a sentence for the log.
    pub(crate) fn unexpected(what: impl Into<String>) -> Self {
        Self::Refused(Error::unexpected(what))
    }

    /// What it means for everybody else whose work was in the same transaction.
    pub(crate) fn for_others(&self) -> Self {
        match self {
            Self::Passing(seconds) | Self::Refused(Error::Unavailable { retry_after: seconds }) => {
                Self::Passing(*seconds)
            }
            Self::Sqlite(error) => match passes_after(error) {
                Some(seconds) => Self::Passing(seconds),
                None => Self::Lost(format!("the data file answers: {error}")),
            },
            Self::Lost(text) => Self::Lost(text.clone()),
            Self::Refused(Error::Unexpected(cause)) => Self::Lost(cause.to_string()),
            Self::Refused(_) => Self::Lost("SQLite ended the transaction during a job".to_owned()),
        }
    }

    /// Whether the connection that reported this may hold a damaged page in its cache.
    pub(crate) fn taints(&self) -> bool {
        let Self::Sqlite(error) = self else { return false };
        matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::DatabaseCorrupt
                    | ErrorCode::SystemIoFailure
                    | ErrorCode::NotADatabase
                    | ErrorCode::CannotOpen
            )
        )
    }
}

/// Seconds after which what SQLite reports has passed by itself; `None` when it needs a person.
fn passes_after(error: &rusqlite::Error) -> Option<u32> {
    match error.sqlite_error_code()? {
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::OperationInterrupted => Some(SOON),
        ErrorCode::DiskFull | ErrorCode::OutOfMemory => Some(LATER),
        _ => None,
    }
}

/// The way out.
impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(error) => error,
            StoreError::Sqlite(error) => match passes_after(&error) {
                Some(retry_after) => Self::Unavailable { retry_after },
                None => Self::Unexpected(Box::new(error)),
            },
            StoreError::Passing(retry_after) => Self::Unavailable { retry_after },
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

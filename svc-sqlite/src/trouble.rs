//! What storage trouble becomes: busy and full are passing (503), a broken file is not (500) (UND-36).

use rusqlite::ErrorCode;
use svc_core::error::Error;

/// Seconds a client waits after a lock or a full queue: they end by themselves.
pub(crate) const SOON: u32 = 1;
/// Seconds a client waits after a full disk: somebody must make room.
const LATER: u32 = 30;

/// A failure that can be handed to every job of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Passes by itself: try again after so many seconds.
    Passing(u32),
    /// Needs a person; the text is for the log.
    Lasting(String),
}

impl Trouble {
    /// Sorts what SQLite reports.
    pub(crate) fn of(error: &rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(
                ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::OperationInterrupted,
            ) => Self::Passing(SOON),
            Some(ErrorCode::DiskFull | ErrorCode::OutOfMemory) => Self::Passing(LATER),
            _ => Self::Lasting(format!("the data file answers: {error}")),
        }
    }

    /// Sorts what a job returned, for the other jobs of its transaction.
    pub(crate) fn behind(error: &Error) -> Self {
        match error {
            Error::Unavailable { retry_after } => Self::Passing(*retry_after),
            Error::Unexpected(cause) => match cause.downcast_ref::<rusqlite::Error>() {
                Some(cause) => Self::of(cause),
                None => Self::Lasting(cause.to_string()),
            },
            _ => Self::Lasting("SQLite ended the transaction during a job".to_owned()),
        }
    }

    /// The answer for one caller.
    pub(crate) fn error(&self) -> Error {
        match self {
            Self::Passing(retry_after) => Error::Unavailable { retry_after: *retry_after },
            Self::Lasting(text) => Error::unexpected(text.clone()),
        }
    }
}

/// Turns passing trouble that came through `?` into [`Error::Unavailable`]; everything else stays as it is.
pub(crate) fn settle(error: Error) -> Error {
    match &error {
        Error::Unexpected(cause) => match cause.downcast_ref::<rusqlite::Error>().map(Trouble::of) {
            Some(passing @ Trouble::Passing(_)) => passing.error(),
            _ => error,
        },
        _ => error,
    }
}

/// Whether the connection that reported this may hold a damaged page in its cache.
pub(crate) fn taints(error: &Error) -> bool {
    let Error::Unexpected(cause) = error else { return false };
    matches!(
        cause.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::SystemIoFailure | ErrorCode::NotADatabase | ErrorCode::CannotOpen)
    )
}

/// The answer to a request that came too late or found no room.
pub(crate) fn unavailable() -> Error {
    Error::Unavailable { retry_after: SOON }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn failure(code: i32) -> Error {
        Error::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
    }

    /// UND-36: busy, locked, interrupted and full pass; read-only, failing and corrupt files do not.
    #[test]
    fn passing_and_lasting_trouble_are_told_apart() {
        for code in
            [ffi::SQLITE_BUSY, ffi::SQLITE_BUSY_SNAPSHOT, ffi::SQLITE_LOCKED, ffi::SQLITE_FULL, ffi::SQLITE_NOMEM]
        {
            assert!(matches!(settle(failure(code)), Error::Unavailable { .. }), "{code}");
        }
        for code in [
            ffi::SQLITE_READONLY,
            ffi::SQLITE_IOERR,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_CONSTRAINT,
        ] {
            assert!(matches!(settle(failure(code)), Error::Unexpected(_)), "{code}");
        }
        assert!(matches!(settle(Error::NotFound), Error::NotFound));
    }
}

#[cfg(test)]
mod through_the_interface;

//! Why a call did not succeed, inside this crate: what passes by itself is 503, the rest 500 (UND-36).

use std::time::Duration;

use svc_core::Error;
use tokio_postgres::error::SqlState;

/// How long a client waits after what passes by itself.
const SOON: Duration = Duration::from_secs(1);

/// What the functions of this crate return.
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why a read or a write did not succeed. There is one way out of this crate, the conversion below.
#[derive(Debug)]
pub(crate) enum StoreError {
    /// What the interface answers, as it is.
    Refused(Error),
    /// What PostgreSQL or the connection to it reports.
    Postgres(tokio_postgres::Error),
    /// No connection was free in time, or the call came too late.
    Busy,
}

impl StoreError {
    /// What cannot be, in a sentence for the log.
    pub(crate) fn unexpected(what: impl Into<String>) -> Self {
        Self::Refused(Error::unexpected(what.into()))
    }

    /// Whether the same calls may be given their turn again: nothing of them is stored.
    pub(crate) fn passes(&self) -> bool {
        match self {
            Self::Postgres(error) => match error.code() {
                Some(code) => {
                    *code == SqlState::T_R_SERIALIZATION_FAILURE
                        || *code == SqlState::T_R_DEADLOCK_DETECTED
                        || *code == SqlState::ADMIN_SHUTDOWN
                        || *code == SqlState::NOT_NULL_VIOLATION
                        || *code == SqlState::UNIQUE_VIOLATION
                }
                None => error.is_closed(),
            },
            Self::Refused(_) | Self::Busy => false,
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(error) => error,
            StoreError::Busy => Self::unavailable(SOON),
            StoreError::Postgres(error) => {
                let passes = match error.code() {
                    Some(code) => {
                        let class = code.code().get(..2).unwrap_or_default();
                        matches!(class, "08" | "40" | "53" | "55" | "57" | "58")
                    }
                    None => true,
                };
                if passes { Self::unavailable(SOON).caused_by(error) } else { Self::unexpected(error) }
            }
        }
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

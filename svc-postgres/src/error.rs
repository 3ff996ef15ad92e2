//! Why a call did not succeed, inside this crate: what passes by itself is 503, the rest 500 (UND-36).

use std::time::Duration;

use svc_core::{Error, link::ShareNames};
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
    /// No connection was free in time, too many writes wait, or the call came too late.
    Busy,
    /// The server did not answer in time.
    Silent,
    /// The program's own part of a call panicked.
    Panicked,
}

impl StoreError {
    /// What cannot be, in a sentence for the log.
    pub(crate) fn unexpected(what: impl Into<String>) -> Self {
        Self::Refused(Error::unexpected(what.into()))
    }

    pub(crate) fn state(&self) -> Option<&SqlState> {
        match self {
            Self::Postgres(error) => error.code(),
            _ => None,
        }
    }

    /// Whether the server did not answer in time.
    pub(crate) fn is_silent(&self) -> bool {
        matches!(self, Self::Silent)
    }

    /// Whether no connection was free in time, or too many wait.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Busy)
    }

    /// Whether it was the connection that failed, not a statement.
    pub(crate) fn is_of_the_connection(&self) -> bool {
        match self {
            Self::Postgres(error) => match error.code() {
                // A pooler or a new version of the tables: statements that were prepared are no longer what they were. Or it
                // leads to a server that was the first one.
                Some(state) => {
                    let class = state.code().get(..2).unwrap_or_default();
                    matches!(class, "08" | "57")
                        || *state == SqlState::INVALID_SQL_STATEMENT_NAME
                        || *state == SqlState::FEATURE_NOT_SUPPORTED
                        || *state == SqlState::READ_ONLY_SQL_TRANSACTION
                }
                None => true,
            },
            Self::Silent => true,
            Self::Refused(_) | Self::Busy | Self::Panicked => false,
        }
    }

    /// Whether the same calls may be given their turn again; nothing of them is stored.
    pub(crate) fn passes(&self) -> bool {
        // Somebody wrote past the lock, and the same calls are decided differently now.
        let wrote_past = [SqlState::NOT_NULL_VIOLATION, SqlState::UNIQUE_VIOLATION];
        match self.state() {
            // Nobody makes room while a caller waits.
            Some(state) if *state == SqlState::DISK_FULL => false,
            Some(state) => wrote_past.contains(state) || self.is_of_the_connection() || self.is_brief(),
            None => self.is_of_the_connection(),
        }
    }

    /// Whether the server reports what will pass: a lack of connections, memory or room, a lock, its own end.
    fn is_brief(&self) -> bool {
        let class = self.state().map(|state| state.code().get(..2).unwrap_or_default());
        matches!(class, Some("08" | "25" | "40" | "53" | "55" | "57" | "58" | "XX"))
    }

    /// Whether the server knows nothing of the tables.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.state() == Some(&SqlState::UNDEFINED_TABLE)
    }

    /// Whether something else has the same unique value by now; with several calls in a turn it may be one of them.
    pub(crate) fn is_conflict(&self) -> bool {
        self.state() == Some(&SqlState::UNIQUE_VIOLATION)
    }

    /// Whether it may be a matter of one of the calls that share a turn, and none of the others.
    pub(crate) fn is_of_one_call(&self) -> bool {
        self.is_conflict() || matches!(self, Self::Panicked)
    }

    /// The same once more, for each of the calls that shared a turn.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Postgres(error) if !self.is_brief() && error.code().is_some() => Self::unexpected(told(error)),
            Self::Refused(error) => Self::unexpected(format!("{error:#}")),
            Self::Panicked => Self::Panicked,
            Self::Postgres(_) | Self::Busy | Self::Silent => Self::Busy,
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let is_brief = error.is_brief();
        match error {
            StoreError::Refused(error) => error,
            StoreError::Busy | StoreError::Silent => Self::unavailable(SOON),
            StoreError::Panicked => Self::unexpected("the matching of people panicked"),
            StoreError::Postgres(error) if is_brief || error.code().is_none() => {
                Self::unavailable(SOON).caused_by(told(&error))
            }
            StoreError::Postgres(error) => Self::unexpected(told(&error)),
        }
    }
}

/// What the server reports, for a log: its code and its sentence. The details are left out, they may hold what people sent.
pub(crate) fn told(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("PostgreSQL {}: {}", error.code().code(), error.message()),
        None => match std::error::Error::source(error) {
            Some(cause) => format!("PostgreSQL: {error}: {cause}"),
            None => format!("PostgreSQL: {error}"),
        },
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

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// PostgreSQL, or the way to it.
    #[error("{}", told(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// The URL of the database cannot be read.
    #[error("the URL of the database cannot be read ({0}); it looks like postgres://user:password@host:5432/database")]
    Url(#[source] tokio_postgres::Error),
    /// The URL asks for TLS, which this program was built without.
    #[error(
        "the URL asks for TLS (sslmode=require), which this program was built without; build it with the feature `tls`"
    )]
    NoTls,
    /// TLS cannot be set up.
    #[error("TLS: {0}")]
    Tls(String),
    /// The names of the share objects are others than those of the tables.
    #[error("the tables have the share objects `{}` and `{}`; use these names, they cannot be changed", .0.network_a(), .0.network_b())]
    ShareNames(ShareNames),
    /// Whatever else is in the way.
    #[error("{0}")]
    Other(String),
    /// The schema holds tables of somebody else, or none.
    #[error("the schema `{0}` holds no tables of this program; nothing was removed")]
    NotOurs(String),
    /// The name of the schema cannot be one.
    #[error(
        "the schema `{0}` is no name: use 1 to 63 lower-case letters, digits and underscores, beginning with a letter"
    )]
    Schema(String),
    /// A later version of this library has changed the tables.
    #[error("the schema is of version {found}, this program knows versions up to {known}; use a newer program")]
    Newer {
        /// The version of the tables.
        found: u32,
        /// The highest version that this program knows.
        known: u32,
    },
    /// The record of changes does not fit what this program knows.
    #[error("migration {0} was not made as this program knows it (its checksum differs); restore a backup")]
    Damaged(u32),
}

impl From<StoreError> for ConnectError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Postgres(error) => Self::Postgres(error),
            other => Self::Other(format!("{:#}", Error::from(other))),
        }
    }
}

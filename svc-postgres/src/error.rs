//! Errors of this crate, which callers get as a [`svc_core::Error`]. Temporary errors become 503,
//! and all others 500. [`sqlstate`](crate::sqlstate) has the table of SQLSTATEs.
//!
//! Requirements: UND-36.

use std::{fmt, time::Duration};

use svc_core::{Error, link::ShareNames};
use tokio_postgres::{
    error::SqlState,
    types::{WasNull, WrongType},
};

use crate::sqlstate::{Remedy, remedy};

/// How long a client waits before a retry after a temporary error.
const SOON: Duration = Duration::from_secs(1);

/// The result of the functions of this crate.
pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// The reason why a read or a write failed. The only way out of this crate is the conversion below.
#[derive(Debug)]
pub(crate) enum StoreError {
    /// An error of the API, returned unchanged.
    Rejected(Error),
    /// An error of PostgreSQL or of the connection to it.
    Postgres(Failure),
    /// No connection was free in time, too many writes wait, or the request was too late.
    Busy,
    /// The server did not answer in time.
    TimedOut,
    /// Code of the program that runs in a request has panicked.
    Panicked,
}

/// An error of PostgreSQL, with the statement and the tenant that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    error: tokio_postgres::Error,
    /// The name of the statement in [`Texts`](crate::statements::Texts).
    statement: Option<&'static str>,
    /// The number of the tenant in the table `tenant`.
    tenant: Option<i64>,
}

impl Failure {
    /// Returns whether the guard of a transaction failed: another process has written for the
    /// tenant since the lock. Citus does not forward the name of the table.
    fn is_guard(&self) -> bool {
        self.error.code() == Some(&SqlState::NOT_NULL_VIOLATION) && self.statement == Some("guard")
    }

    /// Returns whether a value has another type than this program expects. Server and connection
    /// are then working.
    fn is_of_the_program(&self) -> bool {
        let cause = std::error::Error::source(&self.error);
        cause.is_some_and(|cause| cause.is::<WrongType>() || cause.is::<WasNull>())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&log_message(&self.error))?;
        match (self.statement, self.tenant) {
            (Some(statement), Some(tenant)) => {
                write!(f, " (statement `{statement}`, tenant number {tenant})")
            }
            (Some(statement), None) => write!(f, " (statement `{statement}`)"),
            (None, Some(tenant)) => write!(f, " (tenant number {tenant})"),
            (None, None) => Ok(()),
        }?;
        if self.error.code() == Some(&SqlState::INVALID_SQL_STATEMENT_NAME) {
            f.write_str(
                "; a pooler without prepared statements needs `StatementMode::Unnamed` (`--statement-mode unnamed`)",
            )?;
        }
        Ok(())
    }
}

impl StoreError {
    /// Returns the error with the name of the statement that failed.
    pub(crate) fn of_statement(mut self, name: Option<&'static str>) -> Self {
        if let Self::Postgres(failure) = &mut self {
            failure.statement = failure.statement.or(name);
        }
        self
    }

    /// Returns the error with the number of the tenant whose statement failed.
    pub(crate) fn of_tenant(mut self, number: Option<i64>) -> Self {
        if let Self::Postgres(failure) = &mut self {
            failure.tenant = failure.tenant.or(number);
        }
        self
    }

    /// Returns how to handle the error.
    fn remedy(&self) -> Remedy {
        match self {
            Self::Postgres(failure) if failure.is_guard() => Remedy::Retry,
            Self::Postgres(failure) if failure.is_of_the_program() => Remedy::Fail,
            Self::Postgres(failure) => failure.error.code().map_or(Remedy::Reconnect, remedy),
            Self::TimedOut => Remedy::Reconnect,
            Self::Busy => Remedy::Unavailable,
            Self::Rejected(_) | Self::Panicked => Remedy::Fail,
        }
    }

    /// Returns an error that should be impossible, with a sentence for the log.
    pub(crate) fn unexpected(what: impl Into<String>) -> Self {
        Self::Rejected(Error::unexpected(what.into()))
    }

    pub(crate) fn state(&self) -> Option<&SqlState> {
        match self {
            Self::Postgres(failure) => failure.error.code(),
            _ => None,
        }
    }

    /// Returns whether the server did not answer in time.
    pub(crate) fn is_silent(&self) -> bool {
        matches!(self, Self::TimedOut)
    }

    /// Returns whether no connection was free in time, or too many writes wait.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Busy)
    }

    /// Returns whether the connection failed, not a statement. It must then be closed.
    pub(crate) fn is_of_the_connection(&self) -> bool {
        matches!(self.remedy(), Remedy::Reconnect | Remedy::RetryOnce)
    }

    /// Returns whether the same requests are retried once, on a new connection.
    pub(crate) fn is_retried_once(&self) -> bool {
        self.remedy() == Remedy::RetryOnce
    }

    /// Returns whether the same requests are retried until their deadline. Nothing of them is
    /// stored.
    pub(crate) fn passes(&self) -> bool {
        matches!(self.remedy(), Remedy::Retry | Remedy::Reconnect)
    }

    /// Returns whether the server does not have the tables.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.state() == Some(&SqlState::UNDEFINED_TABLE)
    }

    /// Returns whether another record now has the same unique value. With several requests in a
    /// transaction, it may be one of theirs.
    pub(crate) fn is_conflict(&self) -> bool {
        self.state() == Some(&SqlState::UNIQUE_VIOLATION)
    }

    /// Returns whether one of the requests that share a transaction may be the cause. The others
    /// then do not fail with it.
    pub(crate) fn is_of_one_call(&self) -> bool {
        let is_final = matches!(self.remedy(), Remedy::Fail | Remedy::RetryOnce);
        self.is_conflict()
            || matches!(self, Self::Panicked)
            || is_final && matches!(self, Self::Postgres(_))
    }

    /// Returns a copy of the error, for each request that shared a transaction.
    pub(crate) fn clone_for_caller(&self) -> Self {
        match self {
            Self::Rejected(error) => Self::unexpected(format!("{error:#}")),
            Self::Panicked => Self::Panicked,
            Self::Postgres(failure) if !self.is_unavailable() => {
                Self::unexpected(failure.to_string())
            }
            Self::Postgres(_) | Self::Busy | Self::TimedOut => Self::Busy,
        }
    }

    /// Returns whether a client may retry later.
    fn is_unavailable(&self) -> bool {
        // Another writer changed rows despite the lock, repeatedly: a retry does not help.
        matches!(
            self.remedy(),
            Remedy::Retry | Remedy::Reconnect | Remedy::Unavailable
        ) && !self.is_conflict()
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let is_unavailable = error.is_unavailable();
        match error {
            StoreError::Rejected(error) => error,
            StoreError::Busy | StoreError::TimedOut => Self::unavailable(SOON),
            StoreError::Panicked => Self::unexpected("person matching panicked"),
            StoreError::Postgres(failure) if is_unavailable => {
                Self::unavailable(SOON).with_source(failure.to_string())
            }
            StoreError::Postgres(failure) => Self::unexpected(failure.to_string()),
        }
    }
}

/// Returns an error of the server for a log: its code and its message. Its details are left out,
/// because they may contain what people sent.
pub(crate) fn log_message(error: &tokio_postgres::Error) -> String {
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
        Self::Rejected(error)
    }
}

impl From<tokio_postgres::Error> for StoreError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(Failure {
            error,
            statement: None,
            tenant: None,
        })
    }
}

/// Error raised when a database cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// An error of PostgreSQL, or of the connection.
    #[error("{}", log_message(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// The server accepted a connection and did not answer in time.
    #[error("the server accepts connections but does not answer")]
    Silent,
    /// The URL of the database is invalid.
    #[error(
        "the URL of the database is invalid ({0}); use the form postgres://user:password@host:5432/database"
    )]
    InvalidUrl(#[source] tokio_postgres::Error),
    /// The URL requires TLS, and this program was built without it.
    #[error(
        "the URL requires TLS (sslmode=require), but this program was built without it; build it with the feature `tls`"
    )]
    TlsUnavailable,
    /// TLS cannot be configured.
    #[error("TLS: {0}")]
    Tls(String),
    /// The tables have other names for the share objects.
    #[error("the share names of the tables are `{}` and `{}`; use these names, because they are fixed", .0.network_a(), .0.network_b())]
    ShareNames(ShareNames),
    /// Any other error.
    #[error("{0}")]
    Other(String),
    /// The option [`cluster`](crate::PostgresOptions::cluster) is set, and the database is not a
    /// cluster.
    #[error(
        "the database is not a Citus cluster; create the extension `citus` in it, or open it without the cluster option"
    )]
    NotACluster,
    /// The option [`cluster`](crate::PostgresOptions::cluster) is set, and these tables are not
    /// distributed.
    #[error(
        "tables of the schema `{schema}` are not distributed ({tables}); distribute them with the last statements of \
         `export schema --citus`, or open them without the cluster option"
    )]
    NotDistributed {
        /// The schema.
        schema: String,
        /// The names of the tables, separated by commas.
        tables: String,
    },
    /// The tables are distributed, and the option [`cluster`](crate::PostgresOptions::cluster) is
    /// not set.
    #[error(
        "the tables of the schema `{0}` are distributed over a cluster; open them with the cluster option"
    )]
    Distributed(String),
    /// The schema has no tables of this library.
    #[error("the schema `{0}` has no tables of this program; nothing was removed")]
    ForeignSchema(String),
    /// The name of the schema is invalid.
    #[error(
        "the schema name `{0}` is invalid; use 1 to 63 lower-case letters, digits and underscores, starting with a letter"
    )]
    InvalidSchemaName(String),
    /// A later version of this library has changed the tables.
    #[error(
        "the schema has version {found}, but this program supports versions up to {known} only; use a newer program"
    )]
    Newer {
        /// The version of the tables.
        found: u32,
        /// The highest version that this program supports.
        known: u32,
    },
    /// A later version of this library has derived totals, values or indexes that this program does
    /// not know.
    #[error(
        "the schema has `{0}`, a total, index or form of values that this program does not know; use a newer program"
    )]
    UnknownMeasure(String),
    /// The recorded migrations of the schema do not match those of this program.
    #[error("migration {0} has an unexpected checksum; restore a backup")]
    Damaged(u32),
}

impl From<ConnectError> for StoreError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Postgres(error) => error.into(),
            ConnectError::Silent => Self::TimedOut,
            other => Self::unexpected(other.to_string()),
        }
    }
}

impl From<StoreError> for ConnectError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Postgres(failure) => Self::Postgres(failure.error),
            StoreError::TimedOut => Self::Silent,
            other => Self::Other(format!("{:#}", Error::from(other))),
        }
    }
}

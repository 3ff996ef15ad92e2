//! Why a call did not succeed, inside this crate: what passes by itself is 503, the rest 500.
//! [`sqlstate`](crate::sqlstate) has the table of SQLSTATEs.
//!
//! Requirements: UND-36.

use std::{fmt, time::Duration};

use svc_core::{Error, link::ShareNames};
use tokio_postgres::{
    error::SqlState,
    types::{WasNull, WrongType},
};

use crate::sqlstate::{Remedy, remedy};

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
    Postgres(Failure),
    /// No connection was free in time, too many writes wait, or the call came too late.
    Busy,
    /// The server did not answer in time.
    Silent,
    /// The program's own part of a call panicked.
    Panicked,
}

/// An error of PostgreSQL, and what failed with it.
#[derive(Debug)]
pub(crate) struct Failure {
    error: tokio_postgres::Error,
    /// The name of the statement in [`Texts`](crate::texts::Texts).
    statement: Option<&'static str>,
    /// The number of the tenant in the table `tenant`.
    tenant: Option<i64>,
}

impl Failure {
    /// Whether the guard of a transaction has refused it: another process has written for the
    /// tenant since the lock. Citus does not forward the name of the table.
    fn is_guard(&self) -> bool {
        self.error.code() == Some(&SqlState::NOT_NULL_VIOLATION) && self.statement == Some("guard")
    }

    /// Whether a value has another type than this program expects: the server and the connection to
    /// it work.
    fn is_of_the_program(&self) -> bool {
        let cause = std::error::Error::source(&self.error);
        cause.is_some_and(|cause| cause.is::<WrongType>() || cause.is::<WasNull>())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&told(&self.error))?;
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
                "; a pooler that knows no prepared statements needs `StatementMode::Unnamed` (`--statement-mode unnamed`)",
            )?;
        }
        Ok(())
    }
}

impl StoreError {
    /// The same error with the name of the statement that failed.
    pub(crate) fn of_statement(mut self, name: Option<&'static str>) -> Self {
        if let Self::Postgres(failure) = &mut self {
            failure.statement = failure.statement.or(name);
        }
        self
    }

    /// The same error with the number of the tenant whose statement failed.
    pub(crate) fn of_tenant(mut self, number: Option<i64>) -> Self {
        if let Self::Postgres(failure) = &mut self {
            failure.tenant = failure.tenant.or(number);
        }
        self
    }

    /// What is done about it.
    fn remedy(&self) -> Remedy {
        match self {
            Self::Postgres(failure) if failure.is_guard() => Remedy::Retry,
            Self::Postgres(failure) if failure.is_of_the_program() => Remedy::Fail,
            Self::Postgres(failure) => failure.error.code().map_or(Remedy::Reconnect, remedy),
            Self::Silent => Remedy::Reconnect,
            Self::Busy => Remedy::Unavailable,
            Self::Refused(_) | Self::Panicked => Remedy::Fail,
        }
    }

    /// What cannot be, in a sentence for the log.
    pub(crate) fn unexpected(what: impl Into<String>) -> Self {
        Self::Refused(Error::unexpected(what.into()))
    }

    pub(crate) fn state(&self) -> Option<&SqlState> {
        match self {
            Self::Postgres(failure) => failure.error.code(),
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

    /// Whether it was the connection that failed, not a statement: it is closed.
    pub(crate) fn is_of_the_connection(&self) -> bool {
        matches!(self.remedy(), Remedy::Reconnect | Remedy::RetryOnce)
    }

    /// Whether the same calls are tried once more, on a new connection.
    pub(crate) fn is_retried_once(&self) -> bool {
        self.remedy() == Remedy::RetryOnce
    }

    /// Whether the same calls are tried again until their deadline; nothing of them is stored.
    pub(crate) fn passes(&self) -> bool {
        matches!(self.remedy(), Remedy::Retry | Remedy::Reconnect)
    }

    /// Whether the server knows nothing of the tables.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.state() == Some(&SqlState::UNDEFINED_TABLE)
    }

    /// Whether something else has the same unique value by now; with several calls in a turn it may
    /// be one of them.
    pub(crate) fn is_conflict(&self) -> bool {
        self.state() == Some(&SqlState::UNIQUE_VIOLATION)
    }

    /// Whether one of the calls that share a turn may be the cause: the others do not fail with it.
    pub(crate) fn is_of_one_call(&self) -> bool {
        let is_final = matches!(self.remedy(), Remedy::Fail | Remedy::RetryOnce);
        self.is_conflict()
            || matches!(self, Self::Panicked)
            || is_final && matches!(self, Self::Postgres(_))
    }

    /// The same once more, for each of the calls that shared a turn.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Refused(error) => Self::unexpected(format!("{error:#}")),
            Self::Panicked => Self::Panicked,
            Self::Postgres(failure) if !self.is_unavailable() => {
                Self::unexpected(failure.to_string())
            }
            Self::Postgres(_) | Self::Busy | Self::Silent => Self::Busy,
        }
    }

    /// Whether a client may try again later.
    fn is_unavailable(&self) -> bool {
        // Something else wrote past the lock, again and again: it does not pass.
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
            StoreError::Refused(error) => error,
            StoreError::Busy | StoreError::Silent => Self::unavailable(SOON),
            StoreError::Panicked => Self::unexpected("the matching of people panicked"),
            StoreError::Postgres(failure) if is_unavailable => {
                Self::unavailable(SOON).caused_by(failure.to_string())
            }
            StoreError::Postgres(failure) => Self::unexpected(failure.to_string()),
        }
    }
}

/// What the server reports, for a log: its code and its sentence. The details are left out, they
/// may hold what people sent.
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
        Self::Postgres(Failure {
            error,
            statement: None,
            tenant: None,
        })
    }
}

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// PostgreSQL, or the way to it.
    #[error("{}", told(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// The server accepted a connection and did not answer in time.
    #[error("the server accepts connections and does not answer")]
    Silent,
    /// The URL of the database cannot be read.
    #[error(
        "the URL of the database cannot be read ({0}); it looks like postgres://user:password@host:5432/database"
    )]
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
    /// The options say [`cluster`](crate::PostgresOptions::cluster), and the database is not a
    /// cluster.
    #[error(
        "the database is not a Citus cluster; create the extension `citus` in it, or open it without the cluster option"
    )]
    NotACluster,
    /// The options say [`cluster`](crate::PostgresOptions::cluster), and these tables are not
    /// distributed.
    #[error(
        "tables of the schema `{schema}` are not distributed ({tables}); distribute them with the last statements of \
         `export schema --citus`, or open them without the cluster option"
    )]
    NotDistributed {
        /// The schema.
        schema: String,
        /// The names of the tables, with commas between them.
        tables: String,
    },
    /// The tables are distributed, and the options do not say
    /// [`cluster`](crate::PostgresOptions::cluster).
    #[error(
        "the tables of the schema `{0}` are distributed over a cluster; open them with the cluster option"
    )]
    Distributed(String),
    /// The schema holds tables of somebody else, or none.
    #[error("the schema `{0}` holds no tables of this program; nothing was removed")]
    NotOurs(String),
    /// The name of the schema cannot be one.
    #[error(
        "the schema `{0}` is no name: use 1 to 63 lower-case letters, digits and underscores, beginning with a letter"
    )]
    Schema(String),
    /// A later version of this library has changed the tables.
    #[error(
        "the schema is of version {found}, this program knows versions up to {known}; use a newer program"
    )]
    Newer {
        /// The version of the tables.
        found: u32,
        /// The highest version that this program knows.
        known: u32,
    },
    /// The record of changes does not fit what this program knows.
    #[error(
        "migration {0} was not made as this program knows it (its checksum differs); restore a backup"
    )]
    Damaged(u32),
}

impl From<ConnectError> for StoreError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Postgres(error) => error.into(),
            ConnectError::Silent => Self::Silent,
            other => Self::unexpected(other.to_string()),
        }
    }
}

impl From<StoreError> for ConnectError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Postgres(failure) => Self::Postgres(failure.error),
            StoreError::Silent => Self::Silent,
            other => Self::Other(format!("{:#}", Error::from(other))),
        }
    }
}

//! The database of a mapped store. All values and columns of its statements are text, so that every
//! database client can execute them.

use std::{error::Error as StdError, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use svc_core::error::{Error, ErrorCode, Problem};

use super::{dialect::SqlDialect, statement::Statement};

/// The time after which a client should retry after a temporary failure.
const SOON: Duration = Duration::from_secs(1);

/// A row of a result. Every column is text or NULL.
pub type TextRow = Vec<Option<String>>;

/// Error raised when a database does not execute a statement.
#[derive(Debug)]
#[non_exhaustive]
pub enum DatabaseError {
    /// A conflict with another transaction: a serialization failure or a deadlock. The request is
    /// repeated.
    Conflict(Box<dyn StdError + Send + Sync>),
    /// A conflict with another row, which has the same unique value or refers to the deleted row.
    ///
    /// The request is repeated, because the other row may be new or may be deleted in the meantime.
    /// If the conflict remains, the response is 400.
    ConstraintViolation(Box<dyn StdError + Send + Sync>),
    /// The tables do not accept a value because of a CHECK, a length or a range. The response is
    /// 400.
    InvalidValue(Box<dyn StdError + Send + Sync>),
    /// The database is not reachable or is overloaded. The response is 503, and the client can
    /// retry.
    ///
    /// Requirements: UND-36.
    Unavailable(Box<dyn StdError + Send + Sync>),
    /// Any other error. The response is 500, and the cause is logged.
    Other(Box<dyn StdError + Send + Sync>),
}

impl DatabaseError {
    /// Converts the error of a read. A read contains no values that the database could reject, so
    /// such an error is a fault of the server.
    pub(super) fn of_a_read(self) -> Self {
        match self {
            Self::ConstraintViolation(cause) | Self::InvalidValue(cause) => Self::Other(cause),
            other => other,
        }
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(cause) => write!(f, "conflict with another transaction: {cause}"),
            Self::ConstraintViolation(cause) => write!(f, "conflict with another row: {cause}"),
            Self::InvalidValue(cause) => write!(f, "the tables rejected a value: {cause}"),
            Self::Unavailable(cause) => write!(f, "the database is not available: {cause}"),
            Self::Other(cause) => cause.fmt(f),
        }
    }
}

impl From<DatabaseError> for Error {
    fn from(trouble: DatabaseError) -> Self {
        match trouble {
            DatabaseError::Conflict(cause) | DatabaseError::Unavailable(cause) => Self::unavailable(SOON).with_source(cause),
            DatabaseError::ConstraintViolation(cause) => {
                refused("Another record conflicts with the request: it refers to this record, or has the same unique value.")
                    .with_source(cause)
            }
            DatabaseError::InvalidValue(cause) => refused("The database of this server does not accept a value.").with_source(cause),
            DatabaseError::Other(cause) => Self::unexpected(cause),
        }
    }
}

fn refused(what: &'static str) -> Error {
    Error::invalid_all(vec![Problem::for_request(ErrorCode::FieldInvalid, what)])
}

/// The database of a mapped store: a connection pool and its SQL dialect.
///
/// See `svc_postgres::PostgresDatabase`, `svc_sqlite::SqliteDatabase` and `svc_mysql::MysqlDatabase`. An implementation for another client needs
/// about 60 lines.
#[async_trait]
pub trait Database: Send + Sync + 'static {
    /// Returns the SQL dialect of the database.
    fn dialect(&self) -> &'static dyn SqlDialect;

    /// Executes statements that only read, and returns the rows of each. Use one round trip if the
    /// client supports it.
    ///
    /// # Errors
    ///
    /// Returns the error of the first failed statement.
    async fn read(&self, statements: Vec<Statement>) -> Result<Vec<Vec<TextRow>>, DatabaseError>;

    /// Starts a transaction with these statements, and returns the rows of each. Use one round trip
    /// if the client supports it.
    ///
    /// The isolation level must be READ COMMITTED or stricter. A database with a lock for writers
    /// must take it.
    ///
    /// # Errors
    ///
    /// Returns the error of the first failed statement. The transaction is then rolled back.
    async fn begin(
        &self,
        statements: Vec<Statement>,
    ) -> Result<(Box<dyn Transaction>, Vec<Vec<TextRow>>), DatabaseError>;
}

/// A transaction. It is also rolled back if it is dropped, but the connection may then be lost.
#[async_trait]
pub trait Transaction: Send {
    /// Executes statements, and returns the rows of each.
    ///
    /// # Errors
    ///
    /// Returns the error of the first failed statement.
    async fn execute(
        &mut self,
        statements: Vec<Statement>,
    ) -> Result<Vec<Vec<TextRow>>, DatabaseError>;

    /// Executes statements and commits. Use one round trip if the client supports it.
    ///
    /// # Errors
    ///
    /// Returns the error of the first failed statement. The transaction is then rolled back, unless
    /// only the response to COMMIT was lost.
    async fn commit(
        self: Box<Self>,
        statements: Vec<Statement>,
    ) -> Result<Vec<Vec<TextRow>>, DatabaseError>;

    /// Rolls the transaction back and releases the connection.
    async fn rollback(self: Box<Self>);
}

#[async_trait]
impl<D: Database + ?Sized> Database for Arc<D> {
    fn dialect(&self) -> &'static dyn SqlDialect {
        (**self).dialect()
    }

    async fn read(&self, statements: Vec<Statement>) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        (**self).read(statements).await
    }

    async fn begin(
        &self,
        statements: Vec<Statement>,
    ) -> Result<(Box<dyn Transaction>, Vec<Vec<TextRow>>), DatabaseError> {
        (**self).begin(statements).await
    }
}

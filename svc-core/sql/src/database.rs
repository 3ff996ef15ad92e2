//! What a mapped store asks of a database: statements whose values and columns are all text, so
//! that any client fits.

use std::{error::Error as StdError, fmt, sync::Arc, time::Duration};

use async_trait::async_trait;
use svc_core::error::{Error, ErrorCode, Problem};

use super::{dialect::Dialect, statement::Statement};

/// How long a client waits after what passes by itself.
const SOON: Duration = Duration::from_secs(1);

/// A row of an answer: every column is text or NULL.
pub type TextRow = Vec<Option<String>>;

/// Why a database did not do what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum DatabaseError {
    /// Another transaction was faster: a serialization failure, a deadlock. The call is run again.
    Conflict(Box<dyn StdError + Send + Sync>),
    /// Another row is in the way: it has a value that there is once, or needs what is to go. The
    /// call is run again, for the row may be new, or be gone by then; after that the client is
    /// answered 400.
    Taken(Box<dyn StdError + Send + Sync>),
    /// A value that the tables do not take: a CHECK, a length, a range. The client is answered 400.
    Refused(Box<dyn StdError + Send + Sync>),
    /// It cannot be reached, or is too busy: the client is answered 503 and tries again.
    ///
    /// Requirements: UND-36.
    Away(Box<dyn StdError + Send + Sync>),
    /// Whatever else: the client is answered 500, the cause is for the log.
    Other(Box<dyn StdError + Send + Sync>),
}

impl DatabaseError {
    /// Nothing that a client sends is in the way of a read: what the database refuses there is the
    /// server's own matter.
    pub(super) fn of_a_read(self) -> Self {
        match self {
            Self::Taken(cause) | Self::Refused(cause) => Self::Other(cause),
            other => other,
        }
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict(cause) => write!(f, "another transaction was faster: {cause}"),
            Self::Taken(cause) => write!(f, "another row is in the way: {cause}"),
            Self::Refused(cause) => write!(f, "a value that the tables do not take: {cause}"),
            Self::Away(cause) => write!(f, "the database cannot be used now: {cause}"),
            Self::Other(cause) => cause.fmt(f),
        }
    }
}

impl From<DatabaseError> for Error {
    fn from(trouble: DatabaseError) -> Self {
        match trouble {
            DatabaseError::Conflict(cause) | DatabaseError::Away(cause) => Self::unavailable(SOON).caused_by(cause),
            DatabaseError::Taken(cause) => {
                refused("Another record is in the way: it needs this one, or has a value that only one may have.")
                    .caused_by(cause)
            }
            DatabaseError::Refused(cause) => refused("A value is not taken by the tables of this server.").caused_by(cause),
            DatabaseError::Other(cause) => Self::unexpected(cause),
        }
    }
}

fn refused(what: &'static str) -> Error {
    Error::refused(vec![Problem::general(ErrorCode::FieldInvalid, what)])
}

/// A database, seen by a mapped store: some pool of connections and how it is spoken to. See
/// `svc_postgres::Mapped` and `svc_sqlite::Mapped`; around another client it is some 60 lines.
#[async_trait]
pub trait Database: Send + Sync + 'static {
    /// The SQL of the database.
    fn dialect(&self) -> &'static dyn Dialect;

    /// Runs statements that only read, in one round trip where the client can, and gives the rows
    /// of each.
    ///
    /// # Errors
    ///
    /// The first that failed.
    async fn read(&self, statements: Vec<Statement>) -> Result<Vec<Vec<TextRow>>, DatabaseError>;

    /// Begins a transaction (READ COMMITTED or stricter, with the lock of writers where there is
    /// one) with these statements, in one round trip where the client can, and gives the rows of
    /// each.
    ///
    /// # Errors
    ///
    /// The first that failed; the transaction is undone then.
    async fn begin(
        &self,
        statements: Vec<Statement>,
    ) -> Result<(Box<dyn Transaction>, Vec<Vec<TextRow>>), DatabaseError>;
}

/// A transaction. Dropped in the middle of a call it is undone, too, though its connection may be
/// lost by that.
#[async_trait]
pub trait Transaction: Send {
    /// Runs statements, and gives the rows of each.
    ///
    /// # Errors
    ///
    /// The first that failed.
    async fn run(&mut self, statements: Vec<Statement>)
    -> Result<Vec<Vec<TextRow>>, DatabaseError>;

    /// Runs statements and commits, in one round trip where the client can.
    ///
    /// # Errors
    ///
    /// The first that failed; the transaction is undone then, unless the answer to COMMIT itself
    /// was lost.
    async fn commit(
        self: Box<Self>,
        statements: Vec<Statement>,
    ) -> Result<Vec<Vec<TextRow>>, DatabaseError>;

    /// Undoes everything; the connection serves others again.
    async fn roll_back(self: Box<Self>);
}

#[async_trait]
impl<D: Database + ?Sized> Database for Arc<D> {
    fn dialect(&self) -> &'static dyn Dialect {
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

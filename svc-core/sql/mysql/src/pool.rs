//! Connections that are used by one request after another.
//!
//! The pool of the client also returns connections on which a cancelled statement is still executed.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use mysql_async::{Conn, Opts, OptsBuilder, Params, Row, Value, prelude::Queryable};
use svc_sql::{DatabaseError, Statement, TextRow};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::{
    dialect::SESSION_STATEMENTS,
    error::{database_error, is_lost},
    options::MysqlOptions,
};

/// What a connection is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeasePurpose {
    Reads,
    Writes,
}

pub(crate) struct ConnectionPool {
    opts: Opts,
    patience: Duration,
    all: Arc<Semaphore>,
    /// Write requests use at most these.
    writes: Arc<Semaphore>,
    idle: Mutex<Vec<Conn>>,
}

impl ConnectionPool {
    pub(crate) fn new(options: &MysqlOptions) -> Arc<Self> {
        let most = options.connections;
        let reserved = most.div_ceil(4);
        let seconds = options.patience.as_secs().max(1);
        let waits = format!(
            "SET SESSION innodb_lock_wait_timeout = {seconds}, lock_wait_timeout = {seconds}"
        );
        let session = SESSION_STATEMENTS.map(str::to_owned).into_iter();
        let session = session.chain([waits]).collect::<Vec<String>>();
        Arc::new(Self {
            opts: OptsBuilder::from_opts(options.opts.clone())
                .init(session)
                .into(),
            patience: options.patience,
            all: Arc::new(Semaphore::new(most)),
            writes: Arc::new(Semaphore::new(most.saturating_sub(reserved).max(1))),
            idle: Mutex::default(),
        })
    }

    /// Waits for a connection.
    pub(crate) async fn get(
        self: &Arc<Self>,
        purpose: LeasePurpose,
    ) -> Result<Lease, DatabaseError> {
        let permits = async {
            let mut permits = Vec::with_capacity(2);
            if purpose == LeasePurpose::Writes {
                permits.push(Arc::clone(&self.writes).acquire_owned().await);
            }
            permits.push(Arc::clone(&self.all).acquire_owned().await);
            permits.into_iter().collect::<Result<Vec<_>, _>>()
        };
        let permits = timeout(self.patience, permits).await;
        let permits = permits.map_err(|_| unavailable("all connections are in use"))?;
        let permits = permits.map_err(|_| unavailable("the pool is closed"))?;
        let known = self.idle().pop();
        let (conn, was_idle) = match known {
            Some(conn) => (conn, true),
            None => (self.connect().await?, false),
        };
        Ok(Lease {
            conn: Some(conn),
            pool: Arc::clone(self),
            was_idle,
            is_clean: true,
            _permits: permits,
        })
    }

    async fn connect(&self) -> Result<Conn, DatabaseError> {
        let connected = timeout(self.patience, Conn::new(self.opts.clone())).await;
        let connected = connected.map_err(|_| unavailable("the database does not answer"))?;
        connected.map_err(|error| database_error(&error))
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Conn>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection. It returns to the pool if no statement and no transaction is open. Otherwise it is
/// closed, and the server rolls back.
pub(crate) struct Lease {
    conn: Option<Conn>,
    pool: Arc<ConnectionPool>,
    /// Whether the server may have closed the connection.
    was_idle: bool,
    is_clean: bool,
    _permits: Vec<OwnedSemaphorePermit>,
}

impl Lease {
    /// Executes reads, or starts a transaction with `start`. If the server has closed the connection in
    /// the meantime, another one is used.
    pub(crate) async fn begin(
        &mut self,
        start: Option<&'static str>,
        statements: &[Statement],
    ) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        let mut given = self.run([start, None], statements).await;
        if self.was_idle && given.as_ref().is_err_and(is_lost) {
            // The other connections are probably closed also.
            self.pool.idle().clear();
            self.conn = Some(self.pool.connect().await?);
            self.was_idle = false;
            given = self.run([start, None], statements).await;
        }
        self.is_clean = given.is_ok() && start.is_none();
        self.settle(given).await
    }

    /// Executes statements in a transaction.
    pub(crate) async fn execute(
        &mut self,
        statements: &[Statement],
    ) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        let given = self.run([None, None], statements).await;
        given.map_err(|error| database_error(&error))
    }

    /// Executes statements and commits.
    pub(crate) async fn commit(
        &mut self,
        statements: &[Statement],
    ) -> Result<Vec<Vec<TextRow>>, DatabaseError> {
        let given = self.run([None, Some("COMMIT")], statements).await;
        self.is_clean = given.is_ok();
        self.settle(given).await
    }

    /// Rolls the transaction back. If that fails, the connection is closed, and the server rolls back.
    pub(crate) async fn rollback(&mut self) {
        self.is_clean = self.run([Some("ROLLBACK"), None], &[]).await.is_ok();
    }

    /// Rolls back after an error of the server.
    async fn settle<T>(
        &mut self,
        given: Result<T, mysql_async::Error>,
    ) -> Result<T, DatabaseError> {
        if let Err(error) = &given
            && !is_lost(error)
        {
            self.rollback().await;
        }
        given.map_err(|error| database_error(&error))
    }

    /// Executes the first control statement, the statements, and the last control statement.
    async fn run(
        &mut self,
        [start, end]: [Option<&'static str>; 2],
        statements: &[Statement],
    ) -> Result<Vec<Vec<TextRow>>, mysql_async::Error> {
        // If this future is dropped, the statement is still executed.
        self.is_clean = false;
        let closed = mysql_async::DriverError::ConnectionClosed;
        let conn = self.conn.as_mut().ok_or(closed)?;
        if let Some(start) = start {
            conn.query_drop(start).await?;
        }
        let given = run(conn, statements).await?;
        if let Some(end) = end {
            conn.query_drop(end).await?;
        }
        Ok(given)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(conn) = self.conn.take()
            && self.is_clean
        {
            self.pool.idle().push(conn);
        }
    }
}

fn unavailable(what: &'static str) -> DatabaseError {
    DatabaseError::Unavailable(what.into())
}

/// Executes statements, and returns the rows of each.
async fn run(
    conn: &mut Conn,
    statements: &[Statement],
) -> Result<Vec<Vec<TextRow>>, mysql_async::Error> {
    let mut given = Vec::with_capacity(statements.len());
    for statement in statements {
        let values = statement.values.iter().cloned().map(Value::from);
        let params = match values.collect::<Vec<_>>() {
            none if none.is_empty() => Params::Empty,
            some => Params::Positional(some),
        };
        let rows: Vec<Row> = conn.exec(&*statement.text, params).await?;
        given.push(rows.into_iter().map(texts).collect());
    }
    Ok(given)
}

/// Returns the columns of a row as text.
fn texts(row: Row) -> TextRow {
    let text = |value| match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }),
        Value::Int(number) => Some(number.to_string()),
        Value::UInt(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Double(number) => Some(number.to_string()),
        // The dialect converts dates to text.
        date @ (Value::Date(..) | Value::Time(..)) => {
            Some(date.as_sql(true).trim_matches('\'').to_owned())
        }
    };
    let values = row.unwrap_raw().into_iter();
    values.map(|value| value.and_then(text)).collect()
}

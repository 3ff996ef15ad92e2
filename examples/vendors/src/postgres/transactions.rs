//! The vendor's pool, the transactions of operations, and the mapping of database errors.

use std::{error::Error as StdError, io, sync::Arc, time::Duration};

use async_trait::async_trait;
use deadpool_postgres::{Manager, Object, Pool, PoolError, Runtime};
use svc_core::{
    Context, Error, ErrorCode, LockKey, Problem, Result, Transactions, backend::SavepointAction,
};
use tokio_postgres::{Config, NoTls, Row, error::SqlState, types::ToSql};

/// A parameter of a statement.
pub(super) type Param<'a> = &'a (dyn ToSql + Sync);

/// The vendor's database.
#[derive(Debug)]
pub struct PostgresCrm {
    pool: Pool,
}

impl PostgresCrm {
    /// Opens the database at a URL with a maximum number of connections. Connections are opened
    /// when they are needed.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL is invalid.
    pub fn at(url: &str, connections: usize) -> Result<Self> {
        let mut config: Config = url.parse()?;
        // The lock timeout is shorter than the timeout of a request.
        config
            .options("-c TimeZone=UTC -c statement_timeout=4000")
            .connect_timeout(Duration::from_millis(500));
        let pool = Pool::builder(Manager::new(config, NoTls)).max_size(connections);
        let pool = pool
            .wait_timeout(Some(Duration::from_secs(2)))
            .runtime(Runtime::Tokio1);
        Ok(Self {
            pool: pool.build()?,
        })
    }

    /// Returns the transaction of an operation: that of the request, or a connection for reading.
    pub(super) async fn tx(&self, cx: &Context) -> Result<Arc<Tx>> {
        match <Self as Transactions>::current(cx) {
            Some(tx) => Ok(tx),
            None => Ok(Arc::new(self.connect().await?)),
        }
    }

    pub(super) async fn connect(&self) -> Result<Tx> {
        Ok(Tx {
            connection: Some(self.pool.get().await?),
            is_open: false,
        })
    }
}

/// A connection, and whether it has an open transaction.
#[derive(Debug)]
pub struct Tx {
    connection: Option<Object>,
    is_open: bool,
}

impl Tx {
    fn connection(&self) -> Result<&Object> {
        self.connection
            .as_ref()
            .ok_or_else(|| Error::unexpected("the connection was already returned to the pool"))
    }

    /// Returns all rows of a query.
    pub(super) async fn query(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>> {
        let connection = self.connection()?;
        Ok(connection
            .query(&connection.prepare_cached(sql).await?, params)
            .await?)
    }
}

impl Drop for Tx {
    /// Closing the connection ends a transaction that is still open.
    fn drop(&mut self) {
        if self.is_open {
            drop(self.connection.take().map(Object::take));
        }
    }
}

#[async_trait]
impl Transactions for PostgresCrm {
    type Open = Tx;

    async fn begin(&self, _: &Context) -> Result<Tx> {
        let mut tx = self.connect().await?;
        tx.is_open = true;
        tx.connection()?.batch_execute("BEGIN").await?;
        Ok(tx)
    }

    async fn lock(&self, tx: &Tx, keys: &[LockKey]) -> Result<()> {
        let numbers: Vec<i64> = keys.iter().map(LockKey::advisory_lock_id).collect();
        tx.query(
            "SELECT pg_advisory_xact_lock(k) FROM unnest($1::bigint[]) AS k",
            &[&numbers],
        )
        .await
        .map(drop)
    }

    async fn savepoint(&self, tx: &Tx, savepoint: SavepointAction) -> Result<()> {
        Ok(tx.connection()?.batch_execute(savepoint.sql()).await?)
    }

    async fn commit(&self, mut tx: Tx) -> Result<()> {
        tx.connection()?.batch_execute("COMMIT").await?;
        tx.is_open = false;
        Ok(())
    }

    async fn rollback(&self, mut tx: Tx) -> Result<()> {
        tx.connection()?.batch_execute("ROLLBACK").await?;
        tx.is_open = false;
        Ok(())
    }
}

/// Returns the API error for a database error, or `None` if it is unexpected.
pub(super) fn meaning(error: &(dyn StdError + 'static)) -> Option<Error> {
    let away = || Error::unavailable(Duration::from_secs(1));
    let error = match error.downcast_ref::<PoolError>() {
        Some(PoolError::Backend(error)) => error,
        Some(_) => return Some(away()),
        None => error.downcast_ref::<tokio_postgres::Error>()?,
    };
    match error.code().map_or("", SqlState::code) {
        "" => (error.is_closed() || error.source().is_some_and(<dyn StdError>::is::<io::Error>))
            .then(away),
        "40001" | "40P01" => Some(Error::rolled_back()),
        "23505" => Some(Error::invalid(Problem::new(
            ErrorCode::NameInUse,
            "name",
            ErrorCode::NameInUse.meaning(),
        ))),
        // A timeout, or the server is out of resources, starting or stopping.
        code => matches!(code.get(..2), Some("57" | "53" | "08")).then(away),
    }
}

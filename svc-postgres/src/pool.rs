//! Connections: opened when they are needed, reused while nothing is open on them, and limited in
//! number.

use std::{
    collections::HashMap,
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use futures_util::future::{Fuse, FusedFuture as _, FutureExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::{Client, Row, Statement, types::ToSql};

use crate::{
    connect::{ConnectionIo, Connector},
    error::{Result, StoreError},
    options::StatementMode,
    pipeline::{SqlQuery, SqlValue, in_order},
    statements::Texts,
};

/// Maximum number of prepared statements of a connection.
const MOST_PREPARED: usize = 1024;

/// The connections of a store to one server.
pub(crate) struct ConnectionPool {
    connector: Connector,
    idle: Mutex<Vec<PooledConnection>>,
    places: Arc<Semaphore>,
    /// Writes leave some connections to reads, however long they wait for each other.
    writers: Arc<Semaphore>,
    size: usize,
    /// Each waiting caller has a clone.
    waiting: Arc<()>,
    patience: Duration,
    statements: StatementMode,
    /// The statements that errors name.
    texts: Option<Arc<Texts>>,
}

/// A connection. Its user polls its I/O: a task of its own would have to be woken for each request
/// and each response.
struct PooledConnection {
    session: ClientSession,
    wire: Fuse<ConnectionIo>,
}

/// The client of a connection, with the statements that it has prepared.
struct ClientSession {
    client: Client,
    prepared: HashMap<String, Statement>,
}

/// A connection in use. It returns to the pool when it is dropped. If something may be open on it,
/// it is closed instead, and the server rolls that back.
pub(crate) struct Lease {
    pool: Arc<ConnectionPool>,
    connection: Option<PooledConnection>,
    is_clean: bool,
    _places: (OwnedSemaphorePermit, Option<OwnedSemaphorePermit>),
}

/// Whether a connection is leased for writes or for reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeasePurpose {
    Reads,
    Writes,
}

impl ConnectionPool {
    pub(crate) fn new(
        connector: Connector,
        size: usize,
        patience: Duration,
        statements: StatementMode,
    ) -> Self {
        let writers = size
            .saturating_mul(3)
            .div_ceil(4)
            .clamp(1, size.saturating_sub(1).max(1));
        Self {
            connector,
            idle: Mutex::default(),
            places: Arc::new(Semaphore::new(size)),
            writers: Arc::new(Semaphore::new(writers)),
            size,
            waiting: Arc::default(),
            patience,
            statements,
            texts: None,
        }
    }

    /// Sets the texts from which errors take the name of their statement.
    pub(crate) fn naming(self, texts: Arc<Texts>) -> Self {
        Self {
            texts: Some(texts),
            ..self
        }
    }

    /// Returns a connection when one is free, or [`StoreError::Busy`] if that takes too long.
    pub(crate) async fn get(self: &Arc<Self>, purpose: LeasePurpose) -> Result<Lease> {
        let _waits = Arc::clone(&self.waiting);
        tokio::time::timeout(self.patience, self.wait(purpose))
            .await
            .unwrap_or(Err(StoreError::Busy))
    }

    async fn wait(self: &Arc<Self>, purpose: LeasePurpose) -> Result<Lease> {
        let place = |of: &Arc<Semaphore>| Arc::clone(of).acquire_owned();
        let writer = match purpose {
            LeasePurpose::Writes => Some(place(&self.writers).await.map_err(|_| StoreError::Busy)?),
            LeasePurpose::Reads => None,
        };
        let place = place(&self.places).await.map_err(|_| StoreError::Busy)?;
        let idle = || self.lock_idle().pop();
        let open = std::iter::from_fn(idle).find_map(PooledConnection::if_open);
        let connection = if let Some(connection) = open {
            connection
        } else {
            let (client, wire) = self.connector.open().await?;
            PooledConnection::new(client, wire)
        };
        Ok(Lease {
            pool: Arc::clone(self),
            connection: Some(connection),
            is_clean: true,
            _places: (place, writer),
        })
    }

    fn lock_idle(&self) -> MutexGuard<'_, Vec<PooledConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the numbers of connections in use, of idle ones, and of waiting callers.
    pub(crate) fn load(&self) -> (usize, usize, usize) {
        let idle = self.lock_idle().len();
        let busy = self.size.saturating_sub(self.places.available_permits());
        (
            busy,
            idle,
            Arc::strong_count(&self.waiting).saturating_sub(1),
        )
    }
}

impl Lease {
    /// Marks the connection: something may be open on it until [`Lease::mark_clean`].
    pub(crate) fn begins(&mut self) {
        self.is_clean = false;
    }

    /// Marks the connection: nothing is open on it any longer.
    pub(crate) fn mark_clean(&mut self) {
        self.is_clean = true;
    }

    /// Runs statements in one round trip. Returns the results of those with values, and the first
    /// error with its position.
    ///
    /// All statements are sent before it first waits. Statements that this connection has not
    /// prepared yet take another round trip before.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::TimedOut`] if the server does not answer `within` this time.
    pub(crate) async fn run(
        &mut self,
        queries: &[SqlQuery<'_>],
        within: Duration,
    ) -> Result<Vec<Vec<Row>>, (usize, StoreError)> {
        // A cancelled caller leaves results unread. The connection is then not reused.
        let was_clean = std::mem::replace(&mut self.is_clean, false);
        let Ok(done) = tokio::time::timeout(within, self.run_all(queries)).await else {
            // The network may have failed silently, which would affect the other connections as
            // well.
            self.pool.lock_idle().clear();
            return Err((usize::MAX, StoreError::TimedOut));
        };
        let is_closed = self
            .connection
            .as_ref()
            .is_none_or(PooledConnection::is_closed);
        let is_at_fault =
            matches!(&done, Err((_, error)) if is_closed || error.is_of_the_connection());
        if matches!(&done, Err((_, error)) if error.is_retried_once()) {
            // The others may have prepared the same statements.
            self.pool.lock_idle().clear();
        }
        self.is_clean = was_clean && !is_at_fault;
        done
    }

    async fn run_all(
        &mut self,
        queries: &[SqlQuery<'_>],
    ) -> Result<Vec<Vec<Row>>, (usize, StoreError)> {
        let by_name = self.pool.statements == StatementMode::Prepared;
        let gone = || {
            (
                0,
                StoreError::unexpected("the connection was already returned"),
            )
        };
        let connection = self.connection.as_mut().ok_or_else(gone)?;
        let all = connection
            .run(queries, by_name)
            .await
            .map_err(|error| (0, error))?;
        let mut given = Vec::with_capacity(queries.len());
        for (place, (query, one)) in queries.iter().zip(all).enumerate() {
            let named = |error: StoreError| {
                error.of_statement(
                    self.pool
                        .texts
                        .as_ref()
                        .and_then(|texts| texts.name_of(&query.text)),
                )
            };
            let rows = one.map_err(|error| (place, named(error)))?;
            if query.values.is_some() {
                given.push(rows);
            }
        }
        Ok(given)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take()
            && self.is_clean
            && !connection.is_closed()
        {
            self.pool.lock_idle().push(connection);
        }
    }
}

impl PooledConnection {
    fn new(client: Client, wire: ConnectionIo) -> Self {
        Self {
            session: ClientSession {
                client,
                prepared: HashMap::new(),
            },
            wire: wire.fuse(),
        }
    }

    /// Returns the connection, unless the server has ended it since its last use.
    fn if_open(mut self) -> Option<Self> {
        // An event that wakes no task now is polled again when the connection is used.
        _ = self
            .wire
            .poll_unpin(&mut Context::from_waker(Waker::noop()));
        (!self.is_closed()).then_some(self)
    }

    fn is_closed(&self) -> bool {
        self.wire.is_terminated()
    }

    /// Returns the results of each statement.
    async fn run(
        &mut self,
        queries: &[SqlQuery<'_>],
        by_name: bool,
    ) -> Result<Vec<Result<Vec<Row>>>> {
        let Self { session, wire } = self;
        let mut work = pin!(async {
            if by_name {
                session.prepare(queries).await?;
            }
            let session = &*session;
            Ok(in_order(queries.iter().map(|query| session.one(query, by_name))).await)
        });
        poll_fn(|cx| {
            // Sends statements.
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            // Performs the I/O.
            _ = wire.poll_unpin(cx);
            // Reads results.
            work.as_mut().poll(cx)
        })
        .await
    }
}

impl ClientSession {
    /// Prepares the statements that are new to this connection, all in one round trip.
    async fn prepare(&mut self, queries: &[SqlQuery<'_>]) -> Result<()> {
        // A mapping has many statements. The server forgets a statement that is dropped.
        if self.prepared.len() > MOST_PREPARED {
            self.prepared.clear();
        }
        let mut missing: Vec<(&str, &[SqlValue])> = Vec::new();
        for query in queries {
            if let Some(values) = &query.values
                && !self.prepared.contains_key(&*query.text)
                && !missing.iter().any(|(text, _)| *text == query.text)
            {
                missing.push((&query.text, values));
            }
        }
        let client = &self.client;
        let prepared = in_order(missing.into_iter().map(async |(text, values)| {
            let types: Vec<_> = values.iter().map(|value| value.type_.clone()).collect();
            Ok::<_, StoreError>((text.to_owned(), client.prepare_typed(text, &types).await?))
        }))
        .await;
        for one in prepared {
            let (text, statement) = one?;
            self.prepared.insert(text, statement);
        }
        Ok(())
    }

    async fn one(&self, query: &SqlQuery<'_>, by_name: bool) -> Result<Vec<Row>> {
        let Some(values) = &query.values else {
            self.client.batch_execute(&query.text).await?;
            return Ok(Vec::new());
        };
        if by_name {
            let statement = self.prepared.get(&*query.text);
            let statement =
                statement.ok_or_else(|| StoreError::unexpected("a statement was not prepared"))?;
            let values: Vec<&(dyn ToSql + Sync)> = values
                .iter()
                .map(|it| &*it.value as &(dyn ToSql + Sync))
                .collect();
            return Ok(self.client.query(statement, &values).await?);
        }
        let values: Vec<_> = values
            .iter()
            .map(|it| (&*it.value as &(dyn ToSql + Sync), it.type_.clone()))
            .collect();
        Ok(self.client.query_typed(&query.text, &values).await?)
    }
}

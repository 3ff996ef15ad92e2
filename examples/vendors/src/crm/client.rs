//! An asynchronous database client in the style of `tokio-postgres`, with a pool, transactions, and
//! rows by column name. It represents the client that a vendor has. It uses SQLite, with a thread
//! for each connection.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use rusqlite::types::{FromSql, ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Error, Result, ffi, params_from_iter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// A parameter of a statement.
pub type SqlParam<'a> = &'a (dyn ToSql + Sync);

/// Work for the thread of a connection.
type Job = Box<dyn FnOnce(&Connection) + Send>;

/// A pool of connections to one file.
#[derive(Debug)]
pub struct Pool {
    idle: Arc<Mutex<Vec<mpsc::Sender<Job>>>>,
    permits: Arc<Semaphore>,
}

impl Pool {
    /// Opens the file, and runs the statements of `schema` on each connection. A new file is
    /// readable by its owner only.
    ///
    /// # Errors
    ///
    /// Returns an error if SQLite cannot open the file.
    pub fn open(file: &str, schema: &str) -> Result<Self> {
        // Another connection to `:memory:` would have another database.
        let size = if file == ":memory:" { 1 } else { 4 };
        if size > 1 {
            make_private(file);
        }
        let idle = (0..size)
            .map(|_| connect(file, schema))
            .collect::<Result<_>>()?;
        Ok(Self {
            idle: Arc::new(Mutex::new(idle)),
            permits: Arc::new(Semaphore::new(size)),
        })
    }

    /// Starts a transaction that can write. It has the write lock from the start, so that the data
    /// it reads does not change before it ends.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails or the lock times out.
    pub async fn begin(&self) -> Result<Transaction> {
        Transaction::open(self.acquire().await?, "BEGIN IMMEDIATE").await
    }

    /// Starts a read-only transaction on a snapshot. It does not wait for writers.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn snapshot(&self) -> Result<Transaction> {
        Transaction::open(self.acquire().await?, "BEGIN").await
    }

    async fn acquire(&self) -> Result<PoolGuard> {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|_| gone())?;
        let jobs = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        Ok(PoolGuard {
            jobs: jobs.ok_or_else(gone)?,
            idle: Arc::clone(&self.idle),
            _permit: permit,
        })
    }
}

/// A transaction. Dropping it rolls it back.
#[derive(Debug)]
pub struct Transaction {
    connection: PoolGuard,
    is_over: bool,
}

impl Transaction {
    async fn open(connection: PoolGuard, begin: &'static str) -> Result<Self> {
        let transaction = Self {
            connection,
            is_over: false,
        };
        transaction.batch_execute(begin).await?;
        Ok(transaction)
    }

    /// Commits the transaction. The changes are durable afterwards.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails. The transaction is then rolled back.
    pub async fn commit(mut self) -> Result<()> {
        self.batch_execute("COMMIT").await?;
        self.is_over = true;
        Ok(())
    }

    /// Executes statements without parameters.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn batch_execute(&self, sql: &'static str) -> Result<()> {
        self.connection
            .run(move |connection| connection.execute_batch(sql))
            .await
    }

    /// Returns all rows of a query.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn query(&self, sql: &str, params: &[SqlParam<'_>]) -> Result<Vec<Row>> {
        let (sql, params) = (sql.to_owned(), owned(params)?);
        let query = move |connection: &Connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let columns: Arc<[String]> = statement.column_names().map(str::to_owned).collect();
            let values = |row: &rusqlite::Row<'_>| {
                (0..columns.len())
                    .map(|place| row.get::<_, Value>(place))
                    .collect::<Result<_>>()
            };
            let row = |row: &rusqlite::Row<'_>| {
                Ok(Row {
                    columns: Arc::clone(&columns),
                    values: values(row)?,
                })
            };
            statement
                .query_map(params_from_iter(params), row)?
                .collect()
        };
        self.connection.run(query).await
    }

    /// Returns the first row of a query, if there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn query_opt(&self, sql: &str, params: &[SqlParam<'_>]) -> Result<Option<Row>> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }

    /// Returns the first row of a query that always has one.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn query_one(&self, sql: &str, params: &[SqlParam<'_>]) -> Result<Row> {
        self.query_opt(sql, params)
            .await?
            .ok_or(Error::QueryReturnedNoRows)
    }

    /// Executes a statement and returns the number of changed rows.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn execute(&self, sql: &str, params: &[SqlParam<'_>]) -> Result<usize> {
        let (sql, params) = (sql.to_owned(), owned(params)?);
        self.connection
            .run(move |connection| {
                connection
                    .prepare_cached(&sql)?
                    .execute(params_from_iter(params))
            })
            .await
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.is_over {
            // It fails if the transaction has not started or has ended. There is then nothing to
            // roll back.
            let _ = self.connection.send(Box::new(|connection| {
                drop(connection.execute_batch("ROLLBACK"));
            }));
        }
    }
}

/// A row of a result.
#[derive(Debug)]
pub struct Row {
    columns: Arc<[String]>,
    values: Vec<Value>,
}

impl Row {
    /// Returns the value of a column.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such column, or its value has another type.
    pub fn get<T: FromSql>(&self, column: &str) -> Result<T> {
        let place = self.columns.iter().position(|name| name == column);
        let value = place.and_then(|place| self.values.get(place));
        let value = value.ok_or_else(|| Error::InvalidColumnName(column.to_owned()))?;
        T::column_result(ValueRef::from(value))
            .map_err(|error| Error::ToSqlConversionFailure(Box::new(error)))
    }
}

/// A connection of the pool. Dropping it returns it to the pool.
#[derive(Debug)]
struct PoolGuard {
    jobs: mpsc::Sender<Job>,
    idle: Arc<Mutex<Vec<mpsc::Sender<Job>>>>,
    /// Released after the connection, because the last field is dropped last.
    _permit: OwnedSemaphorePermit,
}

impl PoolGuard {
    fn send(&self, job: Job) -> Result<()> {
        self.jobs.send(job).map_err(|_| gone())
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        self.send(Box::new(move |connection| {
            drop(answer.send(work(connection)));
        }))?;
        answered.await.map_err(|_| gone())?
    }
}

impl Drop for PoolGuard {
    fn drop(&mut self) {
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(self.jobs.clone());
    }
}

/// Creates a file that only its owner can read, unless it exists. If it cannot be created, SQLite
/// reports the error.
fn make_private(file: &str) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(file);
}

/// Opens a connection on its own thread, which ends with the last sender.
fn connect(file: &str, schema: &str) -> Result<mpsc::Sender<Job>> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(Duration::from_secs(30))?;
    connection.execute_batch(schema)?;
    let (jobs, waiting) = mpsc::channel::<Job>();
    std::thread::spawn(move || waiting.iter().for_each(|job| job(&connection)));
    Ok(jobs)
}

fn owned(params: &[SqlParam<'_>]) -> Result<Vec<Value>> {
    let value = |param: &SqlParam<'_>| match param.to_sql()? {
        ToSqlOutput::Owned(value) => Ok(value),
        ToSqlOutput::Borrowed(value) => Ok(value.try_into()?),
        _ => Err(gone()),
    };
    params.iter().map(value).collect()
}

fn gone() -> Error {
    Error::SqliteFailure(
        ffi::Error::new(ffi::SQLITE_MISUSE),
        Some("the connection is closed".to_owned()),
    )
}

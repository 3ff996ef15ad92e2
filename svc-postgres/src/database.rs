//! A database: its servers, the texts of its statements, and reads in one round trip. Reads use a
//! replica if it is recent enough for the caller.

use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use svc_core::backend::Notifier;
use svc_store::{
    commits::CommitCounters, duplicates::DuplicateIndex, write_watermarks::WriteWatermarks,
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    citus_workers::{CitusWorkers, FALLBACK_DURATION, WorkerAddress},
    cluster::Topology,
    connect::Connector,
    error::{Result, StoreError},
    options::PostgresOptions,
    pipeline::{SqlQuery, values},
    pool::{ConnectionPool, Lease, LeasePurpose},
    statements::Texts,
};

/// An open database.
pub(crate) struct DatabaseHandle {
    pub(crate) pool: Arc<ConnectionPool>,
    replica: Option<ReadReplica>,
    pub(crate) texts: Arc<Texts>,
    pub(crate) topology: Topology,
    /// The id of this process, which other processes of the database see.
    pub(crate) process: Uuid,
    pub(crate) options: PostgresOptions,
    /// The hashes of the keys of people. They are known when the store has read its secret.
    pub(crate) duplicates: OnceLock<DuplicateIndex>,
    pub(crate) commits: CommitCounters,
    /// Notifies after this process has committed a transaction of a tenant.
    pub(crate) bells: Notifier<i64>,
    /// Notifies about new outbox entries, of any tenant.
    pub(crate) outgoing: Notifier<()>,
    pub(crate) workers: Option<CitusWorkers>,
}

/// A replica for reads.
struct ReadReplica {
    pool: Arc<ConnectionPool>,
    /// The writes that the replica must have applied.
    written: WriteWatermarks,
    /// The time until which it is not used, because it could not be reached.
    away: Mutex<Option<Instant>>,
}

impl ReadReplica {
    /// Returns whether the replica is used.
    fn is_available(&self) -> bool {
        let away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        away.is_none_or(|until| until <= Instant::now())
    }

    /// Stops using the replica for a short time.
    fn suspend(&self, error: &StoreError) {
        tracing::warn!(
            ?error,
            "the replica cannot be reached; the primary answers for a few seconds"
        );
        *self.away.lock().unwrap_or_else(PoisonError::into_inner) =
            Instant::now().checked_add(FALLBACK_DURATION);
    }
}

/// A transaction that reads one state of the data of a tenant.
pub(crate) struct Snapshot {
    lent: Lease,
    /// The statements that begin it, before the first round trip.
    begin: Vec<SqlQuery<'static>>,
    within: Duration,
}

impl Snapshot {
    /// Returns the results of statements, in one round trip.
    pub(crate) async fn read(&mut self, queries: Vec<SqlQuery<'_>>) -> Result<Vec<Vec<Row>>> {
        let mut all: Vec<SqlQuery<'_>> = Vec::new();
        all.extend(std::mem::take(&mut self.begin));
        all.extend(queries);
        let given = self.lent.run(&all, self.within).await;
        given.map_err(|(_, error)| error)
    }

    /// Does the same, and ends the transaction.
    pub(crate) async fn read_last(
        mut self,
        mut queries: Vec<SqlQuery<'_>>,
    ) -> Result<Vec<Vec<Row>>> {
        queries.push(SqlQuery::control("COMMIT"));
        let given = self.read(queries).await?;
        self.lent.mark_clean();
        Ok(given)
    }
}

fn pool(connector: &Connector, options: &PostgresOptions, texts: &Arc<Texts>) -> ConnectionPool {
    let statements = Topology::of(options).statements(options.statements);
    ConnectionPool::new(
        connector.within(options.patience),
        options.connections,
        options.patience,
        statements,
    )
    .naming(Arc::clone(texts))
}

impl DatabaseHandle {
    /// Creates a database with these options, without connecting.
    pub(crate) fn new(options: PostgresOptions) -> Self {
        let (topology, texts) = (Topology::of(&options), Arc::new(Texts::of(&options.schema)));
        let pool = |connector: &Connector| Arc::new(pool(connector, &options, &texts));
        let replica = options.replica.as_ref().map(|replica| ReadReplica {
            pool: pool(replica),
            written: WriteWatermarks::default(),
            away: Mutex::default(),
        });
        Self {
            pool: pool(&options.primary),
            replica,
            workers: topology.workers(),
            topology,
            process: Uuid::new_v4(),
            texts,
            commits: CommitCounters::default(),
            bells: Notifier::default(),
            outgoing: Notifier::default(),
            duplicates: OnceLock::new(),
            options,
        }
    }

    /// Returns whether a replica is configured.
    pub(crate) fn has_replica(&self) -> bool {
        self.replica.is_some()
    }

    /// Returns `BEGIN` with the settings for a transaction of a tenant, or of the directories.
    pub(crate) fn begin(&self, tenant: Option<i64>) -> Vec<SqlQuery<'static>> {
        let fence = self.options.row_level_security.then(|| match tenant {
            Some(tenant) => tenant.to_string(),
            None => "directory".to_owned(),
        });
        self.topology.begin(self.options.patience, fence.as_deref())
    }

    /// Records the number of a tenant's ledger after a commit of this process, and notifies
    /// subscribers.
    pub(crate) fn committed(&self, tenant: i64, seq: i64) {
        self.wrote(tenant, seq);
        self.bells.notify(&tenant);
    }

    /// Records the minimum number of a tenant's ledger.
    pub(crate) fn wrote(&self, tenant: i64, seq: i64) {
        if let Some(replica) = &self.replica {
            replica.written.advance(tenant, seq);
        }
    }

    /// Returns the results of statements about a tenant, in one round trip.
    pub(crate) async fn read(
        &self,
        tenant: i64,
        mut queries: Vec<SqlQuery<'_>>,
    ) -> Result<Vec<Vec<Row>>> {
        let Some(replica) = self
            .replica
            .as_ref()
            .filter(|replica| replica.is_available())
        else {
            return self.read_first(tenant, queries).await;
        };
        // Read first: the other statements see at least this state.
        queries.insert(0, SqlQuery::new(&self.texts.seq, values![tenant]));
        let queries = self.fenced(Some(tenant), queries);
        match self.run(&replica.pool, &queries).await {
            Ok(mut given) => {
                let seq = given
                    .first()
                    .and_then(|rows| rows.first())
                    .map(|row| row.try_get(0))
                    .transpose()?;
                if replica.written.is_caught_up(tenant, seq) {
                    given.remove(0);
                    return Ok(given);
                }
            }
            Err(error) if error.is_of_the_connection() || error.is_busy() => {
                replica.suspend(&error);
            }
            // If the primary also fails, it reports its own error.
            Err(_) => {}
        }
        let mut given = self.at_home(tenant, &queries).await?;
        given.remove(0);
        Ok(given)
    }

    /// Does the same, but never uses a replica.
    pub(crate) async fn read_first(
        &self,
        tenant: i64,
        queries: Vec<SqlQuery<'_>>,
    ) -> Result<Vec<Vec<Row>>> {
        self.at_home(tenant, &self.fenced(Some(tenant), queries))
            .await
    }

    /// Returns the results of statements about a tenant that run in one transaction of the primary,
    /// in one round trip.
    pub(crate) async fn transaction_of(
        &self,
        tenant: i64,
        queries: Vec<SqlQuery<'_>>,
    ) -> Result<Vec<Vec<Row>>> {
        self.at_home(tenant, &self.in_transaction(Some(tenant), queries))
            .await
    }

    /// Returns the result of one statement on the primary. Without a tenant, the statement is about
    /// the directories. It may only make changes that other callers do not wait for.
    pub(crate) async fn query_one(
        &self,
        tenant: Option<i64>,
        query: SqlQuery<'_>,
    ) -> Result<Vec<Row>> {
        let queries = self.fenced(tenant, vec![query]);
        let given = self.run(&self.pool, &queries).await;
        Ok(given
            .map_err(|error| error.of_tenant(tenant))?
            .pop()
            .unwrap_or_default())
    }

    /// Returns the result of a function that reads several statements about a tenant from one snapshot
    /// of the primary. A connection that has ended since its last use is replaced once.
    pub(crate) async fn in_snapshot<T, F>(
        &self,
        tenant: i64,
        read: impl Fn(Snapshot) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let mut home = self.home(tenant).await;
        let mut error = StoreError::Busy;
        for _ in 0..2 {
            let given = match self.snapshot(&home, tenant).await {
                Ok(snapshot) => read(snapshot).await,
                Err(failed) => Err(failed),
            };
            match given {
                Err(failed) if self.skip_replica(tenant, &home, &failed) => {
                    home = Arc::clone(&self.pool);
                    error = failed;
                }
                Err(failed) if failed.is_of_the_connection() && !failed.is_silent() => {
                    error = failed;
                }
                given => return given.map_err(|error| error.of_tenant(Some(tenant))),
            }
        }
        Err(error.of_tenant(Some(tenant)))
    }

    async fn snapshot(&self, pool: &Arc<ConnectionPool>, tenant: i64) -> Result<Snapshot> {
        let mut begin = self.begin(Some(tenant));
        begin.push(SqlQuery::control(
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
        ));
        let mut lent = pool.get(LeasePurpose::Reads).await?;
        lent.begins();
        Ok(Snapshot {
            lent,
            begin,
            within: self.options.patience.saturating_mul(2),
        })
    }

    /// Returns the statements with `BEGIN` before and `COMMIT` after them.
    fn in_transaction<'a>(
        &self,
        tenant: Option<i64>,
        queries: Vec<SqlQuery<'a>>,
    ) -> Vec<SqlQuery<'a>> {
        self.begin(tenant)
            .into_iter()
            .chain(queries)
            .chain([SqlQuery::control("COMMIT")])
            .collect()
    }

    /// Wraps statements in a transaction, from which row-level security gets the tenant.
    fn fenced<'a>(&self, tenant: Option<i64>, queries: Vec<SqlQuery<'a>>) -> Vec<SqlQuery<'a>> {
        if self.options.row_level_security {
            self.in_transaction(tenant, queries)
        } else {
            queries
        }
    }

    /// Returns the pool for the statements of a tenant: its worker, if there are workers and it is
    /// known. Otherwise the coordinator or the only server.
    pub(crate) async fn home(&self, tenant: i64) -> Arc<ConnectionPool> {
        let Some(workers) = &self.workers else {
            return Arc::clone(&self.pool);
        };
        if let Some(pool) = workers.get(tenant) {
            return pool;
        }
        match self.node_of(tenant).await {
            Ok(node) => {
                let make = |(host, port): &WorkerAddress| {
                    pool(
                        &self.options.primary.to(host, *port),
                        &self.options,
                        &self.texts,
                    )
                };
                workers.resolve(tenant, node, make)
            }
            Err(error) => {
                tracing::warn!(?error, "the worker of a tenant cannot be determined");
                workers.fall_back(tenant, &self.pool);
                Arc::clone(&self.pool)
            }
        }
    }

    async fn node_of(&self, tenant: i64) -> Result<WorkerAddress> {
        let rows = self
            .query_one(None, SqlQuery::new(&*self.texts.worker, values![tenant]))
            .await?;
        let row = rows
            .first()
            .ok_or_else(|| StoreError::unexpected("the tenant has no worker"))?;
        let port = u16::try_from(row.try_get::<_, i32>(1)?).unwrap_or_default();
        Ok((row.try_get(0)?, port))
    }

    /// Returns whether to retry on the coordinator, because this pool of the tenant's worker cannot
    /// be reached.
    pub(crate) fn skip_replica(
        &self,
        tenant: i64,
        from: &Arc<ConnectionPool>,
        error: &StoreError,
    ) -> bool {
        let is_away = !Arc::ptr_eq(from, &self.pool)
            && (error.is_of_the_connection() || error.is_busy() || error.is_elsewhere());
        if let (true, Some(workers)) = (is_away, &self.workers) {
            workers.fall_back(tenant, &self.pool);
        }
        is_away
    }

    /// Executes the statements on the server of the tenant, or on the coordinator if that cannot be
    /// reached.
    async fn at_home(&self, tenant: i64, queries: &[SqlQuery<'_>]) -> Result<Vec<Vec<Row>>> {
        let home = self.home(tenant).await;
        let given = match self.run(&home, queries).await {
            Err(error) if self.skip_replica(tenant, &home, &error) => {
                self.run(&self.pool, queries).await
            }
            given => given,
        };
        given.map_err(|error| error.of_tenant(Some(tenant)))
    }

    /// Executes statements. A connection that has ended since its last use is replaced once, for
    /// example after a restart of the server.
    async fn run(
        &self,
        pool: &Arc<ConnectionPool>,
        queries: &[SqlQuery<'_>],
    ) -> Result<Vec<Vec<Row>>> {
        let within = self.options.patience.saturating_mul(2);
        let mut error = StoreError::Busy;
        for _ in 0..2 {
            let mut lent = pool.get(LeasePurpose::Reads).await?;
            if queries.first().is_some_and(|first| first.values.is_none()) {
                lent.begins();
            }
            match lent.run(queries, within).await {
                Ok(given) => {
                    lent.mark_clean();
                    return Ok(given);
                }
                Err((_, failed)) if failed.is_of_the_connection() && !failed.is_silent() => {
                    error = failed;
                }
                Err((_, failed)) => return Err(failed),
            }
        }
        Err(error)
    }
}

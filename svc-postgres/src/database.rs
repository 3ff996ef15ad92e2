//! A database: its servers, the texts of its statements, and reads in one round trip, from a
//! replica where that has what the caller may expect to see.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use svc_core::backend::Notifier;
use svc_store::{commits::CommitCounters, write_watermarks::WriteWatermarks};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    cluster::Topology,
    connect::Connector,
    error::{Result, StoreError},
    options::PostgresOptions,
    pipeline::{SqlQuery, values},
    pool::{ConnectionPool, LeasePurpose},
    statements::Texts,
    citus_workers::{CitusWorkers, FALLBACK_DURATION, WorkerAddress},
};

/// A database that is open.
pub(crate) struct DatabaseHandle {
    pub(crate) pool: Arc<ConnectionPool>,
    replica: Option<ReadReplica>,
    pub(crate) texts: Arc<Texts>,
    pub(crate) topology: Topology,
    /// This process, as other processes of the database know it.
    pub(crate) process: Uuid,
    pub(crate) options: PostgresOptions,
    pub(crate) commits: CommitCounters,
    /// Rung when a tenant's turn of this process is committed.
    pub(crate) bells: Notifier<i64>,
    /// Rung when something is to be sent, whoever's it is.
    pub(crate) outgoing: Notifier<()>,
    pub(crate) workers: Option<CitusWorkers>,
}

/// Where reads go besides the first server.
struct ReadReplica {
    pool: Arc<ConnectionPool>,
    /// What it has to have.
    written: WriteWatermarks,
    /// Until when it is not asked, because it could not be reached.
    away: Mutex<Option<Instant>>,
}

impl ReadReplica {
    /// Whether it is asked at all.
    fn is_available(&self) -> bool {
        let away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        away.is_none_or(|until| until <= Instant::now())
    }

    /// Leaves it alone for a while.
    fn suspend(&self, error: &StoreError) {
        tracing::warn!(
            ?error,
            "the replica cannot be reached; the first server answers for a while"
        );
        *self.away.lock().unwrap_or_else(PoisonError::into_inner) =
            Instant::now().checked_add(FALLBACK_DURATION);
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
    /// With these options; nothing is asked yet.
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
            options,
        }
    }

    /// Whether a replica answers reads.
    pub(crate) fn has_replica(&self) -> bool {
        self.replica.is_some()
    }

    /// `BEGIN` with what holds for a transaction of a tenant, or of the directories.
    pub(crate) fn begin(&self, tenant: Option<i64>) -> Vec<SqlQuery<'static>> {
        let fence = self.options.row_level_security.then(|| match tenant {
            Some(tenant) => tenant.to_string(),
            None => "directory".to_owned(),
        });
        self.topology.begin(self.options.patience, fence.as_deref())
    }

    /// Remembers the number that a tenant's ledger has after a commit of this process, and wakes
    /// who waits for one.
    pub(crate) fn committed(&self, tenant: i64, seq: i64) {
        self.wrote(tenant, seq);
        self.bells.notify(&tenant);
    }

    /// Remembers the number that a tenant's ledger has at least.
    pub(crate) fn wrote(&self, tenant: i64, seq: i64) {
        if let Some(replica) = &self.replica {
            replica.written.advance(tenant, seq);
        }
    }

    /// What statements about a tenant give, in one round trip.
    pub(crate) async fn read(
        &self,
        tenant: i64,
        mut queries: Vec<SqlQuery<'_>>,
    ) -> Result<Vec<Vec<Row>>> {
        let Some(replica) = self.replica.as_ref().filter(|replica| replica.is_available()) else {
            return self.read_first(tenant, queries).await;
        };
        // Read first: what the other statements see is at least as new.
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
            Err(error) if error.is_of_the_connection() || error.is_busy() => replica.suspend(&error),
            // What the first server cannot do either, it says itself.
            Err(_) => {}
        }
        let mut given = self.at_home(tenant, &queries).await?;
        given.remove(0);
        Ok(given)
    }

    /// The same, never asked of a replica.
    pub(crate) async fn read_first(
        &self,
        tenant: i64,
        queries: Vec<SqlQuery<'_>>,
    ) -> Result<Vec<Vec<Row>>> {
        self.at_home(tenant, &self.fenced(Some(tenant), queries))
            .await
    }

    /// What statements about a tenant give that run in one transaction of the primary, in one round
    /// trip.
    pub(crate) async fn transaction_of(
        &self,
        tenant: i64,
        queries: Vec<SqlQuery<'_>>,
    ) -> Result<Vec<Vec<Row>>> {
        self.at_home(tenant, &self.in_transaction(Some(tenant), queries))
            .await
    }

    /// What one statement gives, asked of the first server; without a tenant one of the
    /// directories. It may change what nobody else waits for.
    pub(crate) async fn query_one(&self, tenant: Option<i64>, query: SqlQuery<'_>) -> Result<Vec<Row>> {
        let queries = self.fenced(tenant, vec![query]);
        let given = self.run(&self.pool, &queries).await;
        Ok(given
            .map_err(|error| error.of_tenant(tenant))?
            .pop()
            .unwrap_or_default())
    }

    /// Statements with `BEGIN` before and `COMMIT` after them.
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

    /// Row-level security knows the tenant from the transaction.
    fn fenced<'a>(&self, tenant: Option<i64>, queries: Vec<SqlQuery<'a>>) -> Vec<SqlQuery<'a>> {
        if self.options.row_level_security {
            self.in_transaction(tenant, queries)
        } else {
            queries
        }
    }

    /// Where the statements of a tenant go: to its worker, where there are workers and this one is
    /// known; else to the first server, which finds it.
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
                tracing::warn!(?error, "the worker of a tenant could not be found");
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
            .ok_or_else(|| StoreError::unexpected("a tenant without a worker"))?;
        let port = u16::try_from(row.try_get::<_, i32>(1)?).unwrap_or_default();
        Ok((row.try_get(0)?, port))
    }

    /// Whether the next try goes over the first server, because this one, the tenant's worker,
    /// could not be reached.
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

    /// Asks where the tenant is; the first server, where that one cannot be reached.
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

    /// A connection that has ended since it was last used is replaced once: a server that was
    /// started again is met so.
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

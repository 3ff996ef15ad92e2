//! A database: its servers, the texts of its statements, and reads in one round trip, from a replica where that has what the
//! caller may expect to see.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio_postgres::Row;

use crate::{
    connect::Connector,
    error::{Result, StoreError},
    options::Options,
    pipeline::{Query, values},
    pool::{For, Pool},
    stats::Commits,
    texts::Texts,
};

/// A database that is open.
pub(crate) struct Database {
    pub(crate) pool: Arc<Pool>,
    replica: Option<Replica>,
    pub(crate) texts: Texts,
    pub(crate) options: Options,
    pub(crate) commits: Commits,
}

/// Where reads go besides the first server.
struct Replica {
    pool: Arc<Pool>,
    /// The number of each tenant's last write of this process: the replica has to have it.
    written: Mutex<HashMap<i64, i64>>,
}

impl Replica {
    fn wrote(&self, tenant: i64, seq: i64) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let last = written.entry(tenant).or_default();
        *last = seq.max(*last);
    }

    /// Whether an answer that was read at this number of the ledger has all that this process has written.
    fn is_recent(&self, tenant: i64, seq: Option<i64>) -> bool {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        seq.is_some_and(|seq| written.get(&tenant).is_none_or(|last| seq >= *last))
    }
}

impl Database {
    /// With these options; nothing is asked yet.
    pub(crate) fn new(options: Options) -> Self {
        let pool = |connector: &Connector| {
            Arc::new(Pool::new(connector.clone(), options.connections, options.patience, options.statements))
        };
        let replica =
            options.replica.as_ref().map(|replica| Replica { pool: pool(replica), written: Mutex::default() });
        Self {
            pool: pool(&options.primary),
            replica,
            texts: Texts::of(&options.schema),
            commits: Commits::default(),
            options,
        }
    }

    /// `BEGIN` with what holds for a transaction of a tenant: before the first statement, so that a cluster sends it along.
    /// Every statement looks a few keys up; where a table was never analyzed, the planner would rather read all of it.
    pub(crate) fn begin(&self, tenant: Option<i64>) -> Query<'static> {
        let millis = self.options.patience.as_millis().max(1);
        let fence = match tenant {
            _ if !self.options.row_level_security => String::new(),
            Some(tenant) => format!("; SET LOCAL svc.tenant = '{tenant}'"),
            None => "; SET LOCAL svc.tenant = 'directory'".to_owned(),
        };
        Query::control(format!(
            "BEGIN; SET LOCAL citus.propagate_set_commands = 'local'; SET LOCAL lock_timeout = {millis}; \
             SET LOCAL idle_in_transaction_session_timeout = {}; SET LOCAL plan_cache_mode = force_generic_plan; \
             SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; \
             SET LOCAL enable_material = off{fence}",
            millis.saturating_mul(2)
        ))
    }

    /// Remembers the number that a tenant's ledger has after a write of this process.
    pub(crate) fn wrote(&self, tenant: i64, seq: i64) {
        if let Some(replica) = &self.replica {
            replica.wrote(tenant, seq);
        }
    }

    /// What statements about a tenant give, in one round trip.
    pub(crate) async fn read(&self, tenant: i64, mut queries: Vec<Query<'_>>) -> Result<Vec<Vec<Row>>> {
        let Some(replica) = &self.replica else {
            let queries = self.fenced(Some(tenant), queries);
            return Ok(self.unfenced(self.run(&self.pool, &queries).await?));
        };
        // Read first: what the other statements see is at least as new.
        queries.insert(0, Query::new(&self.texts.seq, values![tenant]));
        let queries = self.fenced(Some(tenant), queries);
        if let Ok(given) = self.run(&replica.pool, &queries).await {
            let mut given = self.unfenced(given);
            let seq = given.first().and_then(|rows| rows.first()).map(|row| row.try_get(0)).transpose()?;
            if replica.is_recent(tenant, seq) {
                given.remove(0);
                return Ok(given);
            }
        }
        let mut given = self.unfenced(self.run(&self.pool, &queries).await?);
        given.remove(0);
        Ok(given)
    }

    /// What one statement gives, asked of the first server; without a tenant one of the directories. It may change what nobody
    /// else waits for.
    pub(crate) async fn ask(&self, tenant: Option<i64>, query: Query<'_>) -> Result<Vec<Row>> {
        let queries = self.fenced(tenant, vec![query]);
        Ok(self.unfenced(self.run(&self.pool, &queries).await?).pop().unwrap_or_default())
    }

    /// Row-level security knows the tenant from the transaction.
    fn fenced<'a>(&self, tenant: Option<i64>, mut queries: Vec<Query<'a>>) -> Vec<Query<'a>> {
        if self.options.row_level_security {
            queries.insert(0, self.begin(tenant));
            queries.push(Query::control("COMMIT"));
        }
        queries
    }

    fn unfenced(&self, mut given: Vec<Vec<Row>>) -> Vec<Vec<Row>> {
        if self.options.row_level_security && !given.is_empty() {
            given.pop();
            given.remove(0);
        }
        given
    }

    /// A connection that has ended since it was last used is replaced once: a server that was started again is met so.
    async fn run(&self, pool: &Arc<Pool>, queries: &[Query<'_>]) -> Result<Vec<Vec<Row>>> {
        let within = self.options.patience.saturating_mul(2);
        let mut error = StoreError::Busy;
        for _ in 0..2 {
            let mut lent = pool.get(For::Reads).await?;
            if self.options.row_level_security {
                lent.begins();
            }
            match lent.run(queries, within).await {
                Ok(given) => {
                    lent.is_clean_again();
                    return Ok(given);
                }
                Err((_, failed)) if failed.is_of_the_connection() && !failed.is_silent() => error = failed,
                Err((_, failed)) => return Err(failed),
            }
        }
        Err(error)
    }
}

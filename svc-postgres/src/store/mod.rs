//! The store: an open database, and the operations of the API. Its parts do not depend on it.

mod connect_checks;
mod keys;
mod outbox;
mod recount;
mod restore;
mod store_impl;
mod tenants;
mod webhooks;

pub use restore::RestoreProgress;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use svc_core::{
    Result, RevisionSource, Tenant, api::ApiBuilder, link::ShareNames, value::Timestamp,
};
use svc_store::{
    cursor::CursorCodec,
    feed::FeedCursors,
    keys::{KeyCache, KeyCacheEpochs},
};

use crate::{
    database::DatabaseHandle,
    error::{ConnectError, StoreError},
    lease::Lookout,
    migrate,
    options::PostgresOptions,
    page_jumps::PageJumps,
    pipeline::{SqlQuery, values},
    stats::PostgresStats,
    write_queue::WriteQueue,
};

/// A store of all kinds of records in PostgreSQL. It is cheap to clone, and clones share the
/// connections.
#[derive(Clone)]
pub struct PostgresStore {
    inner: Arc<PostgresInner>,
}

/// The state that the clones of a store share.
struct PostgresInner {
    database: Arc<DatabaseHandle>,
    turns: Arc<WriteQueue>,
    /// Searches for due outbox entries and webhooks.
    outbox: Arc<Lookout>,
    webhooks: Lookout,
    jumps: PageJumps,
    cursors: CursorCodec,
    feed_cursors: FeedCursors,
    /// Cached keys: see [`PostgresOptions::key_cache_ttl`].
    keys: (KeyCache, KeyCacheEpochs),
    tenants: Mutex<HashMap<Tenant, i64>>,
}

impl PostgresStore {
    /// Connects, creates the tables if there are none, and upgrades older ones. Several processes
    /// may do so simultaneously.
    ///
    /// # Errors
    ///
    /// Returns a one-line error if the database cannot be reached, or its tables are newer,
    /// damaged, or have other share names. Also returns [`ConnectError::UnknownMeasure`] if a newer
    /// program has derived totals or texts that this program does not know, and the error of the
    /// database if those of another version cannot be derived again.
    ///
    /// Requirements: UND-42.
    pub async fn connect(options: PostgresOptions) -> Result<Self, ConnectError> {
        migrate::migrate(&options).await?;
        let keys = (KeyCache::default(), KeyCacheEpochs::new(options.key_cache));
        let database = Arc::new(DatabaseHandle::new(options));
        let (cursors, feed_cursors) = connect_checks::cursors(&database).await?;
        connect_checks::check_share_names(&database).await?;
        let (outbox, webhooks) = (Arc::new(Lookout::new("outbox")), Lookout::new("webhooks"));
        let turns = Arc::new(WriteQueue::new(Arc::clone(&database), Arc::clone(&outbox)));
        let inner = PostgresInner {
            database,
            turns,
            outbox,
            webhooks,
            jumps: PageJumps::default(),
            cursors,
            feed_cursors,
            keys,
            tenants: Mutex::default(),
        };
        let store = Self {
            inner: Arc::new(inner),
        };
        store.recount_if_changed().await?;
        Ok(store)
    }

    /// Returns whether the schema has tables of this crate, which [`PostgresStore::connect`] would
    /// use. Nothing is created.
    ///
    /// # Errors
    ///
    /// Returns an error if the database cannot be reached, or the name of the schema is invalid.
    pub async fn exists(options: &PostgresOptions) -> Result<bool, ConnectError> {
        migrate::exists(options).await
    }

    /// Removes the tables with the data of every tenant. No [`PostgresStore`] may be connected.
    ///
    /// # Errors
    ///
    /// Returns [`ConnectError::ForeignSchema`] for a schema without tables of this crate, or the error of
    /// the database. Nothing is then removed.
    pub async fn drop_tables(options: &PostgresOptions) -> Result<(), ConnectError> {
        migrate::remove(options).await
    }

    /// Returns the statements that create the tables on a Citus cluster, which shards by tenant. A
    /// user who may create tables runs them before a store is opened.
    ///
    /// # Errors
    ///
    /// Returns [`ConnectError::InvalidSchemaName`] if the name of the schema is invalid.
    pub fn citus_schema_sql(options: &PostgresOptions) -> Result<String, ConnectError> {
        migrate::on_citus(options)
    }

    /// Returns the names of the two share objects in this database.
    ///
    /// Requirements: HAL-11.
    #[must_use]
    pub fn share_names(&self) -> &ShareNames {
        &self.database().options.share_names
    }

    /// Registers every kind and all eight helpers. Each helper runs in one transaction: see
    /// [`ApiBuilder::store`].
    ///
    /// The scheduling helper is included if [`delivery`](ApiBuilder::delivery) is registered.
    ///
    /// ```no_run
    /// use svc_core::api::{Api, Vendor};
    /// # async fn start() -> Result<(), Box<dyn std::error::Error>> {
    /// let options = svc_postgres::PostgresOptions::new("postgres://svc@localhost/crm")?;
    /// let store = svc_postgres::PostgresStore::connect(options).await?;
    /// let api = store
    ///     .register_all(Api::builder(Vendor::new("Acme", "Acme CRM")))
    ///     .authenticator(store.clone())
    ///     .anonymous_helpers(store.clone())
    ///     .build()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn register_all(&self, api: ApiBuilder) -> ApiBuilder {
        api.store(&Arc::new(self.clone()))
    }

    /// Returns the statistics of the store. It can be called often, because it sends no statement.
    #[must_use]
    pub fn stats(&self) -> PostgresStats {
        let database = self.database();
        let (connections_busy, connections_idle, connections_wanted) = database.pool.load();
        PostgresStats {
            queued_writes: self.inner.turns.waiting(),
            commits: database.commits.snapshot(),
            busy_connections: connections_busy,
            idle_connections: connections_idle,
            waiting_for_connection: connections_wanted,
        }
    }

    /// Writes a mark, or replaces it. A mark is a short text that a program stores in the database,
    /// such as the progress of an import.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn set_metadata(&self, name: &str, value: &str) -> Result<()> {
        let values = values![mark(name), value.as_bytes().to_vec()];
        self.database()
            .query_one(
                None,
                SqlQuery::new(&*self.database().texts.set_meta, values),
            )
            .await?;
        Ok(())
    }

    /// Acquires or renews a lease for a time. Returns `false` if another process has the lease.
    ///
    /// A lease is for work that only one process of the database may do at a time, such as filling
    /// it. It ends with [`PostgresStore::end_lease`], or when its time is over.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn take_lease(&self, name: &str, time: Duration) -> Result<bool> {
        Ok(self
            .database()
            .take_lease(&mark(name), self.now(), time)
            .await?)
    }

    /// Ends a lease if this process has it.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn end_lease(&self, name: &str) -> Result<()> {
        Ok(self.database().end_lease(&mark(name)).await?)
    }

    /// Returns a mark, or `None` if it was never written.
    ///
    /// # Errors
    ///
    /// Returns an error if the database fails.
    pub async fn metadata(&self, name: &str) -> Result<Option<String>> {
        let rows = self
            .database()
            .query_one(
                None,
                SqlQuery::new(&*self.database().texts.meta, values![mark(name)]),
            )
            .await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let value: Vec<u8> = row.try_get(0).map_err(StoreError::from)?;
        Ok(Some(String::from_utf8_lossy(&value).into_owned()))
    }

    fn database(&self) -> &Arc<DatabaseHandle> {
        &self.inner.database
    }

    fn now(&self) -> Timestamp {
        (self.database().options.now)()
    }
}

/// Returns the stored name. It separates the marks and leases of programs from the values of the
/// store.
fn mark(name: &str) -> String {
    format!("mark.{name}")
}

/// Reports the number of the tenant's ledger, which increases with every transaction that changes
/// something, of any process.
#[async_trait::async_trait]
impl RevisionSource for PostgresStore {
    async fn revision(&self, tenant: &Tenant, _: std::time::Instant) -> Option<u64> {
        let number = self.number(tenant).await.ok()??;
        let seq = SqlQuery::new(&*self.database().texts.seq, values![number]);
        let rows = self.database().query_one(Some(number), seq).await.ok()?;
        let seq = rows.first()?.try_get(0).ok()?;
        // A response that is cached under this number must not be read from an older replica.
        self.database().wrote(number, seq);
        u64::try_from(seq).ok()
    }

    /// Returns `true` unless there is a replica. With a replica the number is read before every
    /// read, because the replica must have the writes of other processes up to it.
    fn is_remote(&self) -> bool {
        !self.database().has_replica()
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("schema", &self.database().options.schema)
            .finish_non_exhaustive()
    }
}

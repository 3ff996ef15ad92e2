//! The store: a database that is open, and what it does for the interface. Its parts know nothing
//! of it.

mod calls;
mod keys;
mod opening;
mod outgoing;
mod restore;
mod tenants;
mod webhooks;

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
    jumps::PageJumps,
    lease::Lookout,
    migrate,
    options::PostgresOptions,
    pipeline::{SqlQuery, values},
    stats::PostgresStats,
    turns::WriteQueue,
};

/// People, petitions and everything else in PostgreSQL. Cheap to clone; clones share the
/// connections.
#[derive(Clone)]
pub struct PostgresStore {
    inner: Arc<PostgresInner>,
}

/// What the clones of a store share.
struct PostgresInner {
    database: Arc<DatabaseHandle>,
    turns: Arc<WriteQueue>,
    /// Look for outbox entries and webhooks that are due.
    outbox: Arc<Lookout>,
    webhooks: Lookout,
    jumps: PageJumps,
    cursors: CursorCodec,
    feed_cursors: FeedCursors,
    /// What was read of keys not long ago: see [`PostgresOptions::key_cache`].
    keys: (KeyCache, KeyCacheEpochs),
    tenants: Mutex<HashMap<Tenant, i64>>,
}

impl PostgresStore {
    /// Connects, makes the tables where there are none, and brings them up to date. Several
    /// processes may do so at once.
    ///
    /// # Errors
    ///
    /// One clear line: the database cannot be reached, its tables are newer, damaged, or of other
    /// share names.
    ///
    /// Requirements: UND-42.
    pub async fn connect(options: PostgresOptions) -> Result<Self, ConnectError> {
        migrate::migrate(&options).await?;
        let keys = (KeyCache::default(), KeyCacheEpochs::new(options.key_cache));
        let database = Arc::new(DatabaseHandle::new(options));
        let (cursors, feed_cursors) = opening::cursors(&database).await?;
        opening::check_share_names(&database).await?;
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
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Whether the schema has tables of this crate: what [`PostgresStore::connect`] would find.
    /// Nothing is made.
    ///
    /// # Errors
    ///
    /// The database cannot be reached, or the schema has no name that can be one.
    pub async fn is_there(options: &PostgresOptions) -> Result<bool, ConnectError> {
        migrate::is_there(options).await
    }

    /// Removes everything: the tables with all that is in them, of every tenant. Nobody may be
    /// connected with a [`PostgresStore`].
    ///
    /// # Errors
    ///
    /// [`ConnectError::NotOurs`] for a schema without tables of this crate; whatever the database
    /// reports, and nothing is removed then.
    pub async fn remove(options: &PostgresOptions) -> Result<(), ConnectError> {
        migrate::remove(options).await
    }

    /// The statements that make the tables on a cluster of Citus, which shards by tenant; somebody
    /// who may make tables there runs them before a store is opened.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Schema`].
    pub fn tables_on_citus(options: &PostgresOptions) -> Result<String, ConnectError> {
        migrate::on_citus(options)
    }

    /// What the two share objects are called in this database.
    ///
    /// Requirements: HAL-11.
    #[must_use]
    pub fn share_names(&self) -> &ShareNames {
        &self.database().options.share_names
    }

    /// Registers every kind and all eight helpers, which run natively in one transaction each: see
    /// [`ApiBuilder::store`]. Scheduling is one of them where somebody
    /// [delivers](ApiBuilder::delivery).
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

    /// What the store has done and has to do. It may be called often: it asks nobody.
    #[must_use]
    pub fn stats(&self) -> PostgresStats {
        let database = self.database();
        let (connections_busy, connections_idle, connections_wanted) = database.pool.load();
        PostgresStats {
            writes_waiting: self.inner.turns.waiting(),
            commits: database.commits.so_far(),
            connections_busy,
            connections_idle,
            connections_wanted,
        }
    }

    /// Writes a mark, or replaces it: a short text that a program keeps in the database for itself,
    /// such as how far it got with filling it.
    ///
    /// # Errors
    ///
    /// Trouble with the database.
    pub async fn mark(&self, name: &str, value: &str) -> Result<()> {
        let values = values![mark(name), value.as_bytes().to_vec()];
        self.database()
            .ask(
                None,
                SqlQuery::new(&*self.database().texts.set_meta, values),
            )
            .await?;
        Ok(())
    }

    /// Takes or renews a lease for a time: what a program must do in one process of the database at
    /// a time, such as filling it. `false` if another process has the lease. A lease ends with
    /// [`PostgresStore::end_lease`], or when its time is over.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub async fn take_lease(&self, name: &str, time: Duration) -> Result<bool> {
        Ok(self
            .database()
            .take_lease(&mark(name), self.now(), time)
            .await?)
    }

    /// Ends a lease, if this process has it.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub async fn end_lease(&self, name: &str) -> Result<()> {
        Ok(self.database().end_lease(&mark(name)).await?)
    }

    /// Reads a mark; `None` when it was never written.
    ///
    /// # Errors
    ///
    /// Trouble with the database.
    pub async fn read_mark(&self, name: &str) -> Result<Option<String>> {
        let rows = self
            .database()
            .ask(
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

/// Keeps a program's marks and leases apart from what the store itself remembers.
fn mark(name: &str) -> String {
    format!("mark.{name}")
}

/// The number that the tenant's ledger has: it goes up with every transaction that changes
/// something, of any process.
#[async_trait::async_trait]
impl RevisionSource for PostgresStore {
    async fn revision(&self, tenant: &Tenant, _: std::time::Instant) -> Option<u64> {
        let number = self.number(tenant).await.ok()??;
        let seq = SqlQuery::new(&*self.database().texts.seq, values![number]);
        let rows = self.database().ask(Some(number), seq).await.ok()?;
        let seq = rows.first()?.try_get(0).ok()?;
        // Whoever keeps an answer as one of this number must not get an older one from a replica.
        self.database().wrote(number, seq);
        u64::try_from(seq).ok()
    }

    /// With a replica the number is always asked for: the replica must have the writes of other
    /// processes up to it.
    fn is_remote(&self) -> bool {
        !self.database().has_replica()
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("schema", &self.database().options.schema)
            .finish_non_exhaustive()
    }
}

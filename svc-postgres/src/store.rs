//! The store: the connections to a database, and what it does for the interface. Its parts know nothing of it but [`Inner`].

mod calls;
mod keys;
mod restore;
mod tenants;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
};

use svc_core::{Result, Revision, Tenant, api::ApiBuilder, link::ShareNames, store::cursor::Cursors, value::Timestamp};

use crate::{
    error::StoreError,
    jumps::Jumps,
    migrate::{self, ConnectError},
    options::Options,
    pipeline::{Query, values},
    pool::Pool,
    reads::Replica,
    stats::{Commits, Stats},
    texts::Texts,
    turns::Turns,
};

pub(crate) use keys::KnownKeys;

/// People, petitions and everything else in PostgreSQL. Cheap to clone; clones share the connections.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

/// What the clones of a store share.
pub(crate) struct Inner {
    pub(crate) pool: Arc<Pool>,
    pub(crate) replica: Option<Replica>,
    pub(crate) texts: Texts,
    pub(crate) options: Options,
    pub(crate) turns: Turns,
    pub(crate) jumps: Jumps,
    pub(crate) stats: Commits,
    pub(crate) cursors: Cursors,
    pub(crate) keys: KnownKeys,
    pub(crate) tenants: Mutex<HashMap<Tenant, i64>>,
}

impl Store {
    /// Connects, makes the tables where there are none, and brings them up to date (UND-42). Several processes may do so at
    /// once.
    ///
    /// # Errors
    ///
    /// One clear line: the database cannot be reached, its tables are newer, damaged, or of other share names.
    pub async fn connect(options: Options) -> Result<Self, ConnectError> {
        let secret = migrate::open(&options).await?;
        let pool = |connector: &crate::connect::Connector| {
            Arc::new(Pool::new(connector.clone(), options.connections, options.patience, options.statements))
        };
        let inner = Inner {
            pool: pool(&options.primary),
            replica: options.replica.as_ref().map(|replica| Replica::new(pool(replica))),
            texts: Texts::of(&options.schema),
            turns: Turns::default(),
            jumps: Jumps::default(),
            stats: Commits::default(),
            cursors: Cursors::new(&secret),
            keys: KnownKeys::new(options.key_cache),
            tenants: Mutex::default(),
            options,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Removes everything: the tables with all that is in them, of every tenant. Nobody may be connected with a [`Store`].
    ///
    /// # Errors
    ///
    /// [`ConnectError::NotOurs`] for a schema without tables of this crate; whatever the database reports, and nothing is
    /// removed then.
    pub async fn remove(options: &Options) -> Result<(), ConnectError> {
        migrate::remove(options).await
    }

    /// What the two share objects are called in this database (HAL-11).
    #[must_use]
    pub fn share_names(&self) -> &ShareNames {
        &self.inner.options.share_names
    }

    /// Registers every kind and all eight helpers, which run natively in one transaction each: see [`ApiBuilder::store`].
    ///
    /// ```no_run
    /// use svc_core::api::{Api, Vendor};
    /// # async fn start() -> Result<(), Box<dyn std::error::Error>> {
    /// let options = svc_postgres::Options::new("postgres://svc@localhost/crm")?;
    /// let store = svc_postgres::Store::connect(options).await?;
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
    pub fn stats(&self) -> Stats {
        let inner = &self.inner;
        let (connections_busy, connections_idle, connections_wanted) = inner.pool.load();
        Stats {
            writes_waiting: inner.turns.waiting(),
            connections_busy,
            connections_idle,
            connections_wanted,
            ..inner.stats.stats()
        }
    }

    /// Writes a mark, or replaces it: a short text that a program keeps in the database for itself, such as how far it got
    /// with filling it.
    ///
    /// # Errors
    ///
    /// Trouble with the database.
    pub async fn mark(&self, name: &str, value: &str) -> Result<()> {
        let values = values![mark(name), value.as_bytes().to_vec()];
        let inner = &self.inner;
        inner.ask(&inner.pool, None, vec![Query::new(&*inner.texts.set_meta, values)]).await?;
        Ok(())
    }

    /// Reads a mark; `None` when it was never written.
    ///
    /// # Errors
    ///
    /// Trouble with the database.
    pub async fn read_mark(&self, name: &str) -> Result<Option<String>> {
        let inner = &self.inner;
        let given = inner.ask(&inner.pool, None, vec![Query::new(&*inner.texts.meta, values![mark(name)])]).await?;
        let Some(row) = given.first().and_then(|rows| rows.first()) else { return Ok(None) };
        let value: Vec<u8> = row.try_get(0).map_err(StoreError::from)?;
        Ok(Some(String::from_utf8_lossy(&value).into_owned()))
    }

    fn now(&self) -> Timestamp {
        (self.inner.options.now)()
    }
}

/// Keeps a program's marks apart from what the store itself remembers.
fn mark(name: &str) -> String {
    format!("mark.{name}")
}

/// The number that the tenant's ledger has: it goes up with every transaction that changes something, of any process.
#[async_trait::async_trait]
impl Revision for Store {
    async fn revision(&self, tenant: &Tenant) -> Option<u64> {
        let inner = &self.inner;
        let number = self.number(tenant).await.ok()??;
        let given =
            inner.ask(&inner.pool, Some(number), vec![Query::new(&*inner.texts.seq, values![number])]).await.ok()?;
        let seq: i64 = given.first()?.first()?.try_get(0).ok()?;
        u64::try_from(seq).ok()
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("schema", &self.inner.options.schema).finish_non_exhaustive()
    }
}

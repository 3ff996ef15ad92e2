//! How a store is opened.

use std::{fmt, sync::Arc, time::Duration};

use svc_core::{
    helper::{PersonMatching, StockMatching},
    link::ShareNames,
    value::Timestamp,
};
use tokio_postgres::Config;

/// Tells the time.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How a store is opened. Everything but where the database is has a default.
#[derive(Clone)]
pub struct Options {
    pub(crate) config: Config,
    pub(crate) schema: String,
    pub(crate) connections: usize,
    pub(crate) patience: Duration,
    pub(crate) batch: usize,
    pub(crate) share_names: ShareNames,
    pub(crate) matching: Arc<dyn PersonMatching>,
    pub(crate) now: Clock,
}

impl Options {
    /// The database that a URL names, such as `postgres://user@localhost/crm`.
    ///
    /// # Errors
    ///
    /// What is wrong with the URL.
    pub fn new(url: &str) -> Result<Self, tokio_postgres::Error> {
        Ok(Self {
            config: url.parse()?,
            schema: "svc".to_owned(),
            connections: 16,
            patience: Duration::from_secs(2),
            batch: 64,
            share_names: ShareNames::default(),
            matching: Arc::new(StockMatching),
            now: Arc::new(Timestamp::now),
        })
    }

    /// The schema of the tables, made when there is none: lower-case letters, digits and underscores; `svc` unless set.
    #[must_use]
    pub fn schema(mut self, name: &str) -> Self {
        name.clone_into(&mut self.schema);
        self
    }

    /// Connections at most; 16 unless set.
    #[must_use]
    pub fn connections(mut self, most: usize) -> Self {
        self.connections = most.max(1);
        self
    }

    /// How long a call waits for a connection before it is 503 (UND-36); two seconds unless set.
    #[must_use]
    pub fn patience(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// Writes of one tenant in one transaction at most; 64 unless set.
    #[must_use]
    pub fn batch(mut self, calls: usize) -> Self {
        self.batch = calls.max(1);
        self
    }

    /// How it is decided whether a posted person is known already (HLP-04); [`StockMatching`] unless set.
    #[must_use]
    pub fn matching(mut self, matching: impl PersonMatching + 'static) -> Self {
        self.matching = Arc::new(matching);
        self
    }

    /// What the two share objects are called in the fields that are stored (HAL-11).
    #[must_use]
    pub fn share_names(mut self, names: ShareNames) -> Self {
        self.share_names = names;
        self
    }

    /// Tells the time from `clock` instead of the system.
    #[must_use]
    pub fn now(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.now = Arc::new(clock);
        self
    }
}

impl fmt::Debug for Options {
    /// Without the configuration: it may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("schema", &self.schema).finish_non_exhaustive()
    }
}

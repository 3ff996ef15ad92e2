//! The data of the demo, in a file or in a PostgreSQL database: one flow, whichever it is.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use svc_core::api::ApiBuilder;
use svc_core::auth::{Authenticator, TenantResolver};
use svc_core::error::{Error, Result};
use svc_core::link::{RecordAddress, ShareNames};
use svc_core::backend::WebhookStore;
use svc_core::raw::RawRecord;
use svc_core::store::{ImportedRecord, Store};
use svc_core::{ChangeFeed, Context, RevisionSource, Tenant};
use svc_postgres::ConnectError;
use svc_sqlite::FileError;
use svc_store::commits::CommitStats;
use svc_store::keys::{CreatedKey, KeyError, KeyInfo, KeyOptions, KeyWebhooks, Revocation};

use super::data_errors::{about_file, about_server, said};
use super::location::{DataLocation, SchemaLocation};
use super::paths::refuse_emptied;
use super::startup_error::StartupError;

/// Connections of a command that runs beside a server.
const FEW: usize = 2;

/// The data, opened. Cheap to clone.
#[derive(Debug, Clone)]
pub enum DemoStore {
    /// In a file.
    File(svc_sqlite::SqliteStore),
    /// In a database.
    Server(svc_postgres::PostgresStore, Box<SchemaLocation>),
}

/// What a store has done and has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreStats {
    /// Writes in the queue now.
    pub writes_waiting: usize,
    /// Transactions until now.
    pub commits: CommitStats,
    /// Its connections.
    pub connections: ConnectionStats,
}

/// The connections of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionStats {
    /// Those that read a file: open, at work, and how many reads wait for one.
    Readers {
        /// Open now.
        open: usize,
        /// At work now.
        busy: usize,
        /// Reads that wait for one.
        waiting: usize,
    },
    /// Those to a database: at work, open without work, and how many calls wait for one.
    Pool {
        /// At work now.
        busy: usize,
        /// Open, without work.
        idle: usize,
        /// Calls that wait for one.
        wanted: usize,
    },
}

/// Why data cannot be opened.
enum OpenError {
    /// Its share objects have these names, and no others.
    ShareNames(ShareNames),
    Other(StartupError),
}

/// The same call, whichever store it is.
macro_rules! either {
    ($database:expr, $store:ident => $call:expr) => {
        match $database {
            DemoStore::File($store) => $call,
            DemoStore::Server($store, _) => $call,
        }
    };
}

impl DemoStore {
    /// Opens the data for a server, made when there is none. Its share names are fixed; others that
    /// are asked for are ignored and noted.
    pub(super) async fn open(
        location: &DataLocation,
        asked: Option<ShareNames>,
        notes: &mut Vec<String>,
    ) -> Result<Self, StartupError> {
        match Self::with_names(location, asked.clone().unwrap_or_default()).await {
            Err(OpenError::ShareNames(stored)) => {
                if asked.is_some() {
                    let noun = location.noun();
                    notes.push(format!(
                        "--share-names applies to a new {noun} only and was ignored; this {noun} uses {},{}",
                        stored.network_a(),
                        stored.network_b()
                    ));
                }
                Self::with_names(location, stored)
                    .await
                    .map_err(OpenError::trouble)
            }
            other => other.map_err(OpenError::trouble),
        }
    }

    /// Opens data that is there, for a command; a server may run on it.
    pub(super) async fn beside(location: &DataLocation) -> Result<Self, StartupError> {
        match location {
            DataLocation::File(path) => open_beside(path).map(Self::File),
            DataLocation::Server(server) => {
                let there = svc_postgres::PostgresStore::exists(&server.options()).await;
                if !there.map_err(|error| about_server(server, &error))? {
                    return Err(StartupError::new(
                        "The schema contains no data of this program.",
                        server.to_string(),
                        "Start the server once to create the data, or choose another schema with --schema.",
                    ));
                }
                Self::open(
                    &DataLocation::Server(Box::new(server.with_connections(FEW))),
                    None,
                    &mut Vec::new(),
                )
                .await
            }
        }
    }

    async fn with_names(location: &DataLocation, names: ShareNames) -> Result<Self, OpenError> {
        match location {
            DataLocation::File(path) => {
                let store = svc_sqlite::SqliteStore::open(
                    svc_sqlite::SqliteOptions::new(path).share_names(names),
                );
                store.map(Self::File).map_err(|error| match error {
                    FileError::ShareNames { stored, .. } => OpenError::ShareNames(stored),
                    error => OpenError::Other(about_file(&error)),
                })
            }
            DataLocation::Server(server) => {
                let store =
                    svc_postgres::PostgresStore::connect(server.options().share_names(names)).await;
                store
                    .map(|store| Self::Server(store, server.clone()))
                    .map_err(|error| match error {
                        ConnectError::ShareNames(stored) => OpenError::ShareNames(stored),
                        error => OpenError::Other(about_server(server, &error)),
                    })
            }
        }
    }

    /// Registers everything that there is, with the keys and the cache of answers, and helpers
    /// without a key where they are wanted.
    pub(super) fn register(&self, api: ApiBuilder, anonymous_helpers: bool) -> ApiBuilder {
        either!(self, store => registered(store, api, anonymous_helpers))
    }

    /// What the two share objects are called.
    pub(super) fn share_names(&self) -> &ShareNames {
        either!(self, store => store.share_names())
    }

    /// Data that is open and cannot be read or written.
    pub(super) fn trouble(&self, error: &Error) -> StartupError {
        match self {
            Self::File(store) if svc_sqlite::is_damaged(error) => StartupError::new(
                format!("The data file is damaged: {error:#}."),
                store.path().display().to_string(),
                "Restore a backup.",
            ),
            Self::File(store) => StartupError::new(
                format!(
                    "The data file cannot be read or written: {}.",
                    said(error, "it is in use, or the disk is full")
                ),
                store.path().display().to_string(),
                "Check that the disk has free space and that no other program has locked the file, then try again.",
            ),
            Self::Server(_, server) => StartupError::new(
                format!(
                    "The database cannot be read or written: {}.",
                    said(error, "it does not respond, or its disk is full")
                ),
                server.to_string(),
                "Check that PostgreSQL is running and that its disk has free space, then try again.",
            ),
        }
    }

    pub(super) async fn ensure_tenant(&self, name: &str) -> Result<Tenant> {
        either!(self, store => store.ensure_tenant(name).await)
    }

    pub(super) async fn tenants(&self) -> Result<Vec<Tenant>> {
        match self {
            Self::File(store) => store.tenants(),
            Self::Server(store, _) => store.tenants().await,
        }
    }

    /// Checks that a command names a tenant that exists.
    pub(super) async fn require_tenant(&self, name: &str) -> Result<(), StartupError> {
        let tenants = self.tenants().await.map_err(|error| self.trouble(&error))?;
        let names: Vec<&str> = tenants.iter().map(Tenant::as_str).collect();
        if names.contains(&name) {
            return Ok(());
        }
        let hint = match &*names {
            [] => "Start the server once to create a tenant.".to_owned(),
            [only] => format!("The only tenant is `{only}`."),
            all => format!("Use one of the tenants `{}`.", all.join("`, `")),
        };
        let name = name.escape_debug();
        Err(StartupError::new(
            format!("There is no tenant `{name}`."),
            format!("--tenant {name}"),
            hint,
        ))
    }

    pub(super) async fn create_key(
        &self,
        tenant: &Tenant,
        options: KeyOptions,
    ) -> Result<CreatedKey, KeyError> {
        either!(self, store => store.create_key(tenant, options).await)
    }

    pub(super) async fn add_key_with_token(
        &self,
        tenant: &Tenant,
        token: &str,
        options: KeyOptions,
    ) -> Result<KeyInfo, KeyError> {
        either!(self, store => store.create_key_with_token(tenant, token, options).await)
    }

    pub(super) async fn list_keys(&self) -> Result<Vec<KeyInfo>> {
        match self {
            Self::File(store) => store.list_keys(None),
            Self::Server(store, _) => store.list_keys(None).await,
        }
    }

    pub(super) async fn revoke_key(&self, id: &str, webhooks: KeyWebhooks) -> Result<Revocation> {
        either!(self, store => store.revoke_key(id, webhooks).await)
    }

    pub(super) async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        either!(self, store => store.get(cx, at).await)
    }

    pub(super) async fn seed(&self, tenant: &Tenant, rows: Vec<ImportedRecord>) -> Result<()> {
        either!(self, store => store.import_records(tenant, rows).await)
    }

    pub(super) async fn mark(&self, name: &str, value: &str) -> Result<()> {
        either!(self, store => store.set_metadata(name, value).await)
    }

    /// Takes or renews a lease; a file has one process.
    pub(super) async fn take_lease(&self, name: &str, time: Duration) -> Result<bool> {
        match self {
            Self::File(_) => Ok(true),
            Self::Server(store, _) => store.take_lease(name, time).await,
        }
    }

    pub(super) async fn end_lease(&self, name: &str) -> Result<()> {
        match self {
            Self::File(_) => Ok(()),
            Self::Server(store, _) => store.end_lease(name).await,
        }
    }

    pub(super) async fn read_mark(&self, name: &str) -> Result<Option<String>> {
        match self {
            Self::File(store) => store.metadata(name),
            Self::Server(store, _) => store.metadata(name).await,
        }
    }

    /// What it has done and has to do. It asks nobody.
    pub(super) fn stats(&self) -> StoreStats {
        let connections = match self {
            Self::File(store) => {
                let stats = store.stats();
                ConnectionStats::Readers {
                    open: stats.open_readers,
                    busy: stats.busy_readers,
                    waiting: stats.queued_reads,
                }
            }
            Self::Server(store, _) => {
                let stats = store.stats();
                ConnectionStats::Pool {
                    busy: stats.busy_connections,
                    idle: stats.idle_connections,
                    wanted: stats.waiting_for_connection,
                }
            }
        };
        either!(self, store => {
            let stats = store.stats();
            StoreStats {
                writes_waiting: stats.queued_writes,
                commits: stats.commits,
                connections,
            }
        })
    }
}

impl OpenError {
    fn trouble(self) -> StartupError {
        match self {
            Self::Other(trouble) => trouble,
            // Opened with the names that it said.
            Self::ShareNames(names) => StartupError::new(
                "The share names of the data changed while it was being opened.",
                format!("{},{}", names.network_a(), names.network_b()),
                "Run the command again.",
            ),
        }
    }
}

/// Opens a data file that exists, for a command; a server may run on it.
pub(super) fn open_beside(path: &Path) -> Result<svc_sqlite::SqliteStore, StartupError> {
    refuse_emptied(path)?;
    svc_sqlite::SqliteStore::open(svc_sqlite::SqliteOptions::new(path).shared())
        .map_err(|error| about_file(&error))
}

fn registered<S>(store: &S, api: ApiBuilder, anonymous_helpers: bool) -> ApiBuilder
where
    S: Store + ChangeFeed + WebhookStore + Authenticator + TenantResolver + RevisionSource + Clone,
{
    let shared = Arc::new(store.clone());
    let api = api.store(&shared).change_feed(&shared).webhooks(&shared);
    let api = api
        .authenticator(store.clone())
        .response_cache(store.clone());
    if anonymous_helpers {
        api.anonymous_helpers(store.clone())
    } else {
        api
    }
}

//! The data of the demo, in a file or in a PostgreSQL database, with one interface for both.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use svc_core::api::ApiBuilder;
use svc_core::auth::{Authenticator, Credentials, Principal, TenantResolver};
use svc_core::backend::WebhookStore;
use svc_core::error::{Error, Result};
use svc_core::helper::{RecordAttendance, RecordSignature};
use svc_core::link::{RecordAddress, ShareNames};
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

/// Number of connections of a command that can run at the same time as a server.
const FEW: usize = 2;

/// The opened data. Cheap to clone.
#[derive(Debug, Clone)]
pub enum DemoStore {
    /// In a file.
    File(svc_sqlite::SqliteStore),
    /// In a database.
    Server(svc_postgres::PostgresStore, Box<SchemaLocation>),
}

/// The statistics of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreStats {
    /// Writes in the queue now.
    pub writes_waiting: usize,
    /// Transactions since the start.
    pub commits: CommitStats,
    /// Its connections.
    pub connections: ConnectionStats,
}

/// The connections of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionStats {
    /// Connections that read a file.
    Readers {
        /// Number of open connections.
        open: usize,
        /// Number of busy connections.
        busy: usize,
        /// Number of reads that wait for a connection.
        waiting: usize,
    },
    /// Connections to a database.
    Pool {
        /// Number of busy connections.
        busy: usize,
        /// Number of idle connections.
        idle: usize,
        /// Number of calls that wait for a connection.
        wanted: usize,
    },
}

/// Reason why data cannot be opened.
enum OpenError {
    /// Its share objects have these names.
    ShareNames(ShareNames),
    Other(StartupError),
}

/// Calls the same method of either store.
macro_rules! either {
    ($database:expr, $store:ident => $call:expr) => {
        match $database {
            DemoStore::File($store) => $call,
            DemoStore::Server($store, _) => $call,
        }
    };
}

impl DemoStore {
    /// Opens the data for a server, or creates it. The share names of existing data are fixed;
    /// other names in the settings are ignored, with a note.
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

    /// Opens existing data for a command. A server may use it at the same time.
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

    /// Registers all operations, the keys and the response cache, and allows helpers without a key
    /// if they are enabled.
    pub(super) fn register(&self, api: ApiBuilder, anonymous_helpers: bool) -> ApiBuilder {
        either!(self, store => registered(store, api, anonymous_helpers))
    }

    /// Returns the names of the two share objects.
    pub(super) fn share_names(&self) -> &ShareNames {
        either!(self, store => store.share_names())
    }

    /// Returns the error for opened data that cannot be read or written.
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

    /// Returns the tenant and the rights of a key, or `None` if it is not valid.
    pub(super) async fn authenticate(
        &self,
        credentials: Credentials<'_>,
    ) -> Result<Option<Principal>> {
        either!(self, store => store.authenticate(credentials).await)
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

    /// Returns an error if the tenant of a command does not exist.
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

    /// Acquires or renews a lease. A file has only one process.
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

    /// Returns the statistics, without access to the store.
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
            // Opened with the names that the error reported.
            Self::ShareNames(names) => StartupError::new(
                "The share names of the data changed while it was being opened.",
                format!("{},{}", names.network_a(), names.network_b()),
                "Run the command again.",
            ),
        }
    }
}

/// Opens an existing data file for a command. A server may use it at the same time.
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
    let api = api
        .store(&shared)
        .change_feed(&shared)
        .webhooks(&shared)
        .duplicates();
    let api = api
        .one_action_per_person::<RecordSignature>()
        .one_action_per_person::<RecordAttendance>();
    let api = api
        .authenticator(store.clone())
        .response_cache(store.clone());
    if anonymous_helpers {
        api.anonymous_helpers(store.clone())
    } else {
        api
    }
}

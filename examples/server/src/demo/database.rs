//! The data of the demo, in a file or in a PostgreSQL database: one flow, whichever it is.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use svc_core::api::ApiBuilder;
use svc_core::auth::{AnonymousTenant, Authenticator};
use svc_core::error::{Error, Result};
use svc_core::link::{Address, ShareNames};
use svc_core::ops::Webhooks;
use svc_core::raw::RawRecord;
use svc_core::store::{Load, Store};
use svc_core::{Changes, Context, Revision, Tenant};
use svc_postgres::ConnectError;
use svc_sqlite::FileError;
use svc_store::commits::Committed;
use svc_store::keys::{KeyError, KeyInfo, KeyOptions, KeyWebhooks, NewKey, Revocation};

use super::about::{about_file, about_server, said};
use super::location::{Location, Server};
use super::places::refuse_emptied;
use super::trouble::Trouble;

/// Connections of a command that runs beside a server.
const FEW: usize = 2;

/// The data, opened. Cheap to clone.
#[derive(Debug, Clone)]
pub enum Database {
    /// In a file.
    File(svc_sqlite::Store),
    /// In a database.
    Server(svc_postgres::Store, Box<Server>),
}

/// What a store has done and has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Writes in the queue now.
    pub writes_waiting: usize,
    /// Transactions until now.
    pub commits: Committed,
    /// Its connections.
    pub connections: Connections,
}

/// The connections of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connections {
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
enum Refused {
    /// Its share objects have these names, and no others.
    ShareNames(ShareNames),
    Other(Trouble),
}

/// The same call, whichever store it is.
macro_rules! either {
    ($database:expr, $store:ident => $call:expr) => {
        match $database {
            Database::File($store) => $call,
            Database::Server($store, _) => $call,
        }
    };
}

impl Database {
    /// Opens the data for a server, made when there is none. Its share names are fixed; others that
    /// are asked for are ignored and noted.
    pub(super) async fn open(
        location: &Location,
        asked: Option<ShareNames>,
        notes: &mut Vec<String>,
    ) -> Result<Self, Trouble> {
        match Self::with_names(location, asked.clone().unwrap_or_default()).await {
            Err(Refused::ShareNames(stored)) => {
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
                    .map_err(Refused::trouble)
            }
            other => other.map_err(Refused::trouble),
        }
    }

    /// Opens data that is there, for a command; a server may run on it.
    pub(super) async fn beside(location: &Location) -> Result<Self, Trouble> {
        match location {
            Location::File(path) => open_beside(path).map(Self::File),
            Location::Server(server) => {
                let there = svc_postgres::Store::is_there(&server.options()).await;
                if !there.map_err(|error| about_server(server, &error))? {
                    return Err(Trouble::new(
                        "The schema contains no data of this program.",
                        server.to_string(),
                        "Start the server once to create the data, or choose another schema with --schema.",
                    ));
                }
                Self::open(
                    &Location::Server(Box::new(server.with_connections(FEW))),
                    None,
                    &mut Vec::new(),
                )
                .await
            }
        }
    }

    async fn with_names(location: &Location, names: ShareNames) -> Result<Self, Refused> {
        match location {
            Location::File(path) => {
                let store =
                    svc_sqlite::Store::open(svc_sqlite::Options::new(path).share_names(names));
                store.map(Self::File).map_err(|error| match error {
                    FileError::ShareNames { stored, .. } => Refused::ShareNames(stored),
                    error => Refused::Other(about_file(&error)),
                })
            }
            Location::Server(server) => {
                let store = svc_postgres::Store::connect(server.options().share_names(names)).await;
                store
                    .map(|store| Self::Server(store, server.clone()))
                    .map_err(|error| match error {
                        ConnectError::ShareNames(stored) => Refused::ShareNames(stored),
                        error => Refused::Other(about_server(server, &error)),
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
    pub(super) fn trouble(&self, error: &Error) -> Trouble {
        match self {
            Self::File(store) if svc_sqlite::is_damaged(error) => Trouble::new(
                format!("The data file is damaged: {error:#}."),
                store.path().display().to_string(),
                "Restore a backup.",
            ),
            Self::File(store) => Trouble::new(
                format!(
                    "The data file cannot be read or written: {}.",
                    said(error, "it is in use, or the disk is full")
                ),
                store.path().display().to_string(),
                "Check that the disk has free space and that no other program has locked the file, then try again.",
            ),
            Self::Server(_, server) => Trouble::new(
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
    pub(super) async fn require_tenant(&self, name: &str) -> Result<(), Trouble> {
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
        Err(Trouble::new(
            format!("There is no tenant `{name}`."),
            format!("--tenant {name}"),
            hint,
        ))
    }

    pub(super) async fn create_key(
        &self,
        tenant: &Tenant,
        options: KeyOptions,
    ) -> Result<NewKey, KeyError> {
        either!(self, store => store.create_key(tenant, options).await)
    }

    pub(super) async fn add_key_with_token(
        &self,
        tenant: &Tenant,
        token: &str,
        options: KeyOptions,
    ) -> Result<KeyInfo, KeyError> {
        either!(self, store => store.add_key_with_token(tenant, token, options).await)
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

    pub(super) async fn get(&self, cx: &Context, at: &Address) -> Result<Option<RawRecord>> {
        either!(self, store => store.get(cx, at).await)
    }

    pub(super) async fn seed(&self, tenant: &Tenant, rows: Vec<Load>) -> Result<()> {
        either!(self, store => store.seed(tenant, rows).await)
    }

    pub(super) async fn mark(&self, name: &str, value: &str) -> Result<()> {
        either!(self, store => store.mark(name, value).await)
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
            Self::File(store) => store.read_mark(name),
            Self::Server(store, _) => store.read_mark(name).await,
        }
    }

    /// What it has done and has to do. It asks nobody.
    pub(super) fn stats(&self) -> Stats {
        let connections = match self {
            Self::File(store) => {
                let stats = store.stats();
                Connections::Readers {
                    open: stats.readers_open,
                    busy: stats.readers_busy,
                    waiting: stats.reads_waiting,
                }
            }
            Self::Server(store, _) => {
                let stats = store.stats();
                Connections::Pool {
                    busy: stats.connections_busy,
                    idle: stats.connections_idle,
                    wanted: stats.connections_wanted,
                }
            }
        };
        either!(self, store => {
            let stats = store.stats();
            Stats {
                writes_waiting: stats.writes_waiting,
                commits: stats.commits,
                connections,
            }
        })
    }
}

impl Refused {
    fn trouble(self) -> Trouble {
        match self {
            Self::Other(trouble) => trouble,
            // Opened with the names that it said.
            Self::ShareNames(names) => Trouble::new(
                "The share names of the data changed while it was being opened.",
                format!("{},{}", names.network_a(), names.network_b()),
                "Run the command again.",
            ),
        }
    }
}

/// Opens a data file that exists, for a command; a server may run on it.
pub(super) fn open_beside(path: &Path) -> Result<svc_sqlite::Store, Trouble> {
    refuse_emptied(path)?;
    svc_sqlite::Store::open(svc_sqlite::Options::new(path).beside_a_server())
        .map_err(|error| about_file(&error))
}

fn registered<S>(store: &S, api: ApiBuilder, anonymous_helpers: bool) -> ApiBuilder
where
    S: Store + Changes + Webhooks + Authenticator + AnonymousTenant + Revision + Clone,
{
    let shared = Arc::new(store.clone());
    let api = api.store(&shared).changes(&shared).webhooks(&shared);
    let api = api
        .authenticator(store.clone())
        .response_cache(store.clone());
    if anonymous_helpers {
        api.anonymous_helpers(store.clone())
    } else {
        api
    }
}

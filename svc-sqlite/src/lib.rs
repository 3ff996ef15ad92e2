//! The embedded reference backend of the Activist Data Exchange API: durable and fast, on SQLite.
//!
//! ```
//! use http::{Request, StatusCode};
//! use http_body_util::{BodyExt, Full};
//! use svc_core::api::{Api, Vendor};
//! use svc_sqlite::{KeyOptions, SqliteOptions, SqliteStore};
//! use svc_tower::SvcService;
//! use tower::ServiceExt;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("people.db");
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let store = SqliteStore::open(SqliteOptions::new(path))?;
//! let tenant = store.ensure_tenant("acme").await?;
//! let key = store.create_key(&tenant, KeyOptions::new("my first key")).await?;
//!
//! // Every kind and all eight helpers; the store is also what knows the keys.
//! let api = store
//!     .register_all(Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme")))
//!     .base_url("https://crm.acme.example/api/v1/")
//!     .authenticator(store.clone())
//!     .anonymous_helpers(store.clone())
//!     .build()?;
//! let service = SvcService::new(api).under("/api/v1");
//!
//! let person = r#"{"person": {"given_name": "Ada", "email_addresses": [{"address": "ada@example.org"}]}}"#;
//! let signup = Request::post("/api/v1/people/person_signup")
//!     .header("SVC-API-Token", &key.token)
//!     .body(Full::new(person.as_bytes()))?;
//! let response = service.oneshot(signup).await?;
//! assert_eq!(response.status(), StatusCode::OK);
//! let body = response.into_body().collect().await?.to_bytes();
//! assert!(body.windows(18).any(|part| part == br#""given_name":"Ada""#));
//! # Ok::<(), svc_core::Error>(())
//! # }).unwrap();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Types of other crates in this API: `svc_core`, of which it is a store.
//!
//! How it works, from the outside in:
//!
//! - The rules are in `svc-core`: this crate fetches and writes. `store` gives each call its turn
//!   inside a job of the `writer`, which commits many jobs with one sync and answers afterwards;
//!   `fetch` answers what the rulebook asks, `apply` writes what it changes. The parts of a store
//!   (`readers`, `writer`, `keys`, `tenants`, ...) know nothing of it.
//! - Everything goes for every kind: `schema`, `statements` and `sets` compose the SQL text from
//!   the tables of `svc-core`, from constant names only. Every statement names the tenant; the one
//!   exception is `tenants::owner`.
//! - A read takes a connection from `readers` on the calling thread. A row's fields are stored
//!   ready for the wire (`rows`), so nothing is parsed on the way out. Pages go by key (`page`),
//!   jumps through the offset index of `svc-core`.
//! - Inside, whatever fails is an `error::StoreError`; outside, a [`svc_core::Error`].

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod apply_changes;
mod backup;
mod group_commit;
mod check;
mod commit_counter;
#[cfg(feature = "mapped")]
mod dialect;
mod error;
mod export;
mod feed;
mod lookups;
mod file;
mod ordered_pages;
mod stored_responses;
mod keys;
#[cfg(feature = "mapped")]
mod mapped;
mod metadata;
mod migrate;
mod options;
mod outbox;
mod page;
mod read_pool;
mod record_id;
mod repair;
mod rows;
mod schema;
mod record_sets;
mod statements;
mod stats;
mod store;
mod tenant_deltas;
mod tenants;
mod wal;
mod writer;

pub use check::{Damage, check};
#[cfg(feature = "mapped")]
pub use dialect::DIALECT;
pub use file::{
    APPLICATION_ID, FileError, is_damaged, is_data_file, is_served, remove_data_file,
    sync_directory,
};
#[cfg(feature = "mapped")]
pub use mapped::SqliteDatabase;
pub use options::SqliteOptions;
pub use stats::SqliteStats;
pub use store::SqliteStore;
pub use svc_store::keys::{CreatedKey, KeyError, KeyInfo, KeyOptions, KeyWebhooks, Revocation};

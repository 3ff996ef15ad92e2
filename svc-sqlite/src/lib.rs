//! A durable store for the Activist Data Exchange API in one SQLite file.
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
//! // Every kind and all eight helpers. The store also authenticates the keys.
//! let api = store
//!     .register_all(Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme")))
//!     .base_url("https://crm.acme.example/api/v1/")
//!     .authenticator(store.clone())
//!     .anonymous_helpers(store.clone())
//!     .build()?;
//! let service = SvcService::new(api).mounted_at("/api/v1");
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
//! The public API uses types of `svc_core`, whose store traits this crate implements.
//!
//! For contributors, the modules of the crate:
//!
//! - The rules are in `svc-core`; this crate reads and writes. `store` passes each write request to
//!   the `writer`, which commits many requests with one sync to the disk and responds afterwards.
//!   `lookups` executes the lookups of the rules, and `apply_changes` writes their changes. The other
//!   parts (`read_pool`, `writer`, `keys`, `tenants`, ...) do not depend on `store`.
//! - All kinds share the same code. `schema`, `statements` and `record_sets` compose the SQL text
//!   from constant names only: those of the tables of kinds in `svc-core`. Every statement names the
//!   tenant. The one exception is `tenants::owner`.
//! - A read uses a connection of `read_pool` on the calling thread. The fields of a row are stored as
//!   the JSON of the response (`rows`), so a read does not parse them. A page after a `next` link is
//!   read by its key (`page`). A jump to a page number uses the offset index of `svc-store`.
//! - Inside the crate, every failure is an `error::StoreError`. Callers get a [`svc_core::Error`].

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

mod aliases;
mod apply_changes;
mod backup;
mod check;
mod commit_counter;
#[cfg(feature = "mapped")]
mod dialect;
mod duplicates;
mod error;
mod export;
mod feed;
mod file;
mod group_commit;
mod keys;
mod lookups;
#[cfg(feature = "mapped")]
mod mapped;
mod merges;
mod metadata;
mod migrate;
mod options;
mod ordered_pages;
mod outbox;
mod page;
mod read_pool;
mod record_id;
mod record_sets;
mod recount;
mod repair;
mod rows;
mod schema;
mod statements;
mod stats;
mod store;
mod stored_responses;
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

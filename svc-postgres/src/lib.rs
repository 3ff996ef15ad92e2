//! A store for the Activist Data Exchange API on PostgreSQL, for data that is too large for one
//! file, and for servers with several processes.
//!
//! [`PostgresStore::connect`] creates the tables and returns a store.
//! [`PostgresStore::register_all`] registers every kind and all eight helpers. The [`guide`]
//! describes deployments on one machine, with a pooler, with a replica, and on a cluster.
//! [`operations`] describes failover, failures and metrics.
//!
//! For contributors, the modules of the crate:
//!
//! - The rules are in `svc-core`; this crate reads and writes. `write_queue` has a queue for each
//!   tenant. A `transaction` needs two round trips to the database, however many write requests it
//!   contains. The first one locks the row of the tenant and executes the lookups (`lookups`). The
//!   second one writes the changes (`apply_changes`) and commits. Both have one statement per table.
//! - On a cluster, the statements of a tenant can go directly to its worker (`citus_workers`).
//! - All SQL texts are in `statements` and `record_sets`. They are composed from constant names
//!   only, and name the tenant first. All kinds are in one table. `record_layout` defines the columns
//!   of their links.
//! - A read is one round trip (`database`). A page after a `next` link is read by its key (`page`).
//!   For a jump to a page number, the positions of the records are in memory (`page_jumps`).
//! - A connection returns to the `pool` only if no transaction is open on it. The statements of a
//!   `pipeline` are sent together, without waiting for each result.
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

mod apply_changes;
mod citus_workers;
mod cluster;
mod collection_query;
mod connect;
mod database;
#[cfg(feature = "mapped")]
mod dialect;
mod duplicates;
mod error;
mod feed;
mod lease;
mod lookups;
#[cfg(feature = "mapped")]
mod mapped;
mod migrate;
mod options;
mod ordered_pages;
mod page;
mod page_jumps;
mod pipeline;
mod pool;
mod record_layout;
mod record_sets;
mod rows;
mod sqlstate;
mod statements;
mod stats;
mod store;
#[cfg(feature = "tls")]
mod tls;
mod transaction;
mod write_queue;

#[doc = include_str!("guide.md")]
pub mod guide {}

#[doc = include_str!("operations.md")]
pub mod operations {}

#[cfg(feature = "mapped")]
pub use dialect::DIALECT;
pub use error::ConnectError;
#[cfg(feature = "mapped")]
pub use mapped::PostgresDatabase;
pub use options::{PostgresOptions, StatementMode, read_url};
pub use stats::PostgresStats;
pub use store::{PostgresStore, RestoreProgress};
pub use svc_store::keys::{CreatedKey, KeyError, KeyInfo, KeyOptions, KeyWebhooks, Revocation};

/// Returns every statement for the tables of a schema by name, for tests of its query plans.
#[doc(hidden)]
#[must_use]
pub fn statements_for_tests(schema: &str) -> Vec<(String, String)> {
    let texts = statements::Texts::of(schema);
    let own = texts
        .all()
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text.to_owned()));
    own.chain(record_sets::all(schema)).collect()
}

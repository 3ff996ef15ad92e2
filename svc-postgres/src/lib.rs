//! A store for the Activist Data Exchange API on PostgreSQL, for data that is too large for one
//! file, and for several processes.
//!
//! [`PostgresStore::connect`] creates the tables and returns a store that registers every kind and
//! all eight helpers. The [`guide`] describes deployments on one machine, with a pooler, with a
//! replica, and on a cluster.
//!
//! How it works, from the outside in:
//!
//! - The rules are in `svc-core`; this crate reads and writes. `write_queue` has a queue for each
//!   tenant. A `transaction` has two round trips, however many write requests it has.
//!   The first round trip locks the tenant's row of the ledger and executes the lookups. The second
//!   one writes the changes and commits. `lookups` and `apply_changes` collect both, with one statement per
//!   table.
//! - On a cluster, the statements of a tenant can go directly to its worker (`citus_workers`).
//! - All SQL texts are in `statements` and `record_sets`. They are composed from constant names only, and name
//!   the tenant first. All kinds are in one table. `record_layout` defines the columns of their links.
//! - A read is one round trip (`database`). A page is read by key (`page`). For a jump to a page,
//!   the members are in memory (`page_jumps`).
//! - A connection returns to the `pool` only if nothing is open on it. The statements of a
//!   `pipeline` are sent without waiting in between.
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
pub use store::PostgresStore;
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

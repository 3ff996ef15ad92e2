//! The Activist Data Exchange API on PostgreSQL: for people who do not fit one file, and for
//! several processes.
//!
//! [`PostgresStore::connect`] makes the tables and gives a store that registers every kind and all
//! eight helpers; the [`guide`] says what is to be thought of on one machine, behind a pooler, with
//! a replica, and on a cluster.
//!
//! How it works, from the outside in:
//!
//! - The rules are in `svc-core`: this crate fetches and writes. `turns` has a queue for each
//!   tenant; a `turn` is one transaction of two round trips, however many calls it has: the first
//!   locks the tenant's row of the ledger and fetches what the calls ask, the second writes what
//!   they change and commits. `fetch` and `apply` gather both, one statement a table.
//! - On a cluster the statements of a tenant may go straight to its worker (`workers`).
//! - Every text is in `texts` and `sets`, composed from constant names only, and names the tenant
//!   first. All kinds are in one table; where their links lie in it is said by `layout`.
//! - A read is one round trip (`database`), of a page by key (`page`); a jump to a page has its
//!   members in memory (`jumps`).
//! - A connection goes back to the `pool` clean, or not at all. Statements of a `pipeline` are sent
//!   without waiting in between.
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

mod apply;
mod cluster;
mod connect;
mod database;
#[cfg(feature = "mapped")]
mod dialect;
mod error;
mod feed;
mod fetch;
mod filtered;
mod jumps;
mod layout;
mod lease;
#[cfg(feature = "mapped")]
mod mapped;
mod migrate;
mod options;
mod page;
mod pipeline;
mod place;
mod pool;
mod rows;
mod sets;
mod sqlstate;
mod stats;
mod store;
mod texts;
#[cfg(feature = "tls")]
mod tls;
mod turn;
mod turns;
mod workers;

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

/// Every statement for the tables of a schema, by name: for tests of how a server plans them.
#[doc(hidden)]
#[must_use]
pub fn statements_for_tests(schema: &str) -> Vec<(String, String)> {
    let texts = texts::Texts::of(schema);
    let own = texts
        .all()
        .into_iter()
        .map(|(name, text)| (name.to_owned(), text.to_owned()));
    own.chain(sets::all(schema)).collect()
}

//! The Activist Data Exchange API on PostgreSQL: for people who do not fit one file, and for several processes.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod apply;
mod connect;
mod database;
mod error;
mod fetch;
mod jumps;
mod layout;
mod migrate;
mod options;
mod page;
mod pipeline;
mod place;
mod pool;
mod rows;
mod sets;
mod stats;
mod store;
mod texts;
#[cfg(feature = "tls")]
mod tls;
mod turn;
mod turns;

pub use error::ConnectError;
pub use options::{Options, Pages, Statements};
pub use stats::Stats;
pub use store::Store;
pub use svc_core::store::keys::{KeyError, KeyInfo, KeyOptions, NewKey};

/// Every statement for the tables of a schema, by name: for tests of how a server plans them.
#[doc(hidden)]
#[must_use]
pub fn statements_for_tests(schema: &str) -> Vec<(String, String)> {
    let texts = texts::Texts::of(schema);
    let own = texts.all().into_iter().map(|(name, text)| (name.to_owned(), text.to_owned()));
    own.chain(sets::all(schema)).collect()
}

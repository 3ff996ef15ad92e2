//! Mapped stores: a vendor's own tables as data, and everything else from the library.
//!
//! A vendor says which table is which kind, which column which field, and where the tenant stands
//! ([`Mapping`]), and gives a connection ([`Database`]). The library does pages, scopes, cursors,
//! matching, foreign identifiers, cascades and all helpers, by the same rulebook as its own stores,
//! each call in one transaction over the vendor's tables. Nothing of the vendor's changes: columns
//! that the mapping does not name stay as they are. Foreign identifiers and the like are in four
//! tables of the library's own ([`own_tables`]).
//!
//! ```text
//! Mapping ──┐
//!           ├─► resolve (against the live tables: every problem at once, with the SQL that mends it) ─► Resolved
//! tables  ──┘
//! Call ─► rulebook ─► questions ─► select, ask ─► Statement ─► Database ─► rows ─► row ─► answers
//!                 └─► changes ─► apply ─► Statement ─► Database
//! ```
//!
//! Kinds that a mapping cannot say are left out of it and written by hand, with
//! [`ApiBuilder::resource`](svc_core::ApiBuilder::resource) beside
//! [`MappedStore::register`].
//!
//! The total of a collection is counted by the database each time (`SELECT count(*)` by an index):
//! the vendor's own program writes the same rows, so that nobody else could know it. A page that
//! `next` leads to is found by its cursor, whatever its number.

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
mod ask;
mod class;
mod database;
mod live;
mod mapping;
mod narrowing;
mod outgoing;
mod pages;
mod resolve;
mod resolved;
mod row;
mod select;
mod sql;
mod store;
mod texts;
mod turns;

pub use database::{Database, Engine, Row, Statement, Transaction, Trouble};
pub use mapping::{Mapping, Rows, Table, Tenants};
pub use store::MappedStore;

use svc_core::error::Error;

/// Why a mapping cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MappingError {
    /// The tables are others than the mapping says: a sentence each, with the SQL that mends it.
    #[error("the mapping does not fit the tables:\n  - {}", .0.join("\n  - "))]
    Tables(Vec<String>),
    /// The database cannot be read.
    #[error("the tables cannot be read: {0}")]
    Database(Trouble),
    /// The system has no random numbers, or a secret was damaged.
    #[error("{0:?}")]
    Other(Error),
}

impl From<Trouble> for MappingError {
    fn from(trouble: Trouble) -> Self {
        Self::Database(trouble)
    }
}

impl From<Error> for MappingError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// What former versions noted to be sent, and nobody sent: nothing would erase it with its people
/// any more.
const FORMER: &str = "DROP TABLE IF EXISTS svc_outbox";

/// The SQL of this library's own tables beside the vendor's; running it again changes nothing.
#[must_use]
pub fn own_tables(engine: Engine) -> [&'static str; 8] {
    match engine {
        Engine::Postgres => [
            "CREATE TABLE IF NOT EXISTS svc_turns (tenant text PRIMARY KEY, clock bigint NOT NULL)",
            "CREATE TABLE IF NOT EXISTS svc_identifiers (tenant text NOT NULL, kind text NOT NULL, identifier text NOT NULL, \
             record text NOT NULL, place bigint NOT NULL, PRIMARY KEY (tenant, kind, identifier))",
            "CREATE INDEX IF NOT EXISTS svc_identifiers_record ON svc_identifiers (tenant, kind, record)",
            "CREATE TABLE IF NOT EXISTS svc_secrets (name text PRIMARY KEY, secret text NOT NULL)",
            "CREATE TABLE IF NOT EXISTS svc_dispatches (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, \
             tenant text NOT NULL, person text, due bigint NOT NULL, attempts bigint NOT NULL, body text NOT NULL)",
            "CREATE INDEX IF NOT EXISTS svc_dispatches_person ON svc_dispatches (tenant, person)",
            "CREATE INDEX IF NOT EXISTS svc_dispatches_due ON svc_dispatches (due)",
            FORMER,
        ],
        Engine::Sqlite => [
            "CREATE TABLE IF NOT EXISTS svc_turns (tenant TEXT PRIMARY KEY, clock INTEGER NOT NULL)",
            "CREATE TABLE IF NOT EXISTS svc_identifiers (tenant TEXT NOT NULL, kind TEXT NOT NULL, identifier TEXT NOT NULL, \
             record TEXT NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (tenant, kind, identifier)) WITHOUT ROWID",
            "CREATE INDEX IF NOT EXISTS svc_identifiers_record ON svc_identifiers (tenant, kind, record)",
            "CREATE TABLE IF NOT EXISTS svc_secrets (name TEXT PRIMARY KEY, secret TEXT NOT NULL)",
            // An id never comes again: who settles one that is gone settles no other.
            "CREATE TABLE IF NOT EXISTS svc_dispatches (id INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, \
             person TEXT, due INTEGER NOT NULL, attempts INTEGER NOT NULL, body TEXT NOT NULL)",
            "CREATE INDEX IF NOT EXISTS svc_dispatches_person ON svc_dispatches (tenant, person)",
            "CREATE INDEX IF NOT EXISTS svc_dispatches_due ON svc_dispatches (due)",
            FORMER,
        ],
    }
}

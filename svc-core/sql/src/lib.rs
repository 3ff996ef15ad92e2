//! Mapped stores: a vendor's own tables as data, and everything else from the library.
//!
//! A vendor says which table is which kind, which column which field, and where the tenant stands
//! ([`Mapping`]), and gives a connection ([`Database`]). The library does pages, scopes, cursors,
//! matching, foreign identifiers, cascades and all helpers, by the same rulebook as its own stores,
//! each call in one transaction over the vendor's tables. Nothing of the vendor's changes: columns
//! that the mapping does not name stay as they are. Foreign identifiers and the like are in four
//! tables of the library's own ([`Dialect::own_tables`]).
//!
//! ```text
//! Mapping ──┐
//!           ├─► resolve (against the live tables: every problem at once, with the SQL that mends it) ─► ResolvedMapping
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
mod lookups;
mod database;
mod dialect;
mod introspect;
mod mapping;
mod narrowing;
mod outgoing;
mod pages;
mod resolve;
mod resolved_mapping;
mod row;
mod select;
mod sql;
mod statement;
mod store;
mod text_checks;
mod tenant_locks;

pub use database::{Database, DatabaseError, TextRow, Transaction};
pub use dialect::{ColumnType, Dialect};
pub use mapping::{ListMapping, Mapping, TableMapping, TenantMapping};
pub use statement::Statement;
pub use store::MappedStore;

use svc_core::error::Error;

/// Why a mapping cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MappingError {
    /// The tables are others than the mapping says: a sentence each, with the SQL that mends it.
    #[error("the mapping does not fit the tables:\n  - {}", .0.join("\n  - "))]
    InvalidMapping(Vec<String>),
    /// The database cannot be read.
    #[error("the tables cannot be read: {0}")]
    Database(DatabaseError),
    /// The system has no random numbers, or a secret was damaged.
    #[error("{0:?}")]
    Other(Error),
}

impl From<DatabaseError> for MappingError {
    fn from(trouble: DatabaseError) -> Self {
        Self::Database(trouble)
    }
}

impl From<Error> for MappingError {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

//! A store over the existing tables of a vendor (a *mapped store*).
//!
//! A vendor describes its tables as data ([`Mapping`]): which table contains which kind, which
//! column contains which field, and to which tenant a row belongs. It also provides a connection
//! ([`Database`]). The library provides pages of collections, person matching, foreign identifiers,
//! deletion of dependent records that are mapped, and all helpers except the schedule helper.
//!
//! It uses the same rules as the other stores, and executes each write request in one transaction
//! over the vendor's tables. It does not change the schema of these tables, or columns outside of
//! the mapping. Foreign identifiers and similar data are in five tables of the library
//! ([`SqlDialect::library_tables`]).
//!
//! ```text
//! Mapping ──┐
//!           ├─► resolve (against the live tables: reports every problem with the SQL that fixes it) ─► ResolvedMapping
//! tables  ──┘
//! WriteRequest ─► rules ─► lookups ─► select, lookups ─► Statement ─► Database ─► rows ─► row ─► lookup results
//!                     └─► changes ─► apply ─► Statement ─► Database
//! ```
//!
//! Some kinds cannot be described by a mapping. Implement the operations of such a kind yourself,
//! and register them with [`ApiBuilder::resource`](svc_core::ApiBuilder::resource), in addition to
//! [`MappedStore::register`].
//!
//! The database counts the total of a collection for each page (`SELECT count(*)` with an index),
//! because the vendor's own program also writes these rows. A page from a `next` link is found by
//! its cursor. Its cost does not depend on the page number.

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
mod column;
mod constraints;
mod database;
mod dialect;
mod introspect;
mod lookups;
mod mapping;
mod outbox;
mod pages;
mod resolve;
mod resolved_mapping;
mod row;
mod select;
mod sql;
mod statement;
mod store;
mod tenant_locks;
mod value_checks;

pub use column::Column;
pub use database::{Database, DatabaseError, TextRow, Transaction};
pub use dialect::{ColumnType, RowLock, SqlDialect};
pub use mapping::{EntryMapping, ListMapping, Mapping, TableMapping, TenantMapping};
pub use statement::Statement;
pub use store::MappedStore;

use svc_core::error::Error;

/// Error raised when a mapping cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MappingError {
    /// The tables do not fit the mapping. Contains one sentence for each problem, with the SQL that
    /// fixes it.
    #[error("the mapping does not fit the tables:\n  - {}", .0.join("\n  - "))]
    InvalidMapping(Vec<String>),
    /// The database cannot be read.
    #[error("the tables cannot be read: {0}")]
    Database(DatabaseError),
    /// The system provides no random bytes, or a stored secret is damaged.
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

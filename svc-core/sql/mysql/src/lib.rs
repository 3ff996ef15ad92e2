//! MySQL and MariaDB as the database of a mapped store, see
//! [`MappedStore::connect`](svc_sql::MappedStore::connect).
//!
//! [`MysqlDatabase`] is a pool of connections. [`DIALECT`] is the SQL of both servers, for a
//! [`Database`](svc_sql::Database) around another client.
//!
//! It supports MySQL 8.0.20 and later, and MariaDB 10.6 and later, with tables of InnoDB.

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

mod catalog;
mod database;
mod dialect;
mod error;
mod options;
mod pool;
#[cfg(feature = "tls")]
mod tls;

pub use database::MysqlDatabase;
pub use dialect::{DIALECT, SESSION_STATEMENTS};
pub use options::{MysqlOptions, UrlError};

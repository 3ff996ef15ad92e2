//! A mapping of the tables of an old program, which stay as they are: one wide table of supporters, numbered
//! ids, amounts in cents, and deleted rows that remain. `bin/wide_postgres.rs` serves it.

mod mapping;

use std::{sync::Arc, time::Duration};

use svc_core::{Api, Vendor, auth::CachedAuthenticator};
use svc_sql::{Database, MappedStore, MappingError};
use svc_tower::{SvcService, server::Server};
use tokio::net::TcpListener;

use crate::mapped::ApiKeys;

pub use mapping::mapping;

/// The tables of the program, for PostgreSQL.
pub const TABLES: &str = include_str!("tables.sql");
/// The indexes that the library needs.
pub const INDEXES: &str = include_str!("indexes.sql");
/// Rows of the tables.
pub const ROWS: &str = include_str!("rows.sql");

/// The tables of the program, their indexes and rows, for MySQL and MariaDB.
pub const MYSQL: [&str; 3] = [
    include_str!("mysql_tables.sql"),
    include_str!("mysql_indexes.sql"),
    include_str!("mysql_rows.sql"),
];

/// Returns the API over the tables, with a base URL.
///
/// # Errors
///
/// Returns an error if the mapping does not fit the tables, or the API cannot be built.
pub async fn interface(
    database: Arc<dyn Database>,
    base_url: &str,
) -> Result<SvcService, MappingError> {
    let store = MappedStore::connect(mapping(), Arc::clone(&database)).await?;
    let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"))
        .base_url(base_url)
        .authenticator(CachedAuthenticator::new(
            ApiKeys::new(database),
            Duration::from_secs(5),
        ));
    let api = store.register(api);
    let api = api.build().map_err(svc_core::Error::unexpected)?;
    Ok(SvcService::new(api).with_docs(svc_docs::Docs::new()))
}

/// Serves the API at an address until the process is stopped.
///
/// # Errors
///
/// Returns an error if the address is in use, or the mapping does not fit the tables.
pub async fn serve(
    database: Arc<dyn Database>,
    address: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind(address).await?;
    let base_url = format!("http://{}/", listener.local_addr()?);
    let service = interface(database, &base_url).await?;
    println!("{base_url}");
    Ok(Server::new(service).serve(listener).await?)
}

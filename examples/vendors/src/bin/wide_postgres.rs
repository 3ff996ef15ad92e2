//! A mapping of the wide PostgreSQL tables of an old program: `cargo run --bin wide_postgres URL [ADDRESS]`.
//! Create the tables with `examples/vendors/src/wide/tables.sql`, and the indexes with
//! `examples/vendors/src/wide/indexes.sql`. The API keys are in the table `api_keys`.

use std::{error::Error, sync::Arc};

use svc_postgres::{PostgresDatabase, PostgresOptions};
use svc_sql::MappedStore;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or(
        "the database URL is missing; usage: wide_postgres postgres://user@host/database [ADDRESS]",
    )?;
    let address = arguments
        .next()
        .unwrap_or_else(|| "127.0.0.1:8085".to_owned());
    let database = Arc::new(PostgresDatabase::new(&PostgresOptions::new(&url)?));
    MappedStore::create_library_tables(&database).await?;
    svc_vendor_examples::wide::serve(database, &address).await
}

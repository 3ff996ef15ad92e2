//! The tables of `mapped_postgres` in a SQLite file:
//! `cargo run --bin mapped_sqlite FILE [ADDRESS]`. Create the tables with
//! `examples/vendors/src/mapped/sqlite.sql`.

use std::{error::Error, sync::Arc};

use svc_sql::MappedStore;
use svc_sqlite::SqliteDatabase;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments
        .next()
        .ok_or("the file is missing; usage: mapped_sqlite FILE [ADDRESS]")?;
    let address = arguments
        .next()
        .unwrap_or_else(|| "127.0.0.1:8086".to_owned());
    let database = Arc::new(SqliteDatabase::open(&file)?);
    MappedStore::create_library_tables(&database).await?;
    svc_vendor_examples::mapped::serve(database, &address).await
}

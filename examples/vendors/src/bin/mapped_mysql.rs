//! A mapping of the MySQL or MariaDB tables of a CRM: `cargo run --bin mapped_mysql URL [ADDRESS]`.
//! Create the tables with `examples/vendors/src/mapped/mysql.sql`. The API keys are in the table
//! `api_keys`.

use std::{error::Error, sync::Arc};

use svc_mysql::{MysqlDatabase, MysqlOptions};
use svc_sql::MappedStore;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or(
        "the database URL is missing; usage: mapped_mysql mysql://user@host/database [ADDRESS]",
    )?;
    let address = arguments
        .next()
        .unwrap_or_else(|| "127.0.0.1:8087".to_owned());
    let database = Arc::new(MysqlDatabase::new(&MysqlOptions::new(&url)?));
    MappedStore::create_library_tables(&database).await?;
    svc_vendor_examples::mapped::serve(database, &address).await
}

//! An existing program over PostgreSQL with the API:
//! `cargo run --bin vendor_postgres DATABASE_URL [ADDRESS]`.
//!
//! The tables of `src/postgres/tables.sql` and `more.sql`, and the keys, must exist.

use std::{sync::Arc, time::Duration};

use axum::{Router, routing::get};
use svc_core::Result;
use svc_vendor_examples::postgres::{PostgresCrm, interface};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments
        .next()
        .ok_or("the database URL is missing")
        .map_err(svc_core::Error::unexpected)?;
    let listener =
        TcpListener::bind(arguments.next().as_deref().unwrap_or("127.0.0.1:8087")).await?;
    let base_url = format!("http://{}/api/v1/", listener.local_addr()?);
    let service = interface(&Arc::new(PostgresCrm::at(&url, 16)?), &base_url)?
        .request_timeout(Some(Duration::from_secs(5)));
    let pages = Router::new().route("/", get(|| async { "The pages of the existing program." }));
    axum::serve(listener, pages.nest_service("/api/v1", service)).await?;
    Ok(())
}

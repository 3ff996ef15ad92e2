//! The API in an existing axum program, under `/api/v1`:
//! `cargo run --bin axum_mount [ADDRESS [FILE]]`.

use axum::Router;
use axum::routing::get;
use svc_core::api::{Api, Vendor};
use svc_docs::Docs;
use svc_sqlite::{KeyOptions, SqliteOptions, SqliteStore};
use svc_tower::{SvcService, server::Server};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> svc_core::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let listener =
        TcpListener::bind(arguments.next().as_deref().unwrap_or("127.0.0.1:8081")).await?;
    let base_url = format!("http://{}/api/v1/", listener.local_addr()?);

    // The backend. You can implement the traits of `svc_core::backend` over your own tables instead.
    let store = SqliteStore::open(SqliteOptions::new(
        arguments.next().as_deref().unwrap_or("mounted.db"),
    ))?;
    let tenant = store.ensure_tenant("mine").await?;
    let key = store
        .create_key(&tenant, KeyOptions::new("mounting example"))
        .await?;

    let api = store
        .register_all(Api::builder(
            Vendor::new("Acme", "Acme CRM").namespace("acme"),
        ))
        .base_url(&base_url)
        .authenticator(store.clone())
        .build()?;

    // axum removes the prefix from the path before it calls the service.
    let app = Router::new()
        .route("/", get(|| async { "The pages of the existing program." }))
        .nest_service("/api/v1", SvcService::new(api).with_docs(Docs::new()));

    println!("curl -H 'SVC-API-Token: {}' {base_url}", key.token);
    Server::new(app).serve(listener).await?;
    Ok(())
}

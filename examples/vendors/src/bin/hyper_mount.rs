//! The API on bare hyper: `cargo run --bin hyper_mount [ADDRESS [FILE]]`.
//!
//! The program is self-contained, so that you can copy it. Its backend is the same as in
//! `axum_mount`. It is for programs that already have such a loop: it only limits the time for a
//! head. `svc_tower::server` limits everything that a client can delay.

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use svc_core::api::{Api, Vendor};
use svc_docs::Docs;
use svc_sqlite::{KeyOptions, SqliteOptions, SqliteStore};
use svc_tower::SvcService;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> svc_core::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let listener =
        TcpListener::bind(arguments.next().as_deref().unwrap_or("127.0.0.1:8082")).await?;
    let base_url = format!("http://{}/", listener.local_addr()?);

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
    let service = SvcService::new(api).with_docs(Docs::new());

    println!("curl -H 'SVC-API-Token: {}' {base_url}", key.token);
    loop {
        let (stream, _) = listener.accept().await?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            let mut server = http1::Builder::new();
            let connection = server
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), service);
            if let Err(error) = connection.await {
                eprintln!("a connection ended: {error}");
            }
        });
    }
}

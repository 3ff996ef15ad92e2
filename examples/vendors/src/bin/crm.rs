//! An existing CRM with the API: `cargo run --bin crm [ADDRESS [FILE]]`.

use std::sync::Arc;

use svc_core::Result;
use svc_tower::server::Server;
use svc_vendor_examples::crm::{Crm, existing::pages, interface};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let listener =
        TcpListener::bind(arguments.next().as_deref().unwrap_or("127.0.0.1:8086")).await?;
    let base_url = format!("http://{}/api/v1/", listener.local_addr()?);
    let crm = Arc::new(Crm::open(arguments.next().as_deref().unwrap_or("crm.db"))?);
    let key = crm.new_key(crm.company("Acme").await?, true).await?;
    let app = pages(Arc::clone(&crm)).nest_service("/api/v1", interface(&crm, &base_url)?);
    println!("curl -H 'SVC-API-Token: {key}' {base_url}");
    Ok(Server::new(app).serve(listener).await?)
}

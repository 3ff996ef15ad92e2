//! The laws of a store over PostgreSQL, against the store in memory. `SVC_LAWS` is how many histories, and `SVC_LAWS_SEED` the
//! seed of the first.

mod support;

use std::sync::atomic::{AtomicU32, Ordering};

use svc_core::laws::{Broken, Laws};
use svc_postgres::{Options, Store};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_keeps_the_laws() -> Result<(), Broken> {
    if !support::enabled() {
        return Ok(());
    }
    // Nothing is killed here: syncs would only take time.
    let server = support::server::Server::with(&[("fsync", "off"), ("synchronous_commit", "off")]);
    let store = Store::connect(Options::new(&server.url()).unwrap().schema(&server.schema())).await.unwrap();
    let made = AtomicU32::new(0);
    let number = |name| std::env::var(name).ok().and_then(|number| number.parse().ok());
    Laws::new()
        .histories(number("SVC_LAWS").unwrap_or(300))
        .seed(number("SVC_LAWS_SEED").unwrap_or_default())
        .check(async || {
            let number = made.fetch_add(1, Ordering::Relaxed);
            let (one, two) = (
                store.ensure_tenant(&format!("one{number}")).await,
                store.ensure_tenant(&format!("two{number}")).await,
            );
            (store.clone(), [one.unwrap(), two.unwrap()])
        })
        .await
}

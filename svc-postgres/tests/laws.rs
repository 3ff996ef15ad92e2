//! The laws of a store over PostgreSQL, against the store in memory. `SVC_LAWS` is how many histories, and `SVC_LAWS_SEED` the
//! seed of the first.

#[path = "../../svc-sqlite/tests/polling/mod.rs"]
mod polling;
mod support;

use std::sync::atomic::{AtomicU32, Ordering};

use svc_core::laws::{Broken, Laws, check_filters};
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

/// FLT-01, FLT-02, FLT-05, FLT-08, FLT-09, FLT-11: 5 000 filters and orders show what an evaluation of each record shows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flt_01_filters_show_what_each_record_says() -> Result<(), Broken> {
    let Some(server) = support::server() else { return Ok(()) };
    let store = Store::connect(Options::new(&server.url()).unwrap().schema(&server.schema())).await.unwrap();
    let (one, two) = (store.ensure_tenant("one").await, store.ensure_tenant("two").await);
    check_filters(&store, [one.unwrap(), two.unwrap()], 5_000).await
}

/// FLT-12: 8 writers, one call in ten rolled back, and a poller by `modified_date`.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn flt_12_a_poller_by_date_misses_nothing() {
    let Some(server) = support::server() else { return };
    let store = Store::connect(Options::new(&server.url()).unwrap().schema(&server.schema())).await.unwrap();
    let tenant = store.ensure_tenant("demo").await.unwrap();
    polling::misses_nothing(&store, &tenant).await;
}

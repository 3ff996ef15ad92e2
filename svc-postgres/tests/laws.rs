//! The laws of a store, over a PostgreSQL server: `SVC_POSTGRES=postgres://...`.

use std::sync::atomic::{AtomicU32, Ordering};

use svc_core::laws::{Broken, Laws};
use svc_postgres::{Options, Store};

#[tokio::test]
async fn the_store_keeps_the_laws() -> Result<(), Broken> {
    let Ok(url) = std::env::var("SVC_POSTGRES") else {
        println!("SKIPPED: SVC_POSTGRES names no server");
        return Ok(());
    };
    let schema = format!("laws_{}", std::process::id());
    let store = Store::connect(Options::new(&url).unwrap().schema(&schema)).await.unwrap();
    let made = AtomicU32::new(0);
    let number = std::env::var("SVC_LAWS").ok().and_then(|number| number.parse().ok()).unwrap_or(300);
    Laws::new()
        .histories(number)
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

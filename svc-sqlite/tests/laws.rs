//! The laws of a store, over a real file.

use std::sync::atomic::{AtomicU32, Ordering};

use svc_core::laws::{Broken, check};
use svc_sqlite::{Options, Store};

#[tokio::test]
async fn the_store_keeps_the_laws() -> Result<(), Broken> {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(Options::new(folder.path().join("data.db")).synchronous_normal()).unwrap();
    let made = AtomicU32::new(0);
    // One file, and new tenants for each history.
    check(async || {
        let number = made.fetch_add(1, Ordering::Relaxed);
        let (one, two) =
            (store.ensure_tenant(&format!("one{number}")).await, store.ensure_tenant(&format!("two{number}")).await);
        (store.clone(), [one.unwrap(), two.unwrap()])
    })
    .await
}

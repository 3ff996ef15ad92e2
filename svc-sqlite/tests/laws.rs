//! The laws of a store, over a real file.

use std::sync::atomic::{AtomicU32, Ordering};

use svc_core::Tenant;
use svc_core::laws::{Broken, check, check_feed, check_feed_among_writers, check_webhooks};
use svc_sqlite::{Options, Store};

/// One file, with new tenants for each history.
struct File {
    store: Store,
    made: AtomicU32,
    _folder: tempfile::TempDir,
}

impl File {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Options::new(folder.path().join("data.db")).synchronous_normal()).unwrap();
        Self { store, made: AtomicU32::new(0), _folder: folder }
    }

    async fn next(&self) -> (Store, [Tenant; 2]) {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let one = self.store.ensure_tenant(&format!("one{number}")).await.unwrap();
        let two = self.store.ensure_tenant(&format!("two{number}")).await.unwrap();
        (self.store.clone(), [one, two])
    }
}

#[tokio::test]
async fn the_store_keeps_the_laws() -> Result<(), Broken> {
    let file = File::new();
    check(async || file.next().await).await
}

/// SYN-02, SYN-04: who follows the feed has what is there.
#[tokio::test]
async fn syn_02_the_feed_is_complete() -> Result<(), Broken> {
    let file = File::new();
    check_feed(async || file.next().await).await
}

/// SYN-02, SYN-04: nothing is missed of what writers do at the same time; `SVC_FEED_CALLS=100000` for many.
#[tokio::test]
async fn syn_04_a_poller_among_writers_misses_nothing() -> Result<(), Broken> {
    let file = File::new();
    let (store, [tenant, _]) = file.next().await;
    let calls = std::env::var("SVC_FEED_CALLS").ok().and_then(|number| number.parse().ok());
    check_feed_among_writers(&[store], &tenant, calls.unwrap_or(1_000)).await
}

/// HOOK-12, HOOK-14: webhooks are kept as they must be.
#[tokio::test]
async fn hook_14_webhooks_are_kept() -> Result<(), Broken> {
    let file = File::new();
    let (store, tenants) = file.next().await;
    check_webhooks(&store, tenants).await
}

//! The tests of the store testkit, on a real file.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use svc_core::Tenant;
use svc_core::value::Timestamp;
use svc_sqlite::{SqliteOptions, SqliteStore};
use svc_store::store_testkit::{
    ContractViolation, NumberedPages, StoreTests, check, check_feed, check_feed_among_writers,
    check_feed_expires, check_outgoing, check_webhooks,
};

/// One file, with new tenants for each history.
struct File {
    store: SqliteStore,
    made: AtomicU32,
    _folder: tempfile::TempDir,
}

impl File {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(
            SqliteOptions::new(folder.path().join("data.db")).relaxed_durability(),
        )
        .unwrap();
        Self {
            store,
            made: AtomicU32::new(0),
            _folder: folder,
        }
    }

    async fn next(&self) -> (SqliteStore, [Tenant; 2]) {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let one = self
            .store
            .ensure_tenant(&format!("one{number}"))
            .await
            .unwrap();
        let two = self
            .store
            .ensure_tenant(&format!("two{number}"))
            .await
            .unwrap();
        (self.store.clone(), [one, two])
    }
}

#[tokio::test]
async fn the_store_keeps_the_laws() -> Result<(), ContractViolation> {
    let file = File::new();
    check(async || file.next().await).await
}

/// HAF-11, SCH-01, SCH-04, UND-26: the outbox has exactly the entries of the committed requests,
/// and each has one claim at a time.
#[tokio::test]
async fn haf_11_what_is_to_be_sent_is_what_stands() -> Result<(), ContractViolation> {
    let file = File::new();
    let (store, tenants) = file.next().await;
    check_outgoing(&std::sync::Arc::new(store), tenants, 3_000).await
}

/// SYN-02, SYN-04: a reader of the feed knows exactly what is stored.
#[tokio::test]
async fn syn_02_the_feed_is_complete() -> Result<(), ContractViolation> {
    let file = File::new();
    check_feed(async || file.next().await).await
}

/// SYN-08: entries older than an hour are deleted if changes are retained for an hour.
#[tokio::test]
async fn syn_08_old_changes_expire() -> Result<(), ContractViolation> {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::new(AtomicI64::new(0)));
    let told = Arc::clone(&clock);
    let options = SqliteOptions::new(folder.path().join("data.db"))
        .change_feed_retention(Duration::from_secs(60 * 60));
    let store = SqliteStore::open(
        options.clock(move || Timestamp::from_micros(told.load(Ordering::SeqCst))),
    )
    .unwrap();
    let tenant = store.ensure_tenant("one").await.unwrap();
    check_feed_expires(&store, &tenant, |time| {
        clock.fetch_add(i64::try_from(time.as_micros()).unwrap(), Ordering::SeqCst);
    })
    .await
}

/// SYN-02, SYN-04: a poller misses none of the changes of concurrent writers. Set
/// `SVC_FEED_CALLS=100000` for more.
#[tokio::test]
async fn syn_04_a_poller_among_writers_misses_nothing() -> Result<(), ContractViolation> {
    let file = File::new();
    let (store, [tenant, _]) = file.next().await;
    let calls = std::env::var("SVC_FEED_CALLS")
        .ok()
        .and_then(|number| number.parse().ok());
    check_feed_among_writers(&[store], &tenant, calls.unwrap_or(1_000)).await
}

/// HOOK-12, HOOK-14: the store of webhooks satisfies its contract.
#[tokio::test]
async fn hook_14_webhooks_are_kept() -> Result<(), ContractViolation> {
    let file = File::new();
    let (store, tenants) = file.next().await;
    check_webhooks(&store, tenants).await
}

/// COL-23, COL-28: a page by number agrees with its own total during concurrent writes.
async fn pages_agree(pages: usize) -> Result<(), ContractViolation> {
    let file = File::new();
    let (store, [tenant, _]) = file.next().await;
    let pages_by_number = Arc::new(NumberedPages::new(store, tenant));
    let writer = Arc::clone(&pages_by_number);
    let writer = tokio::spawn(async move { writer.write().await });
    pages_by_number.read(pages).await?;
    writer.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn col_23_pages_by_number_agree_with_their_totals() -> Result<(), ContractViolation> {
    pages_agree(1_000).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "30 000 pages: .ci/full pages"]
async fn col_23_many_pages_by_number_agree_with_their_totals() -> Result<(), ContractViolation> {
    pages_agree(30_000).await
}

/// HLP-04, MRG-06, MRG-20: sign-ups create one person for each mailbox, and totals are right after merges.
/// `SVC_LAWS` is the number of histories.
#[tokio::test]
async fn hlp_04_sign_ups_create_one_person_for_each_mailbox() -> Result<(), ContractViolation> {
    let file = File::new();
    let tests = StoreTests::new().histories(100);
    let tests = tests.clone().of_environment().unwrap_or(tests);
    tests.check_matching(async || file.next().await).await
}

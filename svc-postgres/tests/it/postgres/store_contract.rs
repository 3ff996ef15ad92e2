//! The store testkit on PostgreSQL, compared with the store in memory. `SVC_LAWS` is the number of
//! histories, and `SVC_LAWS_SEED` the seed of the first.

use super::{server::options, support};
use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
    time::Duration,
};

use svc_core::{Tenant, value::Timestamp};
use svc_postgres::{PostgresOptions, PostgresStore};
use svc_store::store_testkit::{
    ContractViolation, NumberedPages, StoreTests, check_feed_among_writers, check_feed_expires,
    check_filters, check_names, check_outgoing, check_webhooks,
};

/// A database, with new tenants for each history.
struct Database {
    store: PostgresStore,
    options: PostgresOptions,
    made: AtomicU32,
    _server: support::server::Server,
}

impl Database {
    async fn new() -> Self {
        // Nothing is killed here, so syncs would only take time.
        let server =
            support::server::Server::with(&[("fsync", "off"), ("synchronous_commit", "off")]);
        let options = options(&server.url()).schema(&server.schema());
        let store = PostgresStore::connect(options.clone()).await.unwrap();
        Self {
            store,
            options,
            made: AtomicU32::new(0),
            _server: server,
        }
    }

    async fn next(&self) -> (PostgresStore, [Tenant; 2]) {
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

fn laws(histories: u64) -> StoreTests {
    let tests = StoreTests::new().histories(histories);
    tests.clone().of_environment().unwrap_or(tests)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_store_keeps_the_laws() -> Result<(), ContractViolation> {
    let database = Database::new().await;
    laws(300).check(async || database.next().await).await
}

/// HAF-11, SCH-01, SCH-04, UND-26: the outbox has exactly the entries of the committed requests,
/// and each has one claim at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn haf_11_what_is_to_be_sent_is_what_stands() -> Result<(), ContractViolation> {
    let database = Database::new().await;
    let (store, tenants) = database.next().await;
    check_outgoing(&std::sync::Arc::new(store), tenants, 1_000).await
}

/// SYN-02, SYN-04: a reader of the feed knows exactly what is stored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn syn_02_the_feed_is_complete() -> Result<(), ContractViolation> {
    let database = Database::new().await;
    laws(100).check_feed(async || database.next().await).await
}

/// SYN-08: entries older than an hour are deleted if changes are retained for an hour.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn syn_08_old_changes_expire() -> Result<(), ContractViolation> {
    let server = support::server();
    let clock = Arc::new(AtomicI64::new(0));
    let told = Arc::clone(&clock);
    let options = options(&server.url())
        .schema(&server.schema())
        .change_feed_retention(Duration::from_secs(60 * 60));
    let options = options.clock(move || Timestamp::from_micros(told.load(Ordering::SeqCst)));
    let store = PostgresStore::connect(options).await.unwrap();
    let tenant = store.ensure_tenant("one").await.unwrap();
    check_feed_expires(&store, &tenant, |time| {
        clock.fetch_add(i64::try_from(time.as_micros()).unwrap(), Ordering::SeqCst);
    })
    .await
}

/// SYN-02, SYN-04: a poller misses none of the changes of concurrent writers on two stores, like
/// those of two processes. Set `SVC_FEED_CALLS=100000` for more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn syn_04_pollers_among_writers_of_two_stores_miss_nothing() -> Result<(), ContractViolation>
{
    let database = Database::new().await;
    let (one, [tenant, _]) = database.next().await;
    let other = PostgresStore::connect(database.options.clone())
        .await
        .unwrap();
    let calls = std::env::var("SVC_FEED_CALLS")
        .ok()
        .and_then(|number| number.parse().ok());
    check_feed_among_writers(&[one, other], &tenant, calls.unwrap_or(1_000)).await
}

/// FLT-01, FLT-02, FLT-05, FLT-08, FLT-09, FLT-11: 5 000 filters and orders return what an
/// evaluation of each record returns.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn flt_01_filters_show_what_each_record_says() -> Result<(), ContractViolation> {
    let server = support::server();
    let store = PostgresStore::connect(options(&server.url()).schema(&server.schema()))
        .await
        .unwrap();
    let (one, two) = (
        store.ensure_tenant("one").await,
        store.ensure_tenant("two").await,
    );
    check_filters(&store, [one.unwrap(), two.unwrap()], 5_000).await
}

/// UND-02, UND-03: names are unique without regard to case.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn und_02_names_are_unique() -> Result<(), ContractViolation> {
    let server = support::server();
    let store = PostgresStore::connect(options(&server.url()).schema(&server.schema()))
        .await
        .unwrap();
    let tenant = store.ensure_tenant("one").await.unwrap();
    check_names(&store, tenant).await
}

/// FLT-12, SYN-04, SYN-12: 8 writers on two stores, like those of two processes, and pollers by
/// `modified_date`, by cursor and by events. One request in ten is rolled back. Set
/// `SVC_FEED_CALLS=100000` for more.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn flt_12_pollers_miss_nothing() {
    let server = support::server();
    let options = options(&server.url()).schema(&server.schema());
    let stores = [
        PostgresStore::connect(options.clone()).await.unwrap(),
        PostgresStore::connect(options).await.unwrap(),
    ];
    let tenant = stores[0].ensure_tenant("demo").await.unwrap();
    crate::polling::misses_nothing(&stores, &tenant, crate::polling::calls()).await;
}

/// SYN-11: prints how much waiting requests slow down the reads of another tenant.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn syn_11_reads_of_others_among_waiters() {
    let database = Database::new().await;
    let (store, [busy, other]) = database.next().await;
    crate::polling::compare_among_waiters(&store, [&busy, &other]).await;
}

/// HOOK-12, HOOK-14: the store of webhooks satisfies its contract, also with row-level security.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn hook_14_webhooks_are_kept() -> Result<(), ContractViolation> {
    let database = Database::new().await;
    let (store, tenants) = database.next().await;
    check_webhooks(&store, tenants).await?;
    let fenced = PostgresStore::connect(database.options.clone().row_level_security())
        .await
        .unwrap();
    let tenants = [
        fenced.ensure_tenant("fenced1").await.unwrap(),
        fenced.ensure_tenant("fenced2").await.unwrap(),
    ];
    check_webhooks(&fenced, tenants).await
}

/// COL-23, COL-28: 30 000 pages by number agree with their own totals during concurrent writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn col_23_pages_by_number_agree_with_their_totals() -> Result<(), ContractViolation> {
    let database = Database::new().await;
    let (store, [tenant, _]) = database.next().await;
    let pages = Arc::new(NumberedPages::new(store, tenant));
    let writer = Arc::clone(&pages);
    let writer = tokio::spawn(async move { writer.write().await });
    pages.read(30_000).await?;
    writer.await.unwrap()
}

/// HLP-04, MRG-06, MRG-20: sign-ups create one person for each mailbox, and totals are right after merges.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn hlp_04_sign_ups_create_one_person_for_each_mailbox() -> Result<(), ContractViolation> {
    let database = Database::new().await;
    laws(50)
        .check_matching(async || database.next().await)
        .await
}

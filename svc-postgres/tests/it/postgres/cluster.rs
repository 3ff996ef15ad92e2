//! Differences on a cluster: opening distributed tables, and searching for due work.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use super::server::{Server, options};
use super::support::{self, proxy::Proxy, server::url_of, until};
use serde_json::json;
use svc_core::{backend::WebhookStore as _, store::Store as _, value::Timestamp};
use svc_postgres::{ConnectError, PostgresOptions, PostgresStore};

/// Returns a role for which the shared server is a cluster, and options for a schema of its own.
fn on_a_cluster() -> (String, PostgresOptions) {
    let server = support::server();
    let role = server.cluster_role(server.port());
    (
        role.clone(),
        options(&url_of(&role, server.port())).schema(&format!("{role}_tables")),
    )
}

/// Returns the number of distributed tables.
fn distributed(role: &str) -> String {
    support::server().psql(&format!(
        "SELECT count(DISTINCT logicalrelid) FROM {role}.pg_dist_partition"
    ))
}

/// If several processes open the same schema simultaneously, its tables are created once, and each
/// is distributed once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn missing_tables_are_made_and_distributed() {
    let (role, options) = on_a_cluster();
    let options = options.cluster();
    let opened = (0..4).map(|_| PostgresStore::connect(options.clone()));
    for store in futures_util::future::join_all(opened).await {
        store.unwrap();
    }
    assert_eq!(distributed(&role), "23");
    let all = format!("SELECT count(*) FROM {role}.pg_dist_partition");
    assert_eq!(support::server().psql(&all), "23", "each of them once");

    // All of them are removed and created again.
    PostgresStore::drop_tables(&options).await.unwrap();
    PostgresStore::connect(options).await.unwrap();
    let there = format!(
        "SELECT count(*) FROM {role}.pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid::oid"
    );
    assert_eq!(support::server().psql(&there), "23");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn tables_that_are_not_distributed_are_refused_with_the_option() {
    let (role, options) = on_a_cluster();
    PostgresStore::connect(options.clone()).await.unwrap();
    assert_eq!(distributed(&role), "0");
    let refused = PostgresStore::connect(options.clone().cluster())
        .await
        .unwrap_err();
    assert!(
        matches!(refused, ConnectError::NotDistributed { .. }),
        "{refused}"
    );
    let said = refused.to_string();
    assert!(
        said.contains("`cluster_")
            && said.contains("record, shared_key, tenant")
            && said.contains("--citus"),
        "{said}"
    );
    let refused = PostgresStore::drop_tables(&options.clone().cluster())
        .await
        .unwrap_err();
    assert!(
        matches!(refused, ConnectError::NotDistributed { .. }),
        "{refused}"
    );
    assert!(
        PostgresStore::exists(&options).await.unwrap(),
        "nothing was removed"
    );
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn distributed_tables_are_refused_without_the_option() {
    let (_, options) = on_a_cluster();
    PostgresStore::connect(options.clone().cluster())
        .await
        .unwrap();
    for refused in [
        PostgresStore::connect(options.clone()).await.map(drop),
        PostgresStore::drop_tables(&options).await,
    ] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, ConnectError::Distributed(_)), "{refused}");
        assert!(refused.to_string().contains("distributed"), "{refused}");
    }
    assert!(
        PostgresStore::exists(&options).await.unwrap(),
        "nothing was removed"
    );
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_server_without_a_cluster_is_refused_with_the_option() {
    let server = support::server();
    let options = options(&server.url()).schema(&server.schema()).cluster();
    let refused = PostgresStore::connect(options.clone()).await.unwrap_err();
    assert!(matches!(refused, ConnectError::NotACluster), "{refused}");
    assert!(
        !PostgresStore::exists(&options).await.unwrap(),
        "nothing was created"
    );
}

/// On a cluster one process searches all shards for due work. The others, and this one while
/// nothing is due, read one row.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn one_process_looks_for_what_is_due() {
    let database = support::server();
    let ways = [(); 2].map(|()| Proxy::start(database.port()));
    let role = database.cluster_role(database.port());
    let [one, other] = [0, 1].map(|at: usize| {
        options(&url_of(&role, ways[at].port()))
            .schema(&format!("{role}_t"))
            .cluster()
    });
    let (one, other) = (Server::open(one).await, Server::open(other).await);
    let now = Timestamp::now();
    let due = async |server: &Server, at: Timestamp| {
        server
            .store
            .list_due_webhooks(at, None, 100)
            .await
            .unwrap()
            .len()
    };
    let trips = async |way: &Proxy, server: &Server, at: Timestamp| {
        way.reset();
        assert_eq!(due(server, at).await, 0);
        way.round_trips()
    };
    assert_eq!((due(&one, now).await, due(&other, now).await), (0, 0));
    for _ in 0..3 {
        assert_eq!(
            [
                trips(&ways[0], &one, now).await,
                trips(&ways[1], &other, now).await
            ],
            [1, 1],
            "nothing is due"
        );
    }
    // The other process creates a webhook, and notifies the searching process.
    other
        .make("webhooks", json!({"url": "https://hooks.example.org/"}))
        .await;
    until("it is found", async || {
        due(&one, Timestamp::now()).await == 1
    })
    .await;
    assert_eq!(
        due(&other, Timestamp::now()).await,
        0,
        "the other process does not search"
    );
    assert_eq!(
        due(&one, Timestamp::now()).await,
        1,
        "as long as something is due"
    );
    // The searching process has ended.
    let later = Timestamp::now().saturating_add(Duration::from_secs(20));
    assert_eq!((due(&other, later).await, due(&one, later).await), (1, 0));
}

/// The searching process finds outbox entries, whichever process has stored them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn what_another_process_stores_is_found() {
    let (_, options) = on_a_cluster();
    let (one, other) = (
        Server::open(options.clone().cluster()).await,
        Server::open(options.cluster()).await,
    );
    let claimed = async |server: &Server| {
        let now = Timestamp::now();
        let outgoing = Arc::new(server.store.clone()).outbox().unwrap();
        outgoing
            .claim_due(now, now.saturating_add(Duration::from_secs(60)), 100)
            .await
            .unwrap()
            .claims
            .len()
    };
    assert_eq!((claimed(&one).await, claimed(&other).await), (0, 0));
    let sign_up = async |server: &Server, address: &str| {
        let person = json!({"email_addresses": [{"address": address}]});
        let body = json!({"person": person, "triggers": {"autoresponse": {"enabled": true}}});
        assert_eq!(server.post("people/person_signup", body).await.status, 200);
    };
    sign_up(&other, "ada@example.org").await;
    until("it is found", async || claimed(&one).await == 1).await;
    assert_eq!((claimed(&one).await, claimed(&other).await), (0, 0));
    // The searching process stores an entry itself.
    sign_up(&one, "grace@example.org").await;
    assert_eq!(claimed(&one).await, 1);
}

/// A lease has one holder until it ends.
#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_lease_has_one_holder() {
    let database = support::server();
    let clock = Arc::new(AtomicI64::new(1_800_000_000_000_000));
    let of_stores = Arc::clone(&clock);
    let options = options(&database.url()).schema(&database.schema());
    let options = options.clock(move || Timestamp::from_micros(of_stores.load(Ordering::Relaxed)));
    let (one, other) = (
        PostgresStore::connect(options.clone()).await.unwrap(),
        PostgresStore::connect(options).await.unwrap(),
    );
    let take = async |store: &PostgresStore| {
        store
            .take_lease("loading", Duration::from_secs(10))
            .await
            .unwrap()
    };
    assert_eq!(
        [take(&one).await, take(&other).await, take(&one).await],
        [true, false, true]
    );
    other.end_lease("loading").await.unwrap();
    assert!(!take(&other).await, "another process has the lease");
    one.end_lease("loading").await.unwrap();
    assert_eq!([take(&other).await, take(&one).await], [true, false]);
    clock.fetch_add(10_000_000, Ordering::Relaxed);
    assert!(take(&one).await, "the lease has expired");
}

//! Opening tables where the options say that they are: distributed over a cluster, or on one server.

use super::server::options;
use super::support::{self, server::url_of};
use svc_postgres::{ConnectError, Options, Store};

/// A role for which the shared server is a cluster, and options of a schema of its own.
fn on_a_cluster() -> (String, Options) {
    let server = support::server();
    let role = server.cluster_role(server.port());
    (role.clone(), options(&url_of(&role, server.port())).schema(&format!("{role}_tables")))
}

/// How many tables are distributed.
fn distributed(role: &str) -> String {
    support::server().psql(&format!("SELECT count(DISTINCT logicalrelid) FROM {role}.pg_dist_partition"))
}

/// Processes that open the same schema at the same time make its tables once, and distribute each of them once.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn missing_tables_are_made_and_distributed() {
    let (role, options) = on_a_cluster();
    let options = options.cluster();
    let opened = (0..4).map(|_| Store::connect(options.clone()));
    for store in futures_util::future::join_all(opened).await {
        store.unwrap();
    }
    assert_eq!(distributed(&role), "16");
    let all = format!("SELECT count(*) FROM {role}.pg_dist_partition");
    assert_eq!(support::server().psql(&all), "16", "each of them once");

    // All of them are removed and made again as they were.
    Store::remove(&options).await.unwrap();
    Store::connect(options).await.unwrap();
    let there =
        format!("SELECT count(*) FROM {role}.pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid::oid");
    assert_eq!(support::server().psql(&there), "16");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn tables_that_are_not_distributed_are_refused_with_the_option() {
    let (role, options) = on_a_cluster();
    Store::connect(options.clone()).await.unwrap();
    assert_eq!(distributed(&role), "0");
    let refused = Store::connect(options.clone().cluster()).await.unwrap_err();
    assert!(matches!(refused, ConnectError::NotDistributed { .. }), "{refused}");
    let said = refused.to_string();
    assert!(said.contains("`cluster_") && said.contains("record, tenant") && said.contains("--citus"), "{said}");
    let refused = Store::remove(&options.clone().cluster()).await.unwrap_err();
    assert!(matches!(refused, ConnectError::NotDistributed { .. }), "{refused}");
    assert!(Store::is_there(&options).await.unwrap(), "nothing was removed");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn distributed_tables_are_refused_without_the_option() {
    let (_, options) = on_a_cluster();
    Store::connect(options.clone().cluster()).await.unwrap();
    for refused in [Store::connect(options.clone()).await.map(drop), Store::remove(&options).await] {
        let refused = refused.unwrap_err();
        assert!(matches!(refused, ConnectError::Distributed(_)), "{refused}");
        assert!(refused.to_string().contains("distributed"), "{refused}");
    }
    assert!(Store::is_there(&options).await.unwrap(), "nothing was removed");
}

#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_server_without_a_cluster_is_refused_with_the_option() {
    let server = support::server();
    let options = options(&server.url()).schema(&server.schema()).cluster();
    let refused = Store::connect(options.clone()).await.unwrap_err();
    assert!(matches!(refused, ConnectError::NotACluster), "{refused}");
    assert!(!Store::is_there(&options).await.unwrap(), "nothing was made");
}

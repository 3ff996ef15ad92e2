//! Round trips, counted on the socket ("It must show" 3): one for a read, two for helpers and
//! writes, alone or in a batch.

use super::server::{Server, options};
use super::support::{self, proxy::Proxy, server::url_of};
use serde_json::json;
use svc_postgres::{PostgresOptions, StatementMode};
use tokio::task::JoinSet;

/// Counts the round trips of an operation whose statements are already prepared.
async fn count(way: &Proxy, what: impl AsyncFn()) -> u64 {
    what().await;
    way.reset();
    what().await;
    way.round_trips()
}

fn check(with: impl FnOnce(PostgresOptions) -> PostgresOptions) {
    let way = Proxy::start(support::server().port());
    let url = way.url();
    way.block_on(check_over(&way, with(options(&url))));
}

async fn check_over(way: &Proxy, options: PostgresOptions) {
    let server = Server::open(options.schema(&support::server().schema())).await;
    let petition = server.make("petitions", json!({})).await;
    let person = server.make("people", json!({"given_name": "Ada"})).await;
    for number in 0..60 {
        server
            .make("tags", json!({"name": format!("{number}")}))
            .await;
    }
    let read = async |path: &str| {
        let trips = count(way, async || {
            assert_eq!(server.get(path).await.status, 200, "{path}");
        })
        .await;
        assert_eq!(trips, 1, "{path}");
    };
    read(&person).await;
    read("people").await;
    read("tags").await;
    read("changes").await;
    read(&format!("{petition}/signatures")).await;
    // The next page with its link. Then a jump, which first reads what has changed.
    let next = server.get("tags").await.json["_links"]["next"]["href"]
        .as_str()
        .unwrap()
        .to_owned();
    read(&next).await;
    let trips = count(way, async || {
        assert_eq!(server.get("tags?per_page=10&page=4").await.status, 200);
    })
    .await;
    assert_eq!(trips, 2);

    let helper = format!("{petition}/record_signature_helper");
    let number = std::sync::atomic::AtomicU32::default();
    let new = || {
        let number = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        json!({"person": {"email_addresses": [{"address": format!("p{number}@example.org")}],
            "identifiers": [format!("crm:{number}")]}, "add_tags": ["1", "2"]})
    };
    let trips = count(way, async || {
        assert_eq!(server.post(&helper, new()).await.status, 200);
    })
    .await;
    assert_eq!(trips, 2, "a helper with a new person");
    // HOOK-13: webhooks add no round trip to a write.
    for number in 0..3 {
        server
            .make(
                "webhooks",
                json!({"url": format!("https://hooks.example.org/{number}")}),
            )
            .await;
    }
    let trips = count(way, async || {
        assert_eq!(server.post(&helper, new()).await.status, 200);
    })
    .await;
    assert_eq!(trips, 2, "a helper with a new person, and three webhooks");
    let known =
        json!({"person": {"email_addresses": [{"address": "p0@example.org"}], "family_name": "L"}});
    let trips = count(way, async || {
        assert_eq!(server.post(&helper, known.clone()).await.status, 200);
    })
    .await;
    assert_eq!(trips, 2, "a helper with an existing person");
    let trips = count(way, async || {
        server.make("people", json!({"given_name": "Ada"})).await;
    });
    assert_eq!(trips.await, 2, "a create");
    let number = std::sync::atomic::AtomicU32::default();
    let trips = count(way, async || {
        let number = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        assert_eq!(
            server
                .put(&person, json!({"given_name": format!("{number}")}))
                .await
                .status,
            200
        );
    });
    assert_eq!(trips.await, 2, "an update");

    // Sixty-five callers: one transaction for sixty-four, and one for the other caller.
    let many = async || {
        let mut calls = JoinSet::new();
        for _ in 0..65 {
            let (server, helper, body) = (server.clone(), helper.clone(), new());
            calls.spawn(async move { assert_eq!(server.post(&helper, body).await.status, 200) });
        }
        calls.join_all().await;
    };
    // After 1 024 changes a transaction has one more statement, which is prepared before the count.
    many().await;
    assert_eq!(count(way, many).await, 4, "65 callers");
}

/// With a response cache, a read is one round trip. This includes the first read of an address, a
/// read of a missing record, and one that the cache answers. The second read of an address also
/// reads the revision.
#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn reads_with_a_response_cache() {
    let way = Proxy::start(support::server().port());
    let options = options(&way.url()).schema(&support::server().schema());
    way.block_on(async {
        let server = Server::keeping(options).await;
        let people = [
            server.make("people", json!({"given_name": "Ada"})).await,
            server.make("people", json!({"given_name": "Ada"})).await,
        ];
        let trips = async |path: &str, status: u16| {
            way.reset();
            assert_eq!(server.get(path).await.status, status, "{path}");
            way.round_trips()
        };
        for person in people.iter().chain(&people) {
            // The statements are prepared in round trips of their own.
            trips(person, 200).await;
        }
        let third = server.make("people", json!({"given_name": "Ada"})).await;
        for (read, expected) in [1, 2, 1, 1].into_iter().enumerate() {
            assert_eq!(trips(&third, 200).await, expected, "read {read}");
        }
        for _ in 0..3 {
            let unknown = format!("people/{}", uuid::Uuid::new_v4());
            assert_eq!(
                [trips(&unknown, 404).await, trips(&unknown, 404).await],
                [1, 1]
            );
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn named() {
    check(|options| options);
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn unnamed() {
    check(|options| options.statement_mode(StatementMode::Unnamed));
}

/// There, each setting of a transaction is a message, and the worker is queried directly.
#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn as_on_a_cluster() {
    let way = Proxy::start(support::server().port());
    let role = support::server().cluster_role(way.port());
    let options = options(&url_of(&role, way.port())).cluster();
    way.block_on(check_over(&way, options));
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn with_row_level_security() {
    check(PostgresOptions::row_level_security);
}

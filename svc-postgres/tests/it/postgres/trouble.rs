//! What is in the way for a while ("It must show" 6): UND-36's answer in time, and work as before when it is gone.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::server::{Answer, Server};
use super::support::{self, bouncer::Bouncer, proxy::Proxy};
use serde_json::json;
use svc_core::{
    helper::{MatchKey, PersonMatching},
    read::Object,
    value::Identifier,
};
use svc_postgres::{Options, Statements};
use tokio::task::JoinSet;

/// How long a call waits for what is in the way, here.
const PATIENCE: Duration = Duration::from_millis(400);
/// The longest that any call may take: a write may wait for half a minute when nobody has set it a deadline, so these calls do.
const DEADLINE: Duration = Duration::from_secs(3);
const LONGEST: Duration = Duration::from_secs(5);

fn options(url: &str, schema: &str) -> Options {
    Options::new(url).unwrap().schema(schema).patience(PATIENCE)
}

/// A sign-up with a deadline.
async fn sign_up(server: &Server, name: &str) -> Answer {
    let mut server = server.clone();
    server.deadline = Some(DEADLINE);
    let begun = Instant::now();
    let person = json!({"person": {"email_addresses": [{"address": format!("{name}@example.org")}]}});
    let answer = server.post("people/person_signup", person).await;
    assert!(begun.elapsed() < LONGEST, "UND-36: answered after {:?}", begun.elapsed());
    answer
}

/// Waits until sign-ups are taken again.
async fn is_back(server: &Server, name: &str) {
    let begun = Instant::now();
    while sign_up(server, name).await.status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(30), "the service is back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn people(server: &Server) -> u64 {
    let people = server.walk("people?per_page=100").await.len() as u64;
    assert_eq!(server.total("people").await, people, "COL-23");
    people
}

/// A lock that somebody else holds: 503 for the tenant, nothing for another one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_lock_that_somebody_holds() {
    let database = support::server();
    let schema = database.schema();
    let server = Server::open(options(&database.url(), &schema)).await;
    let other = Server::of(server.store.clone(), "other").await;
    is_back(&server, "before").await;
    let text = format!(
        "BEGIN; SELECT 1 FROM {schema}.ledger l JOIN {schema}.tenant t ON t.id = l.tenant WHERE t.name = 'demo' FOR UPDATE; \
         SELECT pg_sleep(6); COMMIT"
    );
    let holder = tokio::task::spawn_blocking(move || database.psql(&text));
    let is_held = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%{schema}.ledger%pg_sleep%' AND wait_event = 'PgSleep'"
    );
    support::wait_until("it is held", || database.psql(&is_held).trim() == "1");
    let refused = sign_up(&server, "meanwhile").await;
    assert_eq!(refused.status, 503, "UND-36");
    assert_eq!(sign_up(&other, "meanwhile").await.status, 200, "AUT-02");
    assert_eq!(people(&server).await, 1, "reads do not wait");
    holder.await.unwrap();
    is_back(&server, "after").await;
    assert_eq!(people(&server).await, 2);
}

/// A network that stalls: 503 in time, and no connection is left that waits for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_network_that_stalls() {
    let database = support::server();
    let way = Proxy::start(database.port());
    let server = Server::open(options(&way.url(), &database.schema())).await;
    is_back(&server, "before").await;
    way.stall(true);
    let (write, read) = tokio::join!(sign_up(&server, "meanwhile"), server.get("people"));
    assert_eq!((write.status, read.status), (503, 503), "UND-36");
    way.stall(false);
    is_back(&server, "after").await;
    // What was under way when the network stalled may have been done, once.
    assert!((2..=3).contains(&people(&server).await));
}

/// The answer to COMMIT is lost: what is stored says what is answered, and nothing is done twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn an_answer_that_is_lost() {
    let database = support::server();
    let schema = database.schema();
    let way = Arc::new(Proxy::start(database.port()));
    let server = Server::open(options(&way.url(), &schema)).await;
    let mut expected = 0;
    for round in 0..5 {
        is_back(&server, &format!("before{round}")).await;
        let there = people(&server).await;
        // Lets the questions through and holds the answers, so that COMMIT is done before the connection is cut.
        let cutter = tokio::task::spawn_blocking({
            let (way, schema) = (Arc::clone(&way), schema.clone());
            move || {
                way.delay(Duration::from_millis(300));
                let count = format!("SELECT count(*) FROM {schema}.record WHERE kind = 1");
                support::wait_until("it is stored", || database.psql(&count).trim() == (there + 1).to_string());
                // In some rounds nobody can connect at first to find out what was done.
                way.stall(round % 2 == 1);
                way.cut();
                way.delay(Duration::ZERO);
                if round % 2 == 1 {
                    std::thread::sleep(PATIENCE * 3);
                    way.stall(false);
                }
            }
        });
        // Nobody is matched by a create: done twice it would make two people.
        let made = server.post("people", json!({"given_name": format!("lost{round}")})).await;
        assert_eq!(made.status, 201, "round {round}");
        cutter.await.unwrap();
        expected += 2;
        assert_eq!(people(&server).await, expected, "round {round}");
    }
}

/// Tables that somebody alters: a connection whose statements are no longer what they were is not used again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn tables_that_are_altered() {
    let database = support::server();
    let schema = database.schema();
    let server = Server::open(options(&database.url(), &schema)).await;
    for (round, type_) in ["varchar", "text"].into_iter().enumerate() {
        // Several connections that know every statement.
        let before = format!("before{round}");
        let calls = (0..8).map(|_| sign_up(&server, &before));
        assert!(futures_util::future::join_all(calls).await.iter().all(|answer| answer.status == 200));
        database.psql(&format!("ALTER TABLE {schema}.record ALTER COLUMN identifiers TYPE {type_}"));
        assert_eq!(sign_up(&server, &before).await.status, 200, "{type_}: it is known, and read again");
        assert_eq!(people(&server).await, round as u64 + 1);
    }
}

/// A reader who goes away in the middle: nobody gets a connection on which his answer is still to come.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_reader_who_goes_away() {
    let database = support::server();
    let way = Proxy::start(database.port());
    let server = Server::open(options(&way.url(), &database.schema())).await;
    is_back(&server, "before").await;
    assert_eq!(people(&server).await, 1);
    for _ in 0..5 {
        way.hold_answers(true);
        let there = server.store.stats().connections_idle;
        assert!(tokio::time::timeout(PATIENCE / 4, server.get("people")).await.is_err());
        assert_eq!(server.store.stats().connections_idle, there - 1);
        assert_eq!(server.store.stats().connections_busy, 0);
        way.hold_answers(false);
        assert_eq!(people(&server).await, 1);
    }
    assert_eq!(server.store.stats().connections_wanted, 0);
}

/// A pooler that is restarted under load.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_pooler_that_is_restarted() {
    let database = support::server();
    let pooler = Arc::new(Bouncer::start(database, 3));
    let options = options(&pooler.url(), &database.schema()).statements(Statements::Unnamed);
    let server = Server::open(options).await;
    let mut taken = 0;
    for round in 0..10 {
        is_back(&server, &format!("before{round}")).await;
        taken += 1;
        let again = tokio::task::spawn_blocking({
            let pooler = Arc::clone(&pooler);
            move || {
                pooler.kill();
                pooler.start_again();
            }
        });
        let answer = sign_up(&server, &format!("meanwhile{round}")).await;
        assert!(matches!(answer.status, 200 | 503), "UND-36: {}", answer.json);
        taken += u64::from(answer.status == 200);
        again.await.unwrap();
    }
    let there = people(&server).await;
    assert!((taken..=taken + 10).contains(&there), "{taken} were acknowledged, {there} are there");
}

/// No connection is free: 503 with `Retry-After`, and no more waiting than the patience allows.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_pool_that_is_used_up() {
    let database = support::server();
    let schema = database.schema();
    let server = Server::open(options(&database.url(), &schema).connections(2)).await;
    is_back(&server, "before").await;
    let text = format!("BEGIN; LOCK TABLE {schema}.record; SELECT pg_sleep(3); COMMIT");
    let holder = tokio::task::spawn_blocking(move || database.psql(&text));
    let is_held = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%LOCK TABLE {schema}.record%' AND wait_event = 'PgSleep'"
    );
    support::wait_until("it is held", || database.psql(&is_held).trim() == "1");
    let begun = Instant::now();
    let mut reads = JoinSet::new();
    for _ in 0..8 {
        let server = server.clone();
        reads.spawn(async move { server.get("people").await.status });
    }
    let reads = reads.join_all().await;
    assert!(reads.iter().all(|status| *status == 503), "UND-36: {reads:?}");
    assert!(begun.elapsed() < LONGEST);
    holder.await.unwrap();
    is_back(&server, "after").await;
    assert_eq!(server.get("people").await.status, 200);
}

/// A matching method that panics costs its own call, and no other one of the tenant.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_matching_method_that_panics() {
    #[derive(Debug)]
    struct Panics;

    impl PersonMatching for Panics {
        fn keys(&self, _: &[Identifier], person: &Object) -> Vec<MatchKey> {
            assert!(!person.contains("family_name"), "planted");
            Vec::new()
        }

        fn text(&self) -> &'static str {
            "Nobody is known."
        }
    }

    let database = support::server();
    let server = Server::open(options(&database.url(), &database.schema()).matching(Panics)).await;
    for round in 0..3 {
        // All at once: those that wait share a turn.
        let calls = (0..20).map(async |number| {
            if number == 10 {
                let person = json!({"person": {"family_name": "planted"}});
                return server.post("people/person_signup", person).await.status == 500;
            }
            sign_up(&server, "beside it").await.status == 200
        });
        let is_so = futures_util::future::join_all(calls).await;
        assert_eq!(is_so, [true; 20], "round {round}");
    }
    assert_eq!(sign_up(&server, "after").await.status, 200);
    assert_eq!(people(&server).await, 58);
}

/// A full disk: 503 while it is full, nothing half written, and work as before when there is room again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_full_disk() {
    let database = support::server();
    let Some(disk) = support::disk::Disk::mount(24) else {
        println!("SKIPPED: only root can mount a small disk");
        return;
    };
    // The tables of this test alone are on the small disk.
    let role = format!("full_{}", database.schema());
    database.psql(&format!("CREATE ROLE {role} SUPERUSER LOGIN"));
    database.psql(&format!("CREATE TABLESPACE {role} LOCATION '{}'", disk.path().display()));
    database.psql(&format!("ALTER ROLE {role} SET default_tablespace = {role}"));
    let url = database.url().replace("svc@", &format!("{role}@"));
    let server = Server::open(options(&url, &database.schema())).await;
    is_back(&server, "before").await;
    disk.fill();
    let mut taken = 1;
    let mut refused = 0;
    for round in 0..200 {
        let note = "x".repeat(8_000);
        let body = json!({"custom_fields": {"note": note}, "given_name": format!("{round}")});
        let answer = server.post("people", body).await;
        assert!(matches!(answer.status, 201 | 503), "UND-36: {}", answer.json);
        taken += u64::from(answer.status == 201);
        refused += u64::from(answer.status == 503);
        if refused == 3 {
            break;
        }
    }
    assert_eq!(refused, 3, "the disk is full");
    assert_eq!(people(&server).await, taken, "UND-36");
    disk.empty();
    is_back(&server, "after").await;
    assert_eq!(people(&server).await, taken + 1, "UND-36");
}

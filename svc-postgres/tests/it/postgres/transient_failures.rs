//! Temporary failures ("It must show" 6): the response of UND-36 in time, and normal operation
//! afterwards.

use std::{sync::Arc, time::Duration};

use super::server::{Answer, Server, options};
use super::support::{self, client, pgbouncer::Bouncer, proxy::Proxy, until};
use serde_json::json;
use svc_core::{
    helper::{MatchKey, PersonMatching},
    model::Kind,
    raw::RawDraft,
    read::Object,
    store::ImportedRecord,
    value::{Identifier, Timestamp},
};
use svc_postgres::{ConnectError, PostgresOptions, PostgresStore, StatementMode};
use tokio::task::JoinSet;

/// The timeouts of a request in a test that asserts its rejection.
const SHORT: Duration = Duration::from_millis(400);
/// The deadline of such a request. Without one, a write is retried for half a minute.
const DEADLINE: Duration = Duration::from_secs(3);

async fn sign_up(server: &Server, name: &str) -> Answer {
    let person =
        json!({"person": {"email_addresses": [{"address": format!("{name}@example.org")}]}});
    server.post("people/person_signup", person).await
}

/// Opens a store on the tables of `server` with short timeouts. The caller uses it only to assert
/// rejections.
async fn impatient(server: &Server, options: PostgresOptions) -> Server {
    let mut store = None;
    until("the store is open", async || {
        store = PostgresStore::connect(options.clone().busy_timeout(SHORT))
            .await
            .ok();
        store.is_some()
    })
    .await;
    let impatient = Server::with(store.unwrap(), server.tenant.clone());
    Server {
        deadline: Some(DEADLINE),
        ..impatient
    }
}

/// Waits until sign-ups succeed again.
async fn is_back(server: &Server, name: &str) {
    until("the service is back", async || {
        sign_up(server, name).await.status == 200
    })
    .await;
}

async fn people(server: &Server) -> u64 {
    let people = server.walk("people?per_page=100").await.len() as u64;
    assert_eq!(server.total("people").await, people, "COL-23");
    people
}

/// Another program holds a lock: 503 for the tenant, and no effect on another tenant.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_lock_that_somebody_holds() {
    let database = support::server();
    let schema = database.schema();
    let options = options(&database.url()).schema(&schema);
    let server = Server::open(options.clone()).await;
    let other = Server::of(server.store.clone(), "other").await;
    let refused = impatient(&server, options).await;
    is_back(&refused, "before").await;
    let holder = client(&database.url()).await;
    holder
        .batch_execute(&format!(
            "BEGIN; SELECT 1 FROM {schema}.ledger l JOIN {schema}.tenant t ON t.id = l.tenant WHERE t.name = 'demo' FOR UPDATE"
        ))
        .await
        .unwrap();
    // The lock is held until all of these have a response.
    assert_eq!(sign_up(&refused, "meanwhile").await.status, 503, "UND-36");
    assert_eq!(sign_up(&other, "meanwhile").await.status, 200, "AUT-02");
    assert_eq!(people(&server).await, 1, "reads do not wait");
    holder.batch_execute("COMMIT").await.unwrap();
    is_back(&refused, "after").await;
    assert_eq!(people(&server).await, 2);
}

/// A stalled network: requests get 503 while it stalls, and no connection waits forever.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_network_that_stalls() {
    let database = support::server();
    let schema = database.schema();
    let way = Proxy::start(database.port());
    let direct = Server::open(options(&database.url()).schema(&schema)).await;
    let server = impatient(&direct, options(&way.url()).schema(&schema)).await;
    is_back(&server, "before").await;
    way.stall(true);
    let (write, read) = tokio::join!(sign_up(&server, "meanwhile"), server.get("people"));
    assert_eq!((write.status, read.status), (503, 503), "UND-36");
    way.stall(false);
    is_back(&server, "after").await;
    // A request that was in progress when the network stalled may have been executed, once.
    assert!((2..=3).contains(&people(&direct).await));
}

/// A host of the URL accepts connections and does not answer. The other host is used, and the start
/// is not delayed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_host_that_is_silent() {
    let database = support::server();
    let schema = database.schema();
    // The system accepts connections for it.
    let silent = support::listener();
    let address = silent.local_addr().unwrap();
    let url = format!(
        "postgres://svc@{address},127.0.0.1:{}/postgres?connect_timeout=1",
        database.port()
    );
    let server = Server::open(options(&url).schema(&schema)).await;
    let calls = (0..8).map(|number| {
        let (server, name) = (server.clone(), format!("silent{number}"));
        async move { sign_up(&server, &name).await.status }
    });
    assert_eq!(futures_util::future::join_all(calls).await, [200; 8]);
    let alone = format!("postgres://svc@{address}/postgres?connect_timeout=1");
    let refused = PostgresStore::connect(options(&alone).schema(&schema))
        .await
        .unwrap_err();
    assert!(matches!(refused, ConnectError::Silent), "{refused}");
}

/// The response to COMMIT is lost: the stored note determines the response, and nothing is executed
/// twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn an_answer_that_is_lost() {
    const LOCK: &str = "4711";
    let database = support::server();
    let schema = database.schema();
    let way = Proxy::start(database.port());
    let mut server = Server::open(options(&way.url()).schema(&schema)).await;
    server.deadline = Some(support::PATIENCE);
    // A COMMIT waits for this lock, after all statements of its transaction.
    database.psql(&format!(
        "CREATE FUNCTION {schema}.waits() RETURNS trigger LANGUAGE plpgsql \
         AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(TG_RELID::int, {LOCK}); RETURN NULL; END'; \
         CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON {schema}.record DEFERRABLE INITIALLY DEFERRED FOR EACH ROW \
         EXECUTE FUNCTION {schema}.waits()"
    ));
    let lock = format!("'{schema}.record'::regclass::oid::int, {LOCK}");
    let holder = client(&database.url()).await;
    let waits = format!(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted \
         AND classid = '{schema}.record'::regclass AND objid = {LOCK}"
    );
    for round in 0..5 {
        assert_eq!(
            sign_up(&server, &format!("before{round}")).await.status,
            200
        );
        let there = people(&server).await;
        holder
            .batch_execute(&format!("SELECT pg_advisory_lock({lock})"))
            .await
            .unwrap();
        // A create matches no one, so executing it twice would create two people.
        let create = tokio::spawn({
            let server = server.clone();
            async move {
                server
                    .post("people", json!({"given_name": format!("lost{round}")}))
                    .await
            }
        });
        until("COMMIT waits", async || database.psql(&waits) == "1").await;
        way.hold_answers(true);
        holder
            .batch_execute(&format!("SELECT pg_advisory_unlock({lock})"))
            .await
            .unwrap();
        let count = format!("SELECT count(*) FROM {schema}.record WHERE kind = 1");
        until("the write is stored", async || {
            database.psql(&count) == (there + 1).to_string()
        })
        .await;
        // In some rounds, the first checks for the stored transaction fail.
        let gone = (round % 2 == 1).then(support::listener);
        if let Some(gone) = &gone {
            way.redirect(gone.local_addr().unwrap().port());
        }
        way.cut();
        way.hold_answers(false);
        if let Some(gone) = gone {
            let attempts = tokio::task::spawn_blocking(move || {
                (0..2).for_each(|_| drop(gone.accept().unwrap()));
            });
            attempts.await.unwrap();
            way.redirect(database.port());
        }
        assert_eq!(create.await.unwrap().status, 201, "round {round}");
        assert_eq!(people(&server).await, there + 1, "round {round}");
    }
}

/// Another program alters tables: a connection with outdated statements is not used again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn tables_that_are_altered() {
    let database = support::server();
    let schema = database.schema();
    let server = Server::open(options(&database.url()).schema(&schema)).await;
    for (round, type_) in ["varchar", "text"].into_iter().enumerate() {
        // Several connections that have prepared every statement.
        let before = format!("before{round}");
        let calls = (0..8).map(|_| sign_up(&server, &before));
        assert!(
            futures_util::future::join_all(calls)
                .await
                .iter()
                .all(|answer| answer.status == 200)
        );
        database.psql(&format!(
            "ALTER TABLE {schema}.record ALTER COLUMN identifiers TYPE {type_}"
        ));
        assert_eq!(
            sign_up(&server, &before).await.status,
            200,
            "{type_}: the person is matched and read"
        );
        assert_eq!(people(&server).await, round as u64 + 1);
    }
}

/// A reader disconnects before its response: no other request gets the connection on which that
/// response is still to arrive.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_reader_who_goes_away() {
    let database = support::server();
    let way = Proxy::start(database.port());
    let server = Server::open(options(&way.url()).schema(&database.schema())).await;
    assert_eq!(sign_up(&server, "before").await.status, 200);
    assert_eq!(people(&server).await, 1);
    for _ in 0..5 {
        way.hold_answers(true);
        way.reset();
        let there = server.store.stats().idle_connections;
        tokio::select! {
            _ = server.get("people") => panic!("its response is held back"),
            () = until("it has sent its request", async || way.round_trips() > 0) => {}
        }
        assert_eq!(server.store.stats().idle_connections, there - 1);
        assert_eq!(server.store.stats().busy_connections, 0);
        way.hold_answers(false);
        assert_eq!(people(&server).await, 1);
    }
    assert_eq!(server.store.stats().waiting_for_connection, 0);
}

/// A pooler is restarted under load.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_pooler_that_is_restarted() {
    let database = support::server();
    let pooler = Arc::new(Bouncer::start(database, 3));
    let options = options(&pooler.url())
        .schema(&database.schema())
        .statement_mode(StatementMode::Unnamed);
    let mut server = Server::open(options).await;
    server.deadline = Some(DEADLINE);
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
        assert!(
            matches!(answer.status, 200 | 503),
            "UND-36: {}",
            answer.json
        );
        taken += u64::from(answer.status == 200);
        again.await.unwrap();
    }
    let there = people(&server).await;
    assert!(
        (taken..=taken + 10).contains(&there),
        "{taken} were acknowledged, {there} are stored"
    );
}

/// No connection is free: requests get 503 although none is returned.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_pool_that_is_used_up() {
    let database = support::server();
    let schema = database.schema();
    let options = options(&database.url()).schema(&schema).max_connections(2);
    let patient = Server::open(options.clone()).await;
    let server = impatient(&patient, options).await;
    is_back(&server, "before").await;
    let holder = client(&database.url()).await;
    holder
        .batch_execute(&format!("BEGIN; LOCK TABLE {schema}.record"))
        .await
        .unwrap();
    // The lock is held until all of these have a response.
    let mut reads = JoinSet::new();
    for _ in 0..8 {
        let server = server.clone();
        reads.spawn(async move { server.get("people").await.status });
    }
    let reads = reads.join_all().await;
    assert!(
        reads.iter().all(|status| *status == 503),
        "UND-36: {reads:?}"
    );
    holder.batch_execute("COMMIT").await.unwrap();
    is_back(&server, "after").await;
    assert_eq!(people(&patient).await, 2);
}

/// A matching method that panics fails only its own request, and no other one of the tenant.
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

        fn description(&self) -> &'static str {
            "No person matches."
        }
    }

    let database = support::server();
    let server = Server::open(
        options(&database.url())
            .schema(&database.schema())
            .person_matching(Panics),
    )
    .await;
    for round in 0..3 {
        // Sent together, so that the waiting ones share a transaction.
        let calls = (0..20).map(async |number| {
            if number == 10 {
                let person = json!({"person": {"family_name": "planted"}});
                return server.post("people/person_signup", person).await.status == 500;
            }
            sign_up(&server, "meanwhile").await.status == 200
        });
        let is_so = futures_util::future::join_all(calls).await;
        assert_eq!(is_so, [true; 20], "round {round}");
    }
    assert_eq!(sign_up(&server, "after").await.status, 200);
    assert_eq!(people(&server).await, 58);
}

/// The SQLSTATE determines the handling: the transaction is retried until the deadline, once, or
/// not at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn errors_of_each_class() {
    let database = support::server();
    let schema = database.schema();
    let server = Server::open(options(&database.url()).schema(&schema)).await;
    // A value of a sequence remains used when its transaction is rolled back, so it counts the
    // attempts.
    database.psql(&format!(
        "CREATE SEQUENCE {schema}.attempts; \
         CREATE TABLE {schema}.planted (state text, failures bigint); INSERT INTO {schema}.planted VALUES ('', 0); \
         CREATE FUNCTION {schema}.fails() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE p {schema}.planted; BEGIN \
         SELECT * INTO p FROM {schema}.planted; IF nextval('{schema}.attempts') <= p.failures THEN \
         RAISE EXCEPTION 'planted' USING ERRCODE = p.state; END IF; RETURN NEW; END $$; \
         CREATE TRIGGER fails BEFORE INSERT ON {schema}.record FOR EACH ROW EXECUTE FUNCTION {schema}.fails()"
    ));
    let number = database.psql(&format!(
        "SELECT id FROM {schema}.tenant WHERE name = 'demo'"
    ));
    let many = 4;
    let mut stored = 0;
    for (state, attempts, is_stored) in [
        // Retried until it succeeds.
        ("40001", many + 1, true),
        ("53300", many + 1, true),
        ("55P03", many + 1, true),
        ("57P01", many + 1, true),
        ("08006", many + 1, true),
        // Retried once, on a new connection.
        ("0A000", 2, false),
        ("26000", 2, false),
        ("XX000", 2, false),
        // Not retried.
        ("22003", 1, false),
        ("23514", 1, false),
        ("42501", 1, false),
        ("XX001", 1, false),
        ("53100", 1, false),
    ] {
        database.psql(&format!(
            "UPDATE {schema}.planted SET state = '{state}', failures = {many}; ALTER SEQUENCE {schema}.attempts RESTART"
        ));
        let person = ImportedRecord::new(
            uuid::Uuid::new_v4().into(),
            Timestamp::now(),
            RawDraft::empty(Kind::Person),
        );
        let loaded = server
            .store
            .import_records(&server.tenant, vec![person])
            .await;
        let drawn = database.psql(&format!("SELECT last_value FROM {schema}.attempts"));
        assert_eq!(
            drawn,
            attempts.to_string(),
            "attempts with {state}: {loaded:?}"
        );
        stored += u64::from(is_stored);
        match loaded {
            Ok(()) => assert!(is_stored, "{state}"),
            Err(error) if state == "53100" => assert!(error.is_unavailable(), "{error:#}"),
            Err(error) => {
                assert!(!is_stored && !error.is_unavailable(), "{state}: {error:#}");
                let said = format!(
                    "PostgreSQL {state}: planted (statement `insert_records`, tenant number {number})"
                );
                assert!(format!("{error:#}").contains(&said), "{error:#}");
            }
        }
        assert_eq!(people(&server).await, stored, "{state}");
    }
}

/// A transaction that fails at its guard is repeated, even if the error does not name the table, as
/// on a cluster.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn what_the_guard_refuses_is_repeated() {
    let database = support::server();
    let schema = database.schema();
    let server = Server::open(options(&database.url()).schema(&schema)).await;
    database.psql(&format!(
        "CREATE SEQUENCE {schema}.attempts; \
         CREATE FUNCTION {schema}.refuses() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF nextval('{schema}.attempts') <= 3 THEN RAISE EXCEPTION 'planted' USING ERRCODE = '23502'; END IF; \
         RETURN NEW; END $$; \
         CREATE TRIGGER refuses BEFORE UPDATE ON {schema}.ledger FOR EACH ROW EXECUTE FUNCTION {schema}.refuses()"
    ));
    assert_eq!(sign_up(&server, "ada").await.status, 200);
    assert_eq!(
        database.psql(&format!("SELECT last_value FROM {schema}.attempts")),
        "4"
    );
    assert_eq!(people(&server).await, 1);
}

/// A request whose data the server rejects fails no other request of the tenant.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_call_that_the_server_rejects() {
    let database = support::server();
    let schema = database.schema();
    let server = Server::open(options(&database.url()).schema(&schema)).await;
    database.psql(&format!(
        "CREATE FUNCTION {schema}.rejects() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF convert_from(NEW.body, 'UTF8') LIKE '%planted%' THEN RAISE EXCEPTION 'planted' USING ERRCODE = '54000'; END IF; \
         RETURN NEW; END $$; \
         CREATE TRIGGER rejects BEFORE INSERT ON {schema}.record FOR EACH ROW EXECUTE FUNCTION {schema}.rejects()"
    ));
    for round in 0..3 {
        // Sent together, so that the waiting ones share a transaction.
        let calls = (0..20).map(async |number| {
            let name = if number == 10 { "planted" } else { "Ada" };
            server
                .post("people", json!({"given_name": name}))
                .await
                .status
        });
        let statuses = futures_util::future::join_all(calls).await;
        let expected: Vec<u16> = (0..20)
            .map(|number| if number == 10 { 500 } else { 201 })
            .collect();
        assert_eq!(statuses, expected, "round {round}");
    }
    assert_eq!(people(&server).await, 57);
}

/// A full disk: writes get 503 while it is full, nothing is stored in part, and the service
/// recovers when there is space again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL and root: .ci/postgres"]
async fn a_full_disk() {
    let disk = support::disk::Disk::mount(24).expect("root, who can mount a small disk");
    // Its own server: a session fails if it must write a page of another session to a disk that no
    // longer exists.
    let database = support::server::Server::with(&[]);
    database.psql(&format!(
        "CREATE TABLESPACE small LOCATION '{}'",
        disk.path().display()
    ));
    database.psql("ALTER ROLE svc SET default_tablespace = small");
    let server = Server::open(options(&database.url()).schema(&database.schema())).await;
    assert_eq!(sign_up(&server, "before").await.status, 200);
    disk.fill();
    let mut taken = 1;
    let mut refused = 0;
    for round in 0..200 {
        let note = "x".repeat(8_000);
        let body = json!({"custom_fields": {"note": note}, "given_name": format!("{round}")});
        let answer = server.post("people", body).await;
        assert!(
            matches!(answer.status, 201 | 503),
            "UND-36: {}",
            answer.json
        );
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

/// A record whose stored body is not JSON is 500 with a reference code. A `PUT` of the record
/// repairs it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_damaged_body_is_an_error_until_it_is_replaced() {
    let database = support::server();
    let schema = database.schema();
    let server = Server::open(options(&database.url()).schema(&schema)).await;
    let made = server.post("people", json!({"given_name": "Ada"})).await;
    assert_eq!(made.status, 201);
    let person = made.json["_links"]["self"]["href"].as_str().unwrap();
    let damage = client(&database.url()).await;
    let sql = format!(
        r#"UPDATE {schema}.record SET body = convert_to(replace(convert_from(body, 'UTF8'), '"given_name"', '"given_name&'), 'UTF8')"#
    );
    damage.batch_execute(&sql).await.unwrap();
    for path in ["people", person] {
        let answer = server.get(path).await;
        assert_eq!(answer.status, 500, "{path}");
        assert!(
            answer.json.to_string().contains("reference_code"),
            "{path}: {}",
            answer.json
        );
    }
    assert_eq!(
        server
            .put(person, json!({"family_name": "King"}))
            .await
            .status,
        200
    );
    for path in ["people", person] {
        let answer = server.get(path).await;
        assert!(
            answer.status == 200 && answer.json.to_string().contains("King"),
            "{path}: {}",
            answer.json
        );
    }
}

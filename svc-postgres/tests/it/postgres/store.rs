//! The parts of a store other than its records: tables, tenants, keys, marks, a replica, and
//! row-level security.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};
use std::time::{Duration, Instant};

use super::server::{Server, api, options};
use super::support::{self, ClosedPort, proxy::Proxy, server::url_of, until};
use http::{HeaderMap, HeaderValue, Method};
use serde_json::json;
use svc_core::{
    RevisionSource, Tenant,
    api::Request,
    auth::{Authenticator, Caller, Credentials, Identity, Principal, Rights},
    link::ShareNames,
    value::Timestamp,
};
use svc_postgres::{
    ConnectError, KeyError, KeyOptions, KeyWebhooks, PostgresOptions, PostgresStore,
};
use svc_store::store_testkit::{FORMER_VALUES, check_recount};

fn fresh(database: &support::server::Server) -> (PostgresOptions, String) {
    let schema = database.schema();
    (options(&database.url()).schema(&schema), schema)
}

/// UND-42: several processes that start simultaneously create the tables once. Later versions,
/// damaged tables and other share names are rejected.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn tables_are_made_once() {
    let database = support::server();
    let (mut options, mut schema) = fresh(database);
    for _ in 0..10 {
        (options, schema) = fresh(database);
        let starting: Vec<_> = (0..8)
            .map(|_| tokio::spawn(PostgresStore::connect(options.clone())))
            .collect();
        for store in starting {
            store.await.unwrap().unwrap();
        }
        assert_eq!(
            database
                .psql(&format!("SELECT count(*) FROM {schema}.migration"))
                .trim(),
            "12"
        );
    }

    let names = ShareNames::new("one", "other").unwrap();
    let refused = PostgresStore::connect(options.clone().share_names(names))
        .await
        .unwrap_err();
    assert!(matches!(refused, ConnectError::ShareNames(_)), "{refused}");
    database.psql(&format!(
        "INSERT INTO {schema}.migration VALUES (99, 'later', 'x', 0)"
    ));
    let refused = PostgresStore::connect(options.clone()).await.unwrap_err();
    assert!(
        matches!(
            refused,
            ConnectError::Newer {
                found: 99,
                known: 12
            }
        ),
        "{refused}"
    );
    database.psql(&format!(
        "DELETE FROM {schema}.migration WHERE number = 99; UPDATE {schema}.migration SET checksum = checksum || 'x'"
    ));
    let refused = PostgresStore::connect(options.clone()).await.unwrap_err();
    assert!(matches!(refused, ConnectError::Damaged(1)), "{refused}");
    // Tables that are not recognised as ours are not removed, whatever their names.
    assert!(matches!(
        PostgresStore::drop_tables(&options).await,
        Err(ConnectError::ForeignSchema(_))
    ));
    database.psql(&format!(
        "UPDATE {schema}.migration SET checksum = rtrim(checksum, 'x')"
    ));
    PostgresStore::drop_tables(&options).await.unwrap();
    assert!(matches!(
        PostgresStore::drop_tables(&options).await,
        Err(ConnectError::ForeignSchema(_))
    ));
    PostgresStore::connect(options).await.unwrap();
}

/// A store that connects counts the totals of existing tenants if the tables do not contain the
/// measures of the totals, as after the migration to this version. Several processes can connect
/// simultaneously. A total that this version does not know is rejected.
///
/// Requirements: RES-event-16 to RES-event-20, RES-fundraising_page-09, RES-fundraising_page-10, FLT-14.
#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn totals_are_counted_again_after_a_change_of_the_measures() {
    let database = support::server();
    let (options, schema) = fresh(database);
    let store = PostgresStore::connect(options.clone()).await.unwrap();
    let tenants = [
        store.ensure_tenant("one").await.unwrap(),
        store.ensure_tenant("other").await.unwrap(),
    ];
    let checked = check_recount(store, tenants, async |store| {
        drop(store);
        let former = FORMER_VALUES.iter().fold(
            "convert_from(body, 'UTF8')".to_owned(),
            |body, (_, stored, former)| format!("replace({body}, '{stored}', '{former}')"),
        );
        database.psql(&format!(
            "DELETE FROM {schema}.meta WHERE name = 'measures'; \
             INSERT INTO {schema}.tenant (id, name, created) SELECT max(id) + 1, 'interrupted', 0 FROM {schema}.tenant; \
             UPDATE {schema}.total SET measures = 'total_amount=9'; UPDATE {schema}.part SET measures = 'total_amount=9'; \
             DELETE FROM {schema}.text_key; DELETE FROM {schema}.email; DELETE FROM {schema}.person_key; DELETE FROM {schema}.shared_key; UPDATE {schema}.record SET body = convert_to({former}, 'UTF8')"
        ));
        let starting: Vec<_> = (0..4)
            .map(|_| tokio::spawn(PostgresStore::connect(options.clone())))
            .collect();
        for store in starting {
            store.await.unwrap().unwrap();
        }
        PostgresStore::connect(options.clone()).await.unwrap()
    });
    checked.await.unwrap();

    database.psql(&format!(
        "UPDATE {schema}.meta SET value = value || convert_to('Event.total_later = count(Attendance)', 'UTF8') \
         WHERE name = 'measures'"
    ));
    let refused = PostgresStore::connect(options).await.unwrap_err();
    assert!(
        matches!(&refused, ConnectError::UnknownMeasure(measure) if measure == "Event.total_later"),
        "{refused}"
    );
}

/// UND-42: an unusable database is reported in one line without a password.
#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn what_cannot_be_used_is_said() {
    let database = support::server();
    let said = |error: ConnectError| {
        let text = error.to_string();
        assert!(!text.contains("planted") && !text.contains('\n'), "{text}");
        text
    };
    assert!(
        said(PostgresOptions::new("postgres://svc:planted@localhost:port/x").unwrap_err())
            .contains("URL")
    );
    assert!(
        said(
            PostgresStore::connect(fresh(database).0.schema("a; DROP"))
                .await
                .unwrap_err()
        )
        .contains("a; DROP")
    );
    let closed = ClosedPort::new();
    let refused = options(&format!(
        "postgres://svc:planted@127.0.0.1:{}/postgres",
        closed.number()
    ));
    assert!(said(PostgresStore::connect(refused).await.unwrap_err()).contains("PostgreSQL"));
    let nowhere = database.url().replace("/postgres", "/nowhere");
    assert!(said(PostgresStore::connect(options(&nowhere)).await.unwrap_err()).contains("nowhere"));
    #[cfg(not(feature = "tls"))]
    {
        let encrypted = format!("{}?sslmode=require", database.url());
        assert!(matches!(
            PostgresOptions::new(&encrypted),
            Err(ConnectError::TlsUnavailable)
        ));
    }
}

/// AUT-01 to AUT-04, UND-15: keys give access to their tenant, in every process, until they are
/// revoked.
#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn keys() {
    let database = support::server();
    let (options, schema) = fresh(database);
    let (one, other) = (
        PostgresStore::connect(options.clone()).await.unwrap(),
        PostgresStore::connect(options.clone()).await.unwrap(),
    );
    let cached = PostgresStore::connect(options.key_cache_ttl(Duration::from_secs(60 * 60)))
        .await
        .unwrap();
    let (acme, beta) = (
        one.ensure_tenant("acme").await.unwrap(),
        one.ensure_tenant("beta").await.unwrap(),
    );
    let key = one
        .create_key(&acme, KeyOptions::new("form").read_only())
        .await
        .unwrap();
    let holder = async |store: &PostgresStore, token: &str| {
        let (headers, extensions) = (http::HeaderMap::new(), http::Extensions::new());
        let credentials = Credentials::new(Some(token), &headers, &extensions, Timestamp::now());
        store
            .authenticate(credentials)
            .await
            .unwrap()
            .map(|principal| principal.tenant)
    };
    for store in [&one, &other, &cached] {
        assert_eq!(
            holder(store, &key.token).await,
            Some(acme.clone()),
            "AUT-01"
        );
        assert_eq!(holder(store, "svck_unknown").await, None, "AUT-03");
    }
    assert_eq!(
        database
            .psql(&format!(
                "SELECT count(*) FROM {schema}.api_key WHERE position('svck' in label || hint) > 0"
            ))
            .trim(),
        "0"
    );
    let token = "a-token-that-was-chosen-before";
    let given = one
        .create_key_with_token(&acme, token, KeyOptions::new("given"))
        .await
        .unwrap();
    assert_eq!(
        other
            .create_key_with_token(&acme, token, KeyOptions::new("again"))
            .await
            .unwrap()
            .id,
        given.id
    );
    let refused = other
        .create_key_with_token(&beta, token, KeyOptions::new("taken"))
        .await;
    assert!(matches!(refused, Err(KeyError::TokenInUse)), "AUT-02");
    let unknown = one
        .create_key(&Tenant::new("nobody"), KeyOptions::new(""))
        .await;
    assert!(matches!(unknown, Err(KeyError::UnknownTenant(_))));
    assert_eq!(one.list_keys(Some(&acme)).await.unwrap().len(), 2);
    assert_eq!(one.list_keys(None).await.unwrap().len(), 2);
    assert!(
        other
            .revoke_key(&key.id, KeyWebhooks::Disable)
            .await
            .unwrap()
            .was_in_force,
        "UND-15"
    );
    assert!(
        !other
            .revoke_key(&key.id, KeyWebhooks::Disable)
            .await
            .unwrap()
            .was_in_force,
        "UND-15"
    );
    assert_eq!(holder(&one, &key.token).await, None, "UND-15: immediately");
    assert_eq!(
        holder(&cached, &key.token).await,
        Some(acme),
        "for the time of `key_cache`"
    );
    one.set_metadata("how far", "half").await.unwrap();
    assert_eq!(
        other.metadata("how far").await.unwrap().as_deref(),
        Some("half")
    );
    assert_eq!(
        other.metadata("secret").await.unwrap(),
        None,
        "marks of programs are separate from values of the store"
    );
}

/// A caller sees its own writes, however far the replica lags. If the replica cannot be reached,
/// the primary answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn reads_go_to_a_replica() {
    let primary = support::server::Server::start();
    let options = options(&primary.url());
    PostgresStore::connect(options.clone()).await.unwrap();
    let standby = primary.standby("reads");
    let way = Proxy::start(standby.port());
    let server = Server::open(options.replica(&way.url()).unwrap()).await;
    let mut seen = 0;
    for number in 0..40 {
        // The replica pauses from time to time.
        if number % 10 == 3 {
            standby.psql("SELECT pg_wal_replay_pause()");
        }
        if number % 10 == 8 {
            standby.psql("SELECT pg_wal_replay_resume()");
        }
        let made = server
            .make("tags", json!({"name": format!("{number}")}))
            .await;
        assert_eq!(server.get(&made).await.status, 200, "{number}");
        assert_eq!(server.total("tags").await, number + 1, "{number}");
        seen = way.round_trips();
    }
    assert!(seen >= 80, "the replica was used each time: {seen}");
    // Finally it has all writes, and the primary is no longer used.
    support::wait_until("the replica has caught up", || {
        standby.psql("SELECT count(*) FROM svc.record").trim() == "40"
    });
    standby.kill();
    assert_eq!(server.total("tags").await, 40);
}

/// On a cluster the statements of a tenant go to its worker, and to the coordinator while that
/// cannot be reached. The catalogue of Citus is a table of the test here. All servers are the same
/// one, behind proxies that count.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_tenant_is_asked_where_it_is() {
    let database = support::server::Server::start();
    let [front, its, others] = [(); 3].map(|()| Proxy::start(database.port()));
    let role = database.cluster_role(its.port());
    let store = PostgresStore::connect(options(&url_of(&role, front.port())).cluster())
        .await
        .unwrap();
    for name in ["one", "other"] {
        store.ensure_tenant(name).await.unwrap();
    }
    let number = database.psql("SELECT id FROM svc.tenant WHERE name = 'one'");
    let others_port = others.port();
    database.psql(&format!(
        "INSERT INTO {role}.pg_dist_node VALUES (1, '127.0.0.1', {others_port}, 'primary', true), \
         (1, 'nobody', 1, 'secondary', true); \
         INSERT INTO {role}.pg_dist_placement VALUES (101, 1); \
         CREATE OR REPLACE FUNCTION {role}.get_shard_id_for_distribution_column(regclass, bigint) RETURNS bigint LANGUAGE sql \
         AS 'SELECT CASE $2 WHEN {number} THEN 100 ELSE 101 END::bigint'"
    ));
    let one = Server::of(store.clone(), "one").await;
    let other = Server::of(store, "other").await;
    one.make("tags", json!({"name": "a"})).await;
    assert!(its.round_trips() > 0 && others.round_trips() == 0);
    other.make("tags", json!({"name": "a"})).await;
    assert!(others.round_trips() > 0);
    front.reset();
    let made = one.make("tags", json!({"name": "b"})).await;
    assert_eq!(
        (one.get(&made).await.status, one.total("tags").await),
        (200, 2)
    );
    assert_eq!(front.round_trips(), 0, "all statements went to the worker");

    let closed = ClosedPort::new();
    its.redirect(closed.number());
    its.cut();
    its.reset();
    assert_eq!(
        (one.get(&made).await.status, one.total("tags").await),
        (200, 2),
        "UND-36"
    );
    one.make("tags", json!({"name": "c"})).await;
    assert!(front.round_trips() > 0 && its.round_trips() == 0);
    its.cut();
    assert_eq!((one.total("tags").await, other.total("tags").await), (3, 1));
}

/// IDM-06: stored responses are deleted after 24 hours, whichever tenant sends the next request.
#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn idm_06_old_responses_go_with_requests_of_any_tenant() {
    const HOUR: i64 = 60 * 60 * 1_000_000;
    let database = support::server();
    for is_fenced in [false, true] {
        let schema = database.schema();
        let role = format!("swept_{schema}");
        database.psql(&format!(
            "CREATE ROLE {role} LOGIN; CREATE SCHEMA {schema} AUTHORIZATION {role}"
        ));
        let clock = Arc::new(AtomicI64::new(1_800_000_000_000_000));
        let of_store = Arc::clone(&clock);
        let options = options(&database.url().replace("svc@", &format!("{role}@"))).schema(&schema);
        let options =
            options.clock(move || Timestamp::from_micros(of_store.load(Ordering::Relaxed)));
        let options = if is_fenced {
            options.row_level_security()
        } else {
            options
        };
        let mut one = Server::open(options).await;
        let other = one.store.ensure_tenant("other").await.unwrap();
        let [remaining, merged] = [
            one.make("people", json!({"given_name": "Ada"})).await,
            one.make("people", json!({"given_name": "Eve"})).await,
        ];
        one.api = api(&one.store)
            .merge_people()
            .undo_merges_for(Duration::from_secs(1_800))
            .build()
            .unwrap();
        let body = json!({"_links": {"svc:person": {"href": merged}}});
        let merge = one.post(&format!("{remaining}/merge_helper"), body).await;
        assert_eq!(merge.status, 200, "{}", merge.json);
        let ask = async |tenant: &Tenant,
                         method: Method,
                         path: &str,
                         headers: HeaderMap,
                         body: &'static str| {
            let received = Timestamp::from_micros(clock.load(Ordering::Relaxed));
            let request = Request::new(&method, path)
                .with_headers(&headers)
                .with_body(body)
                .with_received_at(received);
            let who = Identity::Authenticated(Principal::new(
                tenant.clone(),
                Caller::with_rights(Rights::all()),
            ));
            assert_eq!(one.api.handle(who, request).await.status, 200, "{path}");
        };
        let key = HeaderMap::from_iter([(
            "idempotency-key".parse().unwrap(),
            HeaderValue::from_static("k"),
        )]);
        ask(
            &one.tenant,
            Method::POST,
            "people/person_signup",
            key,
            r#"{"person": {"given_name": "Ada"}}"#,
        )
        .await;
        let read = async || ask(&other, Method::GET, "people", HeaderMap::new(), "").await;
        let rows = || {
            let tables =
                ["kept", "merge"].map(|it| format!("(SELECT count(*) FROM {schema}.{it})"));
            let counts = database.psql(&format!("SELECT {}", tables.join(" || ' ' || ")));
            counts.trim().to_owned()
        };
        clock.fetch_add(23 * HOUR, Ordering::Relaxed);
        read().await;
        assert_eq!(
            rows(),
            "2 1",
            "the response, its person and the merge have not expired yet"
        );
        clock.fetch_add(2 * HOUR, Ordering::Relaxed);
        read().await;
        assert_eq!(rows(), "0 0");
    }
}

/// AUT-02: with row-level security, a statement without a tenant returns no rows, and one of
/// another tenant changes none.
#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_second_fence() {
    let database = support::server();
    let schema = database.schema();
    let role = format!("fenced_{schema}");
    database.psql(&format!(
        "CREATE ROLE {role} LOGIN; CREATE SCHEMA {schema} AUTHORIZATION {role}"
    ));
    let url = database.url().replace("svc@", &format!("{role}@"));
    let store = PostgresStore::connect(options(&url).schema(&schema).row_level_security())
        .await
        .unwrap();
    // A second start needs no lock that would wait for a reader such as `pg_dump`. The reader holds
    // its lock until the start has finished.
    let reader = support::client(&database.url()).await;
    reader
        .batch_execute(&format!(
            "BEGIN; LOCK TABLE {schema}.ledger IN ACCESS SHARE MODE"
        ))
        .await
        .unwrap();
    PostgresStore::connect(options(&url).schema(&schema).row_level_security())
        .await
        .unwrap();
    reader.batch_execute("COMMIT").await.unwrap();
    let one = Server::of(store.clone(), "one").await;
    let two = Server::of(store, "two").await;
    let petition = one.make("petitions", json!({})).await;
    two.make("petitions", json!({})).await;
    assert_eq!(
        (one.total("petitions").await, two.total("petitions").await),
        (1, 1),
        "AUT-02"
    );
    assert_eq!(two.get(&petition).await.status, 404, "AUT-02");
    let as_role = |text: &str| {
        database
            .psql(&format!("SET ROLE {role}; {text}"))
            .lines()
            .last()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(
        as_role(&format!("SELECT count(*) FROM {schema}.record")),
        "0"
    );
    let first = database
        .psql(&format!(
            "SELECT id FROM {schema}.tenant WHERE name = 'one'"
        ))
        .trim()
        .to_owned();
    assert_eq!(
        as_role(&format!(
            "SET svc.tenant = '{first}'; SELECT count(*) FROM {schema}.record"
        )),
        "1"
    );
    let foreign = format!(
        "SET ROLE {role}; SET svc.tenant = '{first}'; INSERT INTO {schema}.email VALUES (77, gen_random_uuid(), 1)"
    );
    assert!(
        database
            .try_psql(&foreign)
            .unwrap_err()
            .contains("row-level security")
    );
    assert_eq!(
        as_role(&format!(
            "SET svc.tenant = 'directory'; SELECT count(*) FROM {schema}.email"
        )),
        "0"
    );
}

/// COL-23: a cached response is not used after a write of any process.
#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn col_23_what_is_kept_ends_with_a_write() {
    let database = support::server();
    let (options, _) = fresh(database);
    let (one, other) = (
        Server::keeping(options.clone()).await,
        Server::keeping(options).await,
    );
    let person = one.make("people", json!({"given_name": "0"})).await;
    for (round, writer) in [&one, &other, &one, &other].into_iter().enumerate() {
        for reader in [&one, &other] {
            for _ in 0..3 {
                assert_eq!(
                    reader.get(&person).await.json["given_name"],
                    round.to_string()
                );
                assert_eq!(reader.get("people").await.json["total_records"], 1 + round);
            }
        }
        let name = (round + 1).to_string();
        assert_eq!(
            writer
                .put(&person, json!({"given_name": name}))
                .await
                .status,
            200
        );
        writer.make("people", json!({"given_name": "Ada"})).await;
    }
}

/// The revision increases with every write of any process, and not with reads.
#[tokio::test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_revision_of_a_tenant() {
    let database = support::server();
    let (options, _) = fresh(database);
    let (one, other) = (
        Server::open(options.clone()).await,
        Server::open(options).await,
    );
    let tenant = Tenant::new("demo");
    let before = other.store.revision(&tenant, Instant::now()).await.unwrap();
    one.make("tags", json!({"name": "a"})).await;
    let after = other.store.revision(&tenant, Instant::now()).await.unwrap();
    assert!(after > before);
    one.get("tags").await;
    assert_eq!(
        one.post("tags", json!({"name": "a"})).await.status,
        400,
        "UND-02"
    );
    assert_eq!(
        other.store.revision(&tenant, Instant::now()).await.unwrap(),
        after
    );
    assert_eq!(
        one.store
            .revision(&Tenant::new("nobody"), Instant::now())
            .await,
        None
    );
    // A transaction returns its connection after its caller has the response.
    until("the connections are idle", async || {
        let stats = one.store.stats();
        stats.idle_connections >= 1
            && stats.busy_connections == 0
            && stats.waiting_for_connection == 0
    })
    .await;
    let stats = one.store.stats();
    assert_eq!(
        (
            stats.commits.transactions,
            stats.commits.writes,
            stats.commits.largest_transaction
        ),
        (1, 1, 1)
    );
    assert_eq!(stats.queued_writes, 0);
}

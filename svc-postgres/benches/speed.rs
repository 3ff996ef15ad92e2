//! Measures the speed of the service over PostgreSQL, in process. It is compared with hand-written
//! code through the same client and with svc-sqlite, all in one run.
//!
//! `cargo bench -p svc-postgres --bench speed` runs all parts; `-- writes`, `-- far`, `-- pages`,
//! `-- cpu`, `-- many` run one of them. It starts its own PostgreSQL server. Each line has a bound,
//! the measured value, and `ok` or `MISSED`. After a miss the exit code is 1.

mod hand_written;
#[allow(dead_code, reason = "it measures more than this benchmark needs")]
#[path = "../../svc-sqlite/benches/measure/mod.rs"]
mod measure;
mod raw_socket;
#[allow(dead_code, reason = "it offers more than this benchmark uses")]
#[path = "../tests/it/postgres/server.rs"]
mod server;
#[path = "../tests/it/postgres/support/mod.rs"]
mod support;

use std::{
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use hand_written::{Empty, Naive};
use measure::{Bound, CpuWatch, Report, interleaved, is_asked_for, per_second};
use raw_socket::Bare;
use serde_json::json;
use server::Server;
use support::proxy::Proxy;
use svc_postgres::{PostgresOptions, PostgresStore};
use tokio::{
    runtime::{Builder, Runtime},
    sync::Mutex,
    task::JoinSet,
};
use uuid::Uuid;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The number of simultaneous callers, and the duration of a measurement.
const CALLERS: usize = 64;
const WHILE: Duration = Duration::from_millis(1_500);
/// The number of connections of the hand-written code; more connections were slower.
const BY_HAND: usize = 32;
/// The number of write connections of a store with the default options.
const WRITERS: usize = 12;

fn main() -> ExitCode {
    let mut report = Report::default();
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let database =
        support::server::Server::with(&[("max_connections", "200"), ("shared_buffers", "256MB")]);
    if is_asked_for("writes") {
        writes(&mut report, &runtime, &database.url(), 8.0, 1.0);
    }
    if is_asked_for("far") {
        let way = Proxy::start(database.port());
        way.delay(Duration::from_micros(500));
        writes(&mut report, &runtime, &way.url(), 25.0, 1.0);
    }
    if is_asked_for("pages") {
        pages(&mut report, &runtime, &database);
    }
    if is_asked_for("cpu") {
        cpu(&mut report, &database);
    }
    if is_asked_for("many") {
        many(&mut report, &runtime, &database);
    }
    report.finish()
}

/// Opens a store in a separate schema, with a petition.
async fn petition(url: &str, schema: &str) -> (Server, String) {
    let server = Server::open(PostgresOptions::new(url).expect("a URL").schema(schema)).await;
    let petition = server.make("petitions", json!({})).await;
    (server, petition)
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

async fn sign(server: &Server, petition: &str) {
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let person = json!({"given_name": "Ada", "email_addresses": [{"address": format!("p{number}@example.org")}]});
    let answer = server
        .post(
            &format!("{petition}/record_signature_helper"),
            json!({"person": person}),
        )
        .await;
    assert_eq!(answer.status, 200, "{}", answer.json);
}

/// Returns the requests per second of a number of callers.
async fn served(server: &Server, petition: &str, callers: usize) -> f64 {
    let (begin, mut calls) = (Instant::now(), JoinSet::new());
    for _ in 0..callers {
        let (server, petition) = (server.clone(), petition.to_owned());
        calls.spawn(async move {
            let mut done = 0_u32;
            while begin.elapsed() < WHILE {
                sign(&server, &petition).await;
                done += 1;
            }
            done
        });
    }
    let done: u32 = calls.join_all().await.into_iter().sum();
    f64::from(done) / begin.elapsed().as_secs_f64()
}

/// Returns the requests per second of the same callers with hand-written code; each caller waits
/// for a connection.
async fn by_hand(naive: &'static [Mutex<Naive>], callers: usize) -> f64 {
    let (begin, mut calls) = (Instant::now(), JoinSet::new());
    for caller in 0..callers {
        calls.spawn(async move {
            let mut done = 0_u32;
            while begin.elapsed() < WHILE {
                naive[caller % naive.len()].lock().await.sign().await;
                done += 1;
            }
            done
        });
    }
    let done: u32 = calls.join_all().await.into_iter().sum();
    f64::from(done) / begin.elapsed().as_secs_f64()
}

/// Measures durable helper requests on one petition, by many callers and by a single one.
fn writes(report: &mut Report, runtime: &Runtime, url: &str, many: f64, lone: f64) {
    let schema = format!("writes_{}", Uuid::new_v4().simple());
    let (server, petition) = runtime.block_on(petition(url, &schema));
    let id: Uuid = petition
        .rsplit('/')
        .next()
        .and_then(|id| id.parse().ok())
        .expect("an id");
    let hand: &'static [Mutex<Naive>] = runtime.block_on(async {
        // A separate tenant on the same tables.
        let other = Server::of(server.store.clone(), "by-hand").await;
        other.make("petitions", json!({})).await;
        let tenant = number(url, &schema, "by-hand").await;
        let mut all = Vec::new();
        for _ in 0..BY_HAND {
            all.push(Mutex::new(Naive::connect(url, &schema, tenant, id).await));
        }
        Vec::leak(all)
    });
    let mut ours = || runtime.block_on(served(&server, &petition, CALLERS));
    let mut theirs = || runtime.block_on(by_hand(hand, CALLERS));
    let [with, without] = interleaved(5, [&mut ours, &mut theirs]);
    let detail = format!("{with:.0} against {without:.0} requests per second");
    report.line(
        "helpers, 64 callers, over hand-written transactions",
        Bound::AtLeast(many),
        with / without,
        "x",
        &detail,
    );
    let mut ours = || runtime.block_on(served(&server, &petition, 1));
    let mut theirs = || runtime.block_on(by_hand(&hand[..1], 1));
    let [with, without] = interleaved(5, [&mut ours, &mut theirs]);
    let detail = format!("{with:.0} against {without:.0} requests per second");
    report.line(
        "helpers, a single caller, over hand-written code",
        Bound::AtLeast(lone),
        with / without,
        "x",
        &detail,
    );
}

/// Returns the number of a tenant.
async fn number(url: &str, schema: &str, name: &str) -> i64 {
    let config: tokio_postgres::Config = url.parse().expect("a URL");
    let (client, connection) = config
        .connect(tokio_postgres::NoTls)
        .await
        .expect("a connection");
    tokio::spawn(connection);
    let text = format!("SELECT id FROM {schema}.tenant WHERE name = $1");
    client
        .query_one(&text, &[&name])
        .await
        .expect("a tenant")
        .get(0)
}

/// Fills a tenant with people by one statement; each has a body of about 700 bytes.
fn people(database: &support::server::Server, schema: &str, tenant: &str, many: u32) {
    // As the store writes it: members without braces.
    let body = format!(
        r#""given_name":"Ada","family_name":"L","custom_fields":{{"note":"{}"}}"#,
        "x".repeat(620)
    );
    database.psql(&format!(
        "INSERT INTO {schema}.record (tenant, kind, id, seq, created, modified, identifiers, body) \
         SELECT t.id, 1, md5(t.id::text || n)::uuid, n, 1767603600000000 + n, 1767603600000000 + n, '', '{body}'::bytea \
         FROM {schema}.tenant t, generate_series(1, {many}) n WHERE t.name LIKE '{tenant}'; \
         INSERT INTO {schema}.total (tenant, kind, scope, owner, records) \
         SELECT t.id, 1, 0, '00000000-0000-0000-0000-000000000000', {many} FROM {schema}.tenant t WHERE t.name LIKE '{tenant}'; \
         UPDATE {schema}.ledger l SET seq = {many}, clock = 1767603600000000 + {many} FROM {schema}.tenant t \
         WHERE t.id = l.tenant AND t.name LIKE '{tenant}'; ANALYZE {schema}.record"
    ));
}

/// Measures a page against its raw statement through the same client, and page 3 900 against page
/// 1.
fn pages(report: &mut Report, runtime: &Runtime, database: &support::server::Server) {
    const PAGES: u32 = 400;
    let schema = format!("pages_{}", Uuid::new_v4().simple());
    let options = PostgresOptions::new(&database.url())
        .expect("a URL")
        .schema(&schema);
    let server = runtime.block_on(Server::open(options));
    people(database, &schema, "demo", 100_000);
    let (client, statement, tenant) = runtime.block_on(async {
        let config: tokio_postgres::Config = database.url().parse().expect("a URL");
        let (client, connection) = config
            .connect(tokio_postgres::NoTls)
            .await
            .expect("a connection");
        tokio::spawn(connection);
        let text = svc_postgres::statements_for_tests(&schema);
        let text = text
            .iter()
            .find(|(name, _)| name == "page")
            .map(|(_, text)| text.clone())
            .expect("the statement");
        let statement = client.prepare(&text).await.expect("a statement");
        (
            client,
            statement,
            number(&database.url(), &schema, "demo").await,
        )
    });
    let raw = || {
        per_second(PAGES, || {
            runtime.block_on(async {
                for _ in 0..PAGES {
                    let all = Uuid::nil();
                    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
                        [&tenant, &1_i16, &0_i64, &26_i64, &0_i16, &all];
                    assert_eq!(
                        client.query(&statement, &values).await.expect("rows").len(),
                        26
                    );
                }
            });
        })
    };
    let page = |address: &str| {
        per_second(PAGES, || {
            runtime.block_on(async {
                for _ in 0..PAGES {
                    server::read(&server.api, &server.tenant, address).await;
                }
            });
        })
    };
    // Page 3 900 by its link, like a client that reads all pages.
    let deep = runtime.block_on(server.get("people?page=3899")).json["_links"]["next"]["href"]
        .as_str()
        .map(str::to_owned);
    let deep = deep.expect("a next page");
    let store = |server: &Server| {
        let (store, cx) = (server.store.clone(), server.caller());
        per_second(PAGES, || {
            runtime.block_on(async {
                let request = svc_core::ListRequest::new(
                    svc_core::link::Scope::All,
                    svc_core::page::PageRequest::new(1, 25),
                );
                for _ in 0..PAGES {
                    let page = svc_core::store::Store::list(
                        &store,
                        &cx,
                        svc_core::model::Kind::Person,
                        &request,
                    )
                    .await;
                    assert_eq!(page.expect("a page").records.len(), 25);
                }
            });
        })
    };
    let [raw, listed, first, last] = interleaved(
        9,
        [
            &mut || raw(),
            &mut || store(&server),
            &mut || page("people"),
            &mut || page(&deep),
        ],
    );
    let detail =
        format!("{raw:.0} raw, {listed:.0} by the store, {first:.0} rendered pages per second");
    report.line(
        "time of a page of 25 over its raw statement",
        Bound::AtMost(1.3),
        raw / listed,
        "x",
        &detail,
    );
    report.line(
        "time of page 3 900 over page 1",
        Bound::AtMost(1.2),
        first / last,
        "x",
        &format!("{last:.0} pages per second"),
    );
}

/// Measures the CPU time of the service's thread for a page and for a person, against svc-sqlite.
fn cpu(report: &mut Report, database: &support::server::Server) {
    const READS: u32 = 300;
    let one_thread = || {
        Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
    };
    let (runtime, embedded) = (one_thread(), one_thread());
    let schema = format!("cpu_{}", Uuid::new_v4().simple());
    let server = runtime.block_on(Server::open(
        PostgresOptions::new(&database.url())
            .expect("a URL")
            .schema(&schema),
    ));
    let folder = tempfile::tempdir().expect("a folder");
    let file =
        svc_sqlite::SqliteStore::open(svc_sqlite::SqliteOptions::new(folder.path().join("cpu.db")))
            .expect("a file");
    let file = embedded.block_on(async {
        let tenant = file.ensure_tenant("demo").await.expect("a tenant");
        (
            file.register_all(server::builder())
                .authenticator(file.clone())
                .build()
                .expect("an API"),
            tenant,
        )
    });
    let file = (file.0, file.1);
    let body = |number: u32| json!({"given_name": "Ada", "family_name": format!("L{number}"), "custom_fields": {"note": "x".repeat(600)}});
    let mut person = (String::new(), String::new());
    for number in 0..200 {
        person.0 = runtime.block_on(server.make("people", body(number)));
        person.1 = embedded
            .block_on(server::call(
                &file.0,
                &file.1,
                "POST",
                "people",
                body(number),
            ))
            .self_link();
    }
    let mut bare = Bare::connect(database.port());
    // The number of bytes that the database sends for 26 people, and for one.
    let reads = [
        ("a page", "people", "people", 20_000),
        ("a person", &*person.0, &*person.1, 750),
    ];
    for (what, ours, theirs, bytes) in reads {
        let ours = || {
            let watch = CpuWatch::start();
            runtime.block_on(async {
                for _ in 0..READS {
                    server::read(&server.api, &server.tenant, ours).await;
                }
            });
            watch.micros() / f64::from(READS)
        };
        let theirs = || {
            let watch = CpuWatch::start();
            embedded.block_on(async {
                for _ in 0..READS {
                    server::read(&file.0, &file.1, theirs).await;
                }
            });
            watch.micros() / f64::from(READS)
        };
        let socket = || {
            let watch = CpuWatch::start();
            (0..READS).for_each(|_| bare.ask(bytes));
            watch.micros() / f64::from(READS)
        };
        let [ours, theirs, socket] =
            interleaved(9, [&mut { ours }, &mut { theirs }, &mut { socket }]);
        let detail = format!(
            "{ours:.1} against {theirs:.1} microseconds; a bare socket alone needs {socket:.1}"
        );
        report.line(
            &format!("CPU for {what} over svc-sqlite"),
            Bound::AtMost(1.5),
            ours / theirs,
            "x",
            &detail,
        );
    }
}

/// Measures a thousand tenants and a million people: memory of the process, and helpers over all
/// tenants against eight, where four requests share a transaction. The cost of empty transactions
/// is measured for comparison.
fn many(report: &mut Report, runtime: &Runtime, database: &support::server::Server) {
    let schema = format!("many_{}", Uuid::new_v4().simple());
    let options = PostgresOptions::new(&database.url())
        .expect("a URL")
        .schema(&schema);
    let store = runtime
        .block_on(PostgresStore::connect(options))
        .expect("a store");
    let servers: Vec<(Server, String)> = runtime.block_on(async {
        let mut servers = Vec::new();
        for number in 0..1_000 {
            let server = Server::of(store.clone(), &format!("t{number}")).await;
            servers.push((server, String::new()));
        }
        people(database, &schema, "t%", 1_000);
        for (server, petition) in &mut servers {
            *petition = server.make("petitions", json!({})).await;
        }
        servers
    });
    let over = |tenants: &[(Server, String)]| {
        runtime.block_on(async {
            let (begin, mut calls) = (Instant::now(), JoinSet::new());
            for caller in 0..CALLERS {
                let tenants = tenants.to_vec();
                calls.spawn(async move {
                    let (mut done, mut next) = (0_u32, caller);
                    while begin.elapsed() < WHILE {
                        let (server, petition) = &tenants[next % tenants.len()];
                        sign(server, petition).await;
                        (done, next) = (done + 1, next + CALLERS);
                    }
                    done
                });
            }
            let done: u32 = calls.join_all().await.into_iter().sum();
            f64::from(done) / begin.elapsed().as_secs_f64()
        })
    };
    let numbers = database.psql(&format!("SELECT tenant FROM {schema}.ledger"));
    let numbers: Vec<i64> = numbers
        .lines()
        .map(|number| number.parse().expect("a number"))
        .collect();
    let hands = runtime.block_on(async {
        let mut all = Vec::new();
        for _ in 0..WRITERS {
            all.push(Arc::new(Empty::connect(&database.url(), &schema).await));
        }
        all
    });
    let empty = || runtime.block_on(empty(&hands, &numbers));
    let [all, few, empty] = interleaved(
        5,
        [&mut || over(&servers), &mut || over(&servers[..8]), &mut {
            empty
        }],
    );
    let detail = format!(
        "{all:.0} against {few:.0} requests per second; {empty:.0} hand-written transactions over \
            1 000 that write nothing"
    );
    report.line(
        "helpers over 1 000 tenants over those of 8",
        Bound::AtLeast(0.5),
        all / few,
        "x",
        &detail,
    );
    let memory = resident();
    report.line(
        "memory with 1 000 tenants, 1 000 000 people",
        Bound::AtMost(96.0),
        memory,
        " MiB",
        "resident, tables of 1 000 services included",
    );
}

/// Returns the empty transactions per second over all tenants.
async fn empty(hands: &[Arc<Empty>], tenants: &[i64]) -> f64 {
    let (begin, mut turns) = (Instant::now(), JoinSet::new());
    for (hand, by) in hands.iter().enumerate() {
        let own: Vec<i64> = tenants
            .iter()
            .copied()
            .skip(hand)
            .step_by(hands.len())
            .collect();
        let by = Arc::clone(by);
        turns.spawn(async move {
            let mut done = 0_u32;
            for tenant in own.iter().cycle().take_while(|_| begin.elapsed() < WHILE) {
                by.turn(*tenant).await;
                done += 1;
            }
            done
        });
    }
    let done: u32 = turns.join_all().await.into_iter().sum();
    f64::from(done) / begin.elapsed().as_secs_f64()
}

/// Returns the resident memory of this process in MiB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib / 1024.0)
}

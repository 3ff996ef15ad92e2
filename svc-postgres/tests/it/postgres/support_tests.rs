//! Tests of the support code for PostgreSQL servers. They do not use the store.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::support::{self, pgbouncer::Bouncer, proxy::Proxy, server::Server, wait_until};
use tokio_postgres::types::Type;

/// Set for the process that [`nothing_is_left_when_a_test_is_killed`] kills.
const IN_THE_MIDDLE: &str = "SVC_POSTGRES_IN_THE_MIDDLE";

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn one_server_is_shared_and_each_test_has_a_schema_of_its_own() {
    let (one, same) = (support::server(), support::server());
    assert_eq!(one.port(), same.port());
    assert_ne!(one.schema(), one.schema());
    assert_eq!(
        one.psql("SELECT current_user, current_database()"),
        "svc|postgres"
    );
    assert_eq!(
        one.psql("SELECT current_setting('fsync'), current_setting('synchronous_commit')"),
        "on|on"
    );
    assert!(
        one.try_psql("SELECT 1/0")
            .unwrap_err()
            .contains("division by zero")
    );
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn settings_are_taken_and_kept() {
    let server = Server::with(&[("max_connections", "37")]);
    assert_eq!(server.psql("SHOW max_connections"), "37");
    server.restart();
    assert_eq!(server.psql("SHOW max_connections"), "37");
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_port_that_somebody_has_for_a_moment_is_waited_for() {
    let database = support::server();
    let server = Server::start();
    server.stop();
    let listener = TcpListener::bind(("127.0.0.1", server.port())).unwrap();
    let refused = |log: String| log.matches("Address already in use").count();
    thread::scope(|scope| {
        scope.spawn(|| server.start_again());
        wait_until("the port was in use", || refused(server.log()) > 0);
        drop(listener);
    });
    assert_eq!(server.psql("SELECT 1"), "1");
    if Bouncer::is_installed() {
        let pooler = Bouncer::start(database, 2);
        pooler.kill();
        let listener = TcpListener::bind(("127.0.0.1", pooler.port())).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| pooler.start_again());
            wait_until("the port was in use", || refused(pooler.log()) > 0);
            drop(listener);
        });
        assert_eq!(pooler.try_psql("SELECT 1").unwrap(), "1");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_crash_keeps_what_was_acknowledged_and_nothing_else() {
    let server = Server::start();
    let port = server.port();
    server.psql("CREATE TABLE seen (number int)");
    for number in 0..3 {
        server.psql(&format!("INSERT INTO seen VALUES ({number})"));
        let client = support::client(&server.url()).await;
        client
            .batch_execute("BEGIN; INSERT INTO seen VALUES (4711)")
            .await
            .unwrap();
        server.kill();
        assert_eq!(server.processes(), 0);
        assert!(client.batch_execute("COMMIT").await.is_err());
        assert!(server.try_psql("SELECT 1").is_err());
        server.start_again();
    }
    assert_eq!(server.port(), port);
    assert_eq!(
        server.psql("SELECT string_agg(number::text, ',' ORDER BY number) FROM seen"),
        "0,1,2"
    );
    assert!(
        server.log().contains("was not properly shut down"),
        "{}",
        server.log()
    );
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn a_synchronous_standby_has_every_acknowledged_row_when_it_is_promoted() {
    let mut primary = Server::start();
    primary.psql("CREATE TABLE seen (number int)");
    for round in 0..2 {
        let standby = primary.standby("second");
        primary.synchronous(Some("second"));
        let is_over = AtomicBool::new(false);
        let acknowledged = thread::scope(|scope| {
            let write = || {
                let sql = format!("INSERT INTO seen VALUES ({round})");
                (0..1_000_000)
                    .take_while(|_| {
                        !is_over.load(Ordering::SeqCst) && primary.try_psql(&sql).is_ok()
                    })
                    .count()
            };
            let writer = scope.spawn(write);
            let count = format!("SELECT count(*) > 4 FROM seen WHERE number = {round}");
            wait_until("rows are on the standby", || standby.psql(&count) == "t");
            primary.kill();
            is_over.store(true, Ordering::SeqCst);
            writer.join().unwrap()
        });
        assert!(
            standby
                .try_psql("INSERT INTO seen VALUES (-1)")
                .unwrap_err()
                .contains("read-only")
        );
        standby.promote();
        let there = standby.psql(&format!("SELECT count(*) FROM seen WHERE number = {round}"));
        // The last write may be stored without an acknowledgement.
        let there: usize = there.parse().unwrap();
        assert!(
            there == acknowledged || there == acknowledged + 1,
            "{acknowledged} acknowledged, {there} stored"
        );
        standby.synchronous(None);
        standby.psql("INSERT INTO seen VALUES (100)");
        primary = standby;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_pooler_lends_a_connection_for_a_transaction() {
    let server = support::server();
    let bouncer = Bouncer::start(server, 2);
    let mut clients = Vec::new();
    for _ in 0..6 {
        clients.push(support::client(&bouncer.url()).await);
    }
    let mut backends = Vec::new();
    for client in &clients {
        let row = client
            .query_typed("SELECT pg_backend_pid()", &[])
            .await
            .unwrap();
        backends.push(row[0].get::<_, i32>(0));
    }
    backends.sort_unstable();
    backends.dedup();
    assert!(backends.len() <= 2, "{backends:?}");
    assert!(bouncer.admin("SHOW POOLS").contains("transaction"));

    bouncer.kill();
    assert!(clients[0].query_typed("SELECT 1", &[]).await.is_err());
    assert!(bouncer.try_psql("SELECT 1").is_err());
    bouncer.start_again();
    assert_eq!(bouncer.try_psql("SELECT 1").unwrap(), "1");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn named_statements_are_lost_behind_an_old_pooler_only() {
    let server = support::server();
    let bouncer = Bouncer::start(server, 2);
    let (one, other) = (
        support::client(&bouncer.url()).await,
        support::client(&bouncer.url()).await,
    );
    let statement = one.prepare("SELECT 1").await.unwrap();
    // The other client uses the connection on which the statement was prepared, so the first one
    // gets another connection.
    other.batch_execute("BEGIN").await.unwrap();
    let outcome = one.query(&statement, &[]).await;
    assert_eq!(outcome.is_ok(), Bouncer::knows_named(), "{outcome:?}");
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn round_trips_are_counted() {
    let proxy = Proxy::start(support::server().port());
    proxy.block_on(all_are_counted(&proxy));
}

async fn all_are_counted(proxy: &Proxy) {
    let client = support::client(&proxy.url()).await;
    assert_eq!((proxy.round_trips(), proxy.connections()), (0, 1));

    let types = [(
        &1_i32 as &(dyn tokio_postgres::types::ToSql + Sync),
        Type::INT4,
    )];
    let counted = async |expected: u64, what: &str| {
        assert_eq!(proxy.round_trips(), expected, "{what}");
        proxy.reset();
    };
    client.batch_execute("SELECT 1; SELECT 2").await.unwrap();
    counted(1, "a simple query").await;
    client.query_typed("SELECT $1", &types).await.unwrap();
    counted(1, "an unnamed statement").await;
    let statement = client.prepare("SELECT $1::int").await.unwrap();
    counted(1, "a preparation").await;
    client.query(&statement, &[&1]).await.unwrap();
    client.query(&statement, &[&1]).await.unwrap();
    counted(2, "a prepared statement, twice").await;
    assert!(client.query_typed("SELECT 1/0", &[]).await.is_err());
    counted(1, "a failure").await;
    // An error is reported before the server is ready again. The next request must find it ready.
    client.batch_execute("SELECT 1").await.unwrap();
    proxy.reset();

    let long = "x".repeat(100_000);
    let ask = || client.query_typed("SELECT $1", std::slice::from_ref(&types[0]));
    let more = client
        .query_typed("SELECT length($1)", &[(&long, Type::TEXT)])
        .await
        .unwrap();
    assert_eq!(more[0].get::<_, i32>(0), 100_000);
    counted(1, "a long parameter").await;
    for _ in 0..5 {
        // Each with a Sync of its own.
        let (one, two, three, four) =
            tokio::join!(ask(), ask(), ask(), client.batch_execute("SELECT 1"));
        one.and(two).and(three).unwrap();
        four.unwrap();
        counted(1, "a pipeline of four").await;
    }
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn psql_is_counted_though_it_asks_for_encryption_first() {
    let server = support::server();
    let proxy = Proxy::start(server.port());
    let mut psql = Command::new("psql");
    psql.args([
        "-XAt",
        "-d",
        &proxy.url(),
        "-c",
        "SELECT 1",
        "-c",
        "SELECT 2",
        "-c",
        "SELECT 3",
    ]);
    assert_eq!(psql.output().unwrap().stdout, b"1\n2\n3\n");
    assert_eq!((proxy.round_trips(), proxy.connections()), (3, 1));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn a_wire_can_be_slow_and_stall_and_break() {
    let server = support::server();
    let proxy = Proxy::start(server.port());
    let client = support::client(&proxy.url()).await;

    let delay = Duration::from_millis(40);
    proxy.delay(delay);
    let begun = Instant::now();
    client.batch_execute("SELECT 1").await.unwrap();
    assert!(begun.elapsed() >= delay);
    proxy.delay(Duration::ZERO);

    proxy.stall(true);
    let question = client.batch_execute("SELECT 1");
    tokio::pin!(question);
    assert!(
        tokio::time::timeout(Duration::from_millis(200), &mut question)
            .await
            .is_err()
    );
    assert!(!client.is_closed());
    proxy.stall(false);
    question.await.unwrap();

    let table = server.schema();
    proxy.hold_answers(true);
    let sql = format!("CREATE TABLE {table} (number int)");
    let question = client.batch_execute(&sql);
    tokio::pin!(question);
    assert!(
        tokio::time::timeout(Duration::from_millis(50), &mut question)
            .await
            .is_err()
    );
    wait_until("the statement is executed without a response", || {
        server.psql(&format!("SELECT to_regclass('{table}') IS NOT NULL")) == "t"
    });
    proxy.cut();
    assert!(question.await.is_err());
    proxy.hold_answers(false);

    let again = support::client(&proxy.url()).await;
    again.batch_execute("SELECT 1").await.unwrap();
    proxy.cut();
    assert!(again.batch_execute("SELECT 1").await.is_err());

    let other = Server::start();
    proxy.redirect(other.port());
    let row = support::client(&proxy.url())
        .await
        .query_typed("SHOW port", &[])
        .await
        .unwrap();
    assert_eq!(row[0].get::<_, &str>(0), other.port().to_string());
}

/// Not a test: the process that the next test kills.
#[test]
#[ignore = "is a part of another test"]
fn waits_to_be_killed() {
    if std::env::var_os(IN_THE_MIDDLE).is_some() {
        let server = support::server();
        let bouncer = Bouncer::start(server, 2);
        assert_eq!(bouncer.try_psql("SELECT 1").unwrap(), "1");
        println!(
            "\nfolder {}\nfolder {}\n.",
            server.folder().display(),
            bouncer.folder().display()
        );
        thread::sleep(Duration::from_secs(10 * 60));
    }
}

#[test]
#[ignore = "needs PostgreSQL: .ci/postgres"]
fn nothing_is_left_when_a_test_is_killed() {
    let mut test = Command::new(std::env::current_exe().unwrap());
    test.args([
        "--exact",
        "postgres::support_tests::waits_to_be_killed",
        "--ignored",
        "--nocapture",
    ])
    .env(IN_THE_MIDDLE, "1")
    .stdout(Stdio::piped());
    let mut test = test.spawn().unwrap();
    let lines = BufReader::new(test.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap);
    let said: Vec<String> = lines.take_while(|line| line != ".").collect();
    let folders = said.iter().filter_map(|line| line.strip_prefix("folder "));
    let folders: Vec<PathBuf> = folders.map(PathBuf::from).collect();
    assert_eq!(folders.len(), 2, "{said:?}");
    assert!(
        folders
            .iter()
            .all(|folder| folder.exists() && works_in(folder) > 0)
    );
    test.kill().unwrap();
    test.wait().unwrap();
    wait_until("the folders are removed", || {
        !folders.iter().any(|folder| folder.exists())
    });
    // The watch may remove a folder before the system has ended each process.
    wait_until("their processes have ended", || {
        folders.iter().map(works_in).sum::<usize>() == 0
    });
}

/// Returns how many processes have this working folder or one in it, even if the folder no longer
/// exists.
fn works_in(folder: &PathBuf) -> usize {
    let all = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    all.filter(|it| fs::read_link(it.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder)))
        .count()
}

//! Processes that are killed ("It must show" 6): every acknowledged write is stored once, totals
//! equal members, and the service recovers.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use super::{
    server::{self, Server},
    support::{self, until},
};
use serde_json::json;
use svc_postgres::PostgresOptions;
use tokio::task::JoinSet;

/// Number of concurrent callers.
const WRITERS: usize = 16;

fn options(url: &str, schema: &str) -> PostgresOptions {
    server::options(url).schema(schema)
}

/// Signs a petition repeatedly, each time as a new person. Sends the address of each acknowledged
/// signature.
async fn sign(
    server: &Server,
    petition: &str,
    writer: usize,
    number: &AtomicU64,
    tell: impl Fn(String),
) {
    let address = format!(
        "w{writer}n{}@example.org",
        number.fetch_add(1, Ordering::Relaxed)
    );
    let body = json!({"person": {"email_addresses": [{"address": address}]}});
    let answer = server
        .post(&format!("{petition}/record_signature_helper"), body)
        .await;
    match answer.status {
        200 => tell(answer.self_link()),
        503 => tokio::time::sleep(Duration::from_millis(20)).await,
        _ => panic!("{}", answer.json),
    }
}

/// Returns the stored signatures. Asserts that there are as many as the total, and as many people.
async fn signed(server: &Server, petition: &str) -> BTreeSet<String> {
    let all = server
        .walk(&format!("{petition}/signatures?per_page=100"))
        .await;
    let links: BTreeSet<String> = all
        .iter()
        .map(|one| one["_links"]["self"]["href"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(links.len(), all.len(), "COL-24");
    assert_eq!(
        server.total(&format!("{petition}/signatures")).await,
        links.len() as u64,
        "COL-23"
    );
    assert_eq!(
        server.get(petition).await.json["total_signatures"],
        json!(links.len()),
        "RES-petition-10"
    );
    assert_eq!(server.total("people").await, links.len() as u64, "HLP-03");
    links
}

/// Sixteen writers that continue until they are stopped, and the addresses of their acknowledged
/// signatures.
struct Writers {
    acknowledged: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    tasks: JoinSet<()>,
}

impl Writers {
    /// Starts writers. Several instances use a different `name` each, so that every person is new.
    fn start(server: &Arc<Server>, petition: &str, name: usize) -> Self {
        let (acknowledged, stop) = (
            Arc::<Mutex<Vec<String>>>::default(),
            Arc::<AtomicBool>::default(),
        );
        let (mut tasks, number) = (JoinSet::new(), Arc::<AtomicU64>::default());
        for writer in (0..WRITERS).map(|writer| writer + name * WRITERS) {
            let (server, petition) = (Arc::clone(server), petition.to_owned());
            let (acknowledged, stop, number) = (
                Arc::clone(&acknowledged),
                Arc::clone(&stop),
                Arc::clone(&number),
            );
            tasks.spawn(async move {
                while !stop.load(Ordering::Acquire) {
                    sign(&server, &petition, writer, &number, |link| {
                        acknowledged.lock().unwrap().push(link);
                    })
                    .await;
                }
            });
        }
        Self {
            acknowledged,
            stop,
            tasks,
        }
    }

    fn number(&self) -> usize {
        self.acknowledged.lock().unwrap().len()
    }

    /// Waits until more signatures are acknowledged, which shows that the service is back.
    async fn go_on(&self) {
        let wanted = self.number() + 2;
        until("the service is back", async || self.number() >= wanted).await;
    }

    async fn stop(self) -> Vec<String> {
        self.stop.store(true, Ordering::Release);
        self.tasks.join_all().await;
        self.acknowledged.lock().unwrap().clone()
    }
}

fn each_once(acknowledged: &[String], there: &BTreeSet<String>) {
    let distinct: BTreeSet<&String> = acknowledged.iter().collect();
    assert_eq!(distinct.len(), acknowledged.len());
    let lost: Vec<_> = distinct
        .into_iter()
        .filter(|link| !there.contains(*link))
        .collect();
    assert!(
        lost.is_empty(),
        "{} acknowledged writes are lost: {lost:?}",
        lost.len()
    );
}

/// The database is killed a hundred times.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_database_is_killed() {
    let database = Arc::new(support::server::Server::start());
    let server = Arc::new(Server::open(options(&database.url(), "svc")).await);
    let petition = server.make("petitions", json!({})).await;
    let writers = Writers::start(&server, &petition, 0);
    for _ in 0..100 {
        writers.go_on().await;
        let database = Arc::clone(&database);
        tokio::task::spawn_blocking(move || {
            database.kill();
            database.start_again();
        })
        .await
        .unwrap();
    }
    writers.go_on().await;
    let acknowledged = writers.stop().await;
    each_once(&acknowledged, &signed(&server, &petition).await);
}

/// A primary with a synchronous standby is killed, and the standby is promoted, ten times. No
/// acknowledged write is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_primary_is_lost() {
    let mut primary = support::server::Server::start();
    // New connections go to the current primary, as with a virtual address.
    let way = support::proxy::Proxy::start(primary.port());
    let server = Arc::new(Server::open(options(&way.url(), "svc")).await);
    let petition = server.make("petitions", json!({})).await;
    let mut acknowledged = 0;
    for round in 0..10 {
        let name = format!("standby{round}");
        let standby = primary.standby(&name);
        primary.synchronous(Some(&name));
        let writers = Writers::start(&server, &petition, round);
        writers.go_on().await;
        writers.go_on().await;
        primary.kill();
        standby.promote();
        standby.synchronous(None);
        way.redirect(standby.port());
        way.cut();
        writers.go_on().await;
        let told = writers.stop().await;
        each_once(&told, &signed(&server, &petition).await);
        acknowledged += told.len();
        primary = standby;
    }
    assert!(signed(&server, &petition).await.len() >= acknowledged);
}

/// The environment variable with the tables of the child of the next test.
const CHILD: &str = "SVC_CRASH_CHILD";

/// The server process is killed a hundred times. It prints what it acknowledges on its standard
/// output.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs PostgreSQL: .ci/postgres"]
async fn the_server_is_killed() {
    if let Ok(place) = std::env::var(CHILD) {
        return child(&place).await;
    }
    let database = support::server();
    let schema = database.schema();
    let server = Server::open(options(&database.url(), &schema)).await;
    let petition = server.make("petitions", json!({})).await;
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..100 {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--exact",
            "postgres::crash::the_server_is_killed",
            "--ignored",
            "--nocapture",
        ]);
        command.env(
            CHILD,
            format!("{} {schema} {petition} {round}", database.url()),
        );
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut wanted = 3 + round % 17;
        while wanted > 0 {
            let line = lines.next().expect("the child continues").unwrap();
            if let Some(link) = line.strip_prefix("acknowledged ") {
                acknowledged.push(link.to_owned());
                wanted -= 1;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Lines that were printed before the end also count. The last line may be incomplete.
        let rest = lines
            .map_while(Result::ok)
            .filter(|line| line.ends_with(" ."));
        acknowledged
            .extend(rest.filter_map(|line| Some(line.strip_prefix("acknowledged ")?.to_owned())));
    }
    let acknowledged: Vec<String> = acknowledged
        .iter()
        .map(|line| line.trim_end_matches(" .").to_owned())
        .collect();
    each_once(&acknowledged, &signed(&server, &petition).await);
}

async fn child(place: &str) {
    let mut words = place.split(' ');
    let mut next = || words.next().unwrap().to_owned();
    let (url, schema, petition, round) = (next(), next(), next(), next());
    let server = Server::open(options(&url, &schema)).await;
    let number = AtomicU64::default();
    let say = |link: String| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "acknowledged {link} .")
            .and_then(|()| out.flush())
            .unwrap();
    };
    let writer = async |writer: usize| loop {
        let writer = writer + WRITERS * round.parse::<usize>().unwrap();
        sign(&server, &petition, writer, &number, say).await;
    };
    let all = (0..WRITERS).map(writer);
    let mut all: Vec<_> = all.map(Box::pin).collect();
    std::future::poll_fn(|cx| {
        for one in &mut all {
            _ = one.as_mut().poll(cx);
        }
        std::task::Poll::<()>::Pending
    })
    .await;
}

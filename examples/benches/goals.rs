//! Compares the demo server as a process with the minimum cost of HTTP, and with the same work in
//! hand-written code, in one run.
//!
//! Bare hyper sends prepared bytes. The hand-written code for writes is [`hand`]: a signature
//! helper over axum and rusqlite with a shared sync, and without keys, rules or report. For reads
//! it is [`hand_written::reads`], which is also compared with bare hyper.
//! `cargo bench -p svc-benches --bench goals` runs all parts; `-- reads`, `-- kept`, `-- pages`,
//! `-- helpers`, `-- bulk`, `-- idle`, `-- mixed` and `-- parse` run one of them. It reads `/proc`,
//! so it needs Linux.
//!
//! Each line has a bound, the measured value, and `ok` or `MISSED`. A miss sets the exit code to 1.
//! Figures are medians of several rounds; in each round every side runs once. CPU is the CPU time
//! of the server process. `driver` is the share of one core that the load generator used.

#[path = "../../svc-sqlite/benches/hand_written/mod.rs"]
mod baseline;
mod hand_written;
mod load;
#[path = "../../svc-sqlite/benches/measure/mod.rs"]
#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod measure;
#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod process;
mod writes;

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::hint::black_box;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use load::{CONNECTIONS, Run, asked, load, rounds};
use measure::{Bound, Report, cpu_each, interleaved, is_asked_for};
use mimalloc::MiMalloc;
use process::{Connection, KEY, Server, body, request};
use svc_core::auth::{FixedKeys, Rights};
use svc_core::field_set::FieldSet;
use svc_core::helper::{FunctionName, HelperName};
use svc_core::link::{BaseUrl, ConventionalLayout, Dialect};
use svc_core::model::{Person, Signature};
use svc_core::read::{BodyReader, ContentLimits, HelperBodyOptions, JsonLimits, LinkReader};
use svc_core::value::Timestamp;
use svc_core::{Api, Tenant, Vendor};
use svc_store::memory::MemoryStore;
use svc_tower::SvcService;
use svc_tower::server::{Server as HttpServer, ServerLimits};
use tempfile::TempDir;
use writes::{first, petition, signature};

/// The allocator of the demo, used for all sides.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const ROUNDS: usize = 9;
const PEOPLE: u32 = 100_000;
const MANY: u32 = 1_000_000;
/// Number of open, idle connections.
const HELD: u32 = 5_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [_, "bare-hyper", folder] => return bare_hyper(Path::new(folder)),
        [_, "hand", file, batch, rest @ ..] => {
            let trees = if rest == ["asked"] {
                hand_written::Trees::Asked
            } else {
                hand_written::Trees::Few
            };
            return hand_written::serve(Path::new(file), batch.parse().expect("a number"), trees);
        }
        [_, "sync", folder] => {
            println!("{}", writes::sync(Path::new(folder)));
            return ExitCode::SUCCESS;
        }
        [_, "hand-reads", copy, base] => return hand_written::reads::serve(Path::new(copy), base),
        [_, "in-memory"] => return in_memory(),
        _ => {}
    }
    if !cfg!(target_os = "linux") {
        println!("This benchmark reads /proc, which this system does not have.");
        return ExitCode::SUCCESS;
    }
    let mut report = Report::default();
    if is_asked_for("reads")
        || is_asked_for("kept")
        || is_asked_for("pages")
        || is_asked_for("mixed")
    {
        let folder = folder();
        let (file, copy) = (folder.path().join("demo.db"), folder.path().join("copy.db"));
        let demo = Server::demo(&file, PEOPLE);
        if is_asked_for("reads") || is_asked_for("pages") {
            hand_written::reads::copy(&file, &copy);
        }
        if is_asked_for("reads") {
            reads(&mut report, &demo, &copy);
        }
        if is_asked_for("kept") {
            kept(&mut report, &demo);
        }
        if is_asked_for("pages") {
            pages(&mut report, &demo, &copy);
        }
        if is_asked_for("mixed") {
            mixed(&mut report, &demo);
        }
    }
    if is_asked_for("helpers") {
        writes::helpers(&mut report);
    }
    if is_asked_for("bulk") {
        bulk(&mut report);
    }
    if is_asked_for("idle") {
        idle(&mut report);
    }
    if is_asked_for("parse") {
        parse(&mut report);
    }
    report.finish()
}

fn folder() -> TempDir {
    // In the target folder: a temporary folder in memory would make every sync free.
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

/// Prints a line that compares the first side with the second.
fn compare(report: &mut Report, what: &str, most: f64, [ours, theirs]: [Run; 2], than: &str) {
    let detail = format!(
        "{:.1} us, {than} {:.1} us; driver {:.2}",
        ours.cpu, theirs.cpu, ours.driver
    );
    report.line(
        what,
        Bound::AtMost(most),
        ours.cpu / theirs.cpu,
        "x",
        &detail,
    );
}

/// Starts bare hyper with the responses of the demo to these paths.
fn bare(demo: &Server, paths: &[String]) -> (Server, TempDir) {
    let folder = folder();
    let mut connection = Connection::open(demo.address);
    for (place, path) in paths.iter().enumerate() {
        fs::write(folder.path().join(format!("{place}.path")), path).expect("a path");
        fs::write(
            folder.path().join(format!("{place}.body")),
            body(&connection.ask(path)),
        )
        .expect("a body");
    }
    let bare = Server::again(&[OsStr::new("bare-hyper"), folder.path().as_os_str()]);
    (bare, folder)
}

/// Returns the paths of the people on the first `pages` pages of a hundred.
fn people(demo: &Server, pages: u32) -> Vec<String> {
    let (base, mut connection) = (
        format!("http://{}", demo.address),
        Connection::open(demo.address),
    );
    let mut people = Vec::new();
    for page in 1..=pages {
        let page = connection.ask(&format!("/api/v1/people?per_page=100&page={page}"));
        let page = String::from_utf8_lossy(body(&page)).into_owned();
        let hrefs = page
            .split("\"svc:people\":[")
            .nth(1)
            .and_then(|rest| rest.split(']').next())
            .unwrap_or_default();
        let own = hrefs
            .split(&base)
            .skip(1)
            .filter_map(|rest| rest.split('"').next());
        people.extend(own.map(str::to_owned));
    }
    people
}

/// Measures reads of one person, a different one each time.
fn reads(report: &mut Report, demo: &Server, copy: &Path) {
    let people = people(demo, 80);
    assert_eq!(people.len(), 8_000, "all paths are different");
    anew(report, demo, copy, "a person, all different", &people);
}

/// Measures pages of 25, a different one each time.
fn pages(report: &mut Report, demo: &Server, copy: &Path) {
    let pages: Vec<String> = (2..=1_601)
        .map(|page| format!("/api/v1/people?page={page}"))
        .collect();
    anew(report, demo, copy, "a page of 25, all different", &pages);
}

/// Measures reads that are not cached, each of a different document, against bare hyper and
/// hand-written code.
fn anew(report: &mut Report, demo: &Server, copy: &Path, what: &str, paths: &[String]) {
    let (bare, _folder) = bare(demo, paths);
    let hand = hand_reads(demo, copy);
    for path in [&paths[0], &paths[paths.len() - 1]] {
        assert_eq!(
            document(demo, path),
            document(&hand, path),
            "both return the same document"
        );
    }
    let of = |server| move || load(server, asked(paths, 1));
    let sides = rounds(ROUNDS, [&mut of(demo), &mut of(&bare), &mut of(&hand)]);
    against_bare(report, &format!("{what}, against bare hyper, CPU"), sides);
}

/// Starts the hand-written server for reads, with a copy of the demo's people and the demo's
/// address.
fn hand_reads(demo: &Server, copy: &Path) -> Server {
    let address = format!("http://{}/api/v1/", demo.address);
    Server::again(&[
        OsStr::new("hand-reads"),
        copy.as_os_str(),
        OsStr::new(&address),
    ])
}

/// Prints a line about reads, and compares the hand-written code with both.
fn against_bare(report: &mut Report, what: &str, [ours, bare, by_hand]: [Run; 3]) {
    compare(report, what, 2.2, [ours, bare], "bare hyper");
    let (from_bare, from_hand) = (by_hand.cpu / bare.cpu, ours.cpu / by_hand.cpu);
    println!(
        "(hand-written: {:.1} us, {from_bare:.2}x of bare hyper; the demo {from_hand:.2}x of it)",
        by_hand.cpu
    );
}

/// Returns a body without the digits of the next page's cursor, which the demo signs.
fn document(server: &Server, path: &str) -> String {
    const DIGITS: usize = 40;
    let answer = server.get(path);
    let text = String::from_utf8_lossy(body(&answer));
    match text.split_once("&after=") {
        Some((before, rest)) => [before, rest.get(DIGITS..).unwrap_or_default()].concat(),
        None => text.into_owned(),
    }
}

/// Measures cached responses of the demo.
fn kept(report: &mut Report, demo: &Server) {
    let person = people(demo, 1).swap_remove(1);
    let paths = [
        ("a person", person),
        ("a page", "/api/v1/people".to_owned()),
        ("the entry point", "/api/v1/".to_owned()),
    ];
    for (what, path) in paths {
        let one = vec![path];
        let (bare, _folder) = bare(demo, &one);
        let many = vec![one[0].clone(); CONNECTIONS];
        let sides = rounds(
            ROUNDS,
            [&mut || load(demo, asked(&many, 300)), &mut || {
                load(&bare, asked(&many, 300))
            }],
        );
        compare(
            report,
            &format!("{what}, cached response, against bare hyper, CPU"),
            1.3,
            sides,
            "bare hyper",
        );
    }
}

/// Measures the latency of reads while one request in ten records a signature, against reads alone.
fn mixed(report: &mut Report, demo: &Server) {
    const EACH: usize = 300;
    let people = people(demo, 80);
    let (petition, tag) = (petition(demo), first(demo, "tags", "name"));
    let next = Cell::new(0_u32);
    let run = |with_helpers: bool| {
        let number = next.replace(next.get() + 1);
        let one = |place: usize| {
            if with_helpers && place % 10 == 9 {
                let number = number * 100_000 + u32::try_from(place).unwrap_or_default();
                return signature(&petition, &format!("mixed{number}"), &tag);
            }
            request(&people[place % people.len()]).into()
        };
        let of = |connection: usize| (0..EACH).map(|nth| one(connection * EACH + nth)).collect();
        load(demo, (0..CONNECTIONS).map(of).collect())
    };
    let [both, alone] = rounds(ROUNDS, [&mut || run(true), &mut || run(false)]);
    let detail = format!(
        "{:.2} ms, alone {:.2} ms; driver {:.2}",
        both.p99, alone.p99, both.driver
    );
    report.line(
        "slowest hundredth of reads next to helpers, against alone",
        Bound::AtMost(1.5),
        both.p99 / alone.p99,
        "x",
        &detail,
    );
}

/// Reads one million people by `next`, a hundred on each page, over one connection.
fn bulk(report: &mut Report) {
    const PAGES: usize = 1_000;
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("one-million-demo.db");
    if !path.exists() {
        println!(
            "(loading one million people into {}: takes some minutes, only once)",
            path.display()
        );
    }
    // An interrupted load continues here. The measured server is a new process.
    drop(Server::demo(&path, MANY));
    let demo = Server::demo(&path, MANY);
    let host = format!("http://{}", demo.address);
    let mut paths = vec!["/api/v1/people?per_page=100".to_owned()];
    let mut connection = Connection::open(demo.address);
    while paths.len() < PAGES {
        let page = connection.ask(paths.last().expect("a page"));
        let page = String::from_utf8_lossy(page.get(..2_048).unwrap_or_default()).into_owned();
        let next = page
            .split("\"next\":{\"href\":\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        paths.push(
            next.and_then(|next| next.strip_prefix(&host))
                .expect("a next page")
                .to_owned(),
        );
    }
    let (bare, folder) = bare(&demo, &paths);
    let copy = folder.path().join("copy.db");
    hand_written::reads::copy(&path, &copy);
    let hand = hand_reads(&demo, &copy);
    for path in [&paths[0], &paths[PAGES - 1]] {
        let [ours, theirs] = [&demo, &hand]
            .map(|server| String::from_utf8_lossy(body(&server.get(path))).into_owned());
        let people = |page: &str| {
            page.split_once("_embedded")
                .map(|(_, people)| people.to_owned())
        };
        assert!(
            people(&ours).is_some() && people(&ours) == people(&theirs),
            "both return the same people"
        );
    }
    let walk = || vec![paths.iter().map(|path| request(path).into()).collect()];
    let of = |server| move || load(server, walk());
    let what =
        format!("{PAGES} pages of 100 of a million people by `next`, against bare hyper, CPU");
    against_bare(
        report,
        &what,
        rounds(ROUNDS, [&mut of(&demo), &mut of(&bare), &mut of(&hand)]),
    );
}

/// Measures the anonymous memory of an idle connection that has sent one request.
fn idle(report: &mut Report) {
    let folder = folder();
    fs::write(folder.path().join("0.path"), "/").expect("a path");
    fs::write(folder.path().join("0.body"), vec![b' '; 2_048]).expect("a body");
    let ours = Server::again(&[OsStr::new("in-memory")]);
    let bare = Server::again(&[OsStr::new("bare-hyper"), folder.path().as_os_str()]);
    let [ours, bare] = [&ours, &bare].map(|server| {
        server.get("/");
        let before = server.anonymous_kib();
        let held: Vec<Connection> = (0..HELD)
            .map(|_| {
                let mut connection = Connection::open(server.address);
                connection.ask("/");
                connection
            })
            .collect();
        let kib = f64::from(server.anonymous_kib().saturating_sub(before)) / f64::from(HELD);
        drop(held);
        kib
    });
    let detail = format!("{ours:.1} KiB, bare hyper {bare:.1} KiB");
    let what = format!("memory of an idle connection of {HELD}, against bare hyper");
    report.line(&what, Bound::AtMost(1.3), ours / bare, "x", &detail);
}

/// Measures parsing and validating the body of a helper request, against parsing the same bytes
/// into `serde_json::Value`.
fn parse(report: &mut Report) {
    const TIMES: u32 = 20_000;
    let call = signature("", "0c0n0", "Volunteer");
    let body = body(&call);
    let (base, dialect, limits, caps) = (
        BaseUrl::default(),
        Dialect::default(),
        JsonLimits::default(),
        ContentLimits::default(),
    );
    let links = LinkReader {
        base: &base,
        layout: &ConventionalLayout,
        dialect: &dialect,
    };
    let bodies = BodyReader {
        links,
        namespace: "demo",
        limits: &limits,
        caps: &caps,
        now: Timestamp::now(),
        reports_ignored: false,
    };
    let taken = (
        FieldSet::<Signature>::writable().bits().into(),
        FieldSet::<Person>::writable().bits().into(),
    );
    let helper = HelperBodyOptions::new(
        HelperName::RecordSignature,
        None,
        taken.0,
        taken.1,
        &[FunctionName::AddTags],
    );
    let read = || {
        let object = bodies.object(black_box(body)).expect("an object");
        let (plan, report) = bodies.helper_request(&helper, &object);
        let problems = report.problems;
        assert!(
            problems.is_empty() && plan.functions.tags.len() == 1,
            "{problems:?}"
        );
        black_box(plan);
    };
    let value = || {
        let value: serde_json::Value = serde_json::from_slice(black_box(body)).expect("a value");
        black_box(value);
    };
    let many = |work: &dyn Fn()| cpu_each(TIMES, || (0..TIMES).for_each(|_| work()));
    let [read, value] = interleaved(ROUNDS, [&mut || many(&read), &mut || many(&value)]);
    let detail = format!(
        "{read:.2} us, serde_json {value:.2} us, {} bytes",
        body.len()
    );
    let what = "parsing and validating a helper's body, against serde_json's Value";
    report.line(what, Bound::AtMost(2.0), read / value, "x", &detail);
}

/// Serves the files of a folder with bare hyper, and prints its address.
fn bare_hyper(folder: &Path) -> ExitCode {
    let read = |name: String| fs::read(folder.join(name)).ok();
    let bodies: HashMap<_, _> = (0..)
        .map_while(|place| {
            let path = String::from_utf8(read(format!("{place}.path"))?).ok()?;
            Some((path, read(format!("{place}.body"))?.into()))
        })
        .collect();
    listening(|listener| baseline::serve(listener, bodies))
}

/// Serves the API from memory with the library's own server, and prints its address.
fn in_memory() -> ExitCode {
    let api = MemoryStore::new()
        .register_all(Api::builder(Vendor::new("Example", "bench")))
        .base_url("http://localhost/");
    let api = api
        .authenticator(FixedKeys::new().with_key(KEY, Tenant::new("bench"), Rights::all()))
        .build()
        .expect("an API");
    let limits = ServerLimits::default()
        .max_connections(2 * HELD)
        .connections_per_address(2 * HELD);
    listening(|listener| {
        HttpServer::new(SvcService::new(api))
            .limits(limits)
            .serve_until(listener, std::future::pending())
    })
}

/// Runs a server on a free port, and prints its address.
fn listening<F: Future<Output = ()>>(serve: impl FnOnce(tokio::net::TcpListener) -> F) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a port");
        println!("{}", listener.local_addr().expect("an address"));
        serve(listener).await;
    });
    ExitCode::SUCCESS
}

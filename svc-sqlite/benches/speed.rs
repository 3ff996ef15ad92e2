//! Measures the speed of the service over the store, in process, against hand-written code on
//! rusqlite in the same run.
//!
//! `cargo bench -p svc-sqlite --bench speed` runs all parts; `-- page`, `-- deep`, `-- filter`,
//! `-- totals`, `-- writes`, `-- webhooks`, `-- strangers`, `-- conditional` run one of them. Each
//! line has a bound, the measured value, and `ok` or `MISSED`. After a miss the exit code is 1.

mod anonymous;
mod conditional;
mod data;
mod hand_written;
mod measure;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use data::{MANY, Server, TENANT};
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty, Full};
use measure::{Bound, Report, cpu_each, interleaved, is_asked_for, per_second};
use mimalloc::MiMalloc;
use svc_core::model::Kind;
use svc_sqlite::SqliteOptions;
use svc_tower::SvcService;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tower::Service;

/// The allocator of the demo, used for all sides.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const ROUNDS: usize = 15;
/// Pages read in one run of a side.
const PAGES: u32 = 400;

fn main() -> ExitCode {
    let mut report = Report::default();
    if is_asked_for("page") {
        page(&mut report);
    }
    if is_asked_for("deep") || is_asked_for("totals") || is_asked_for("filter") {
        let runtime = one_thread();
        let server = runtime.block_on(Server::large());
        if is_asked_for("deep") {
            deep(&mut report, &runtime, &server);
        }
        if is_asked_for("filter") {
            filter(&mut report, &runtime, &server);
        }
        if is_asked_for("totals") {
            totals(&mut report, &runtime, &server);
        }
    }
    if is_asked_for("writes") {
        writes(&mut report);
    }
    if is_asked_for("webhooks") {
        webhooks(&mut report);
    }
    if is_asked_for("strangers") {
        anonymous::strangers(&mut report, &one_thread(), folder().path());
    }
    if is_asked_for("conditional") {
        conditional::conditional(&mut report, &one_thread(), folder().path());
    }
    report.finish()
}

fn one_thread() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

fn folder() -> TempDir {
    // In the target folder: a temporary folder in memory would make every sync free.
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

/// Measures one page of 25 people against raw rusqlite rows that are written directly as bytes.
fn page(report: &mut Report) {
    let (runtime, folder) = (one_thread(), folder());
    let path = folder.path().join("page.db");
    let server = runtime.block_on(async {
        let server = Server::open(&path).await;
        server.load((0..1_000).map(data::person)).await;
        server
    });
    let raw = hand_written::People::copied(
        &path,
        &folder.path().join("raw.db"),
        data::BASE,
        data::NAMESPACE,
    );
    let raw = raw.expect("a copy of the people");
    let ours = runtime.block_on(get(&server, "people"));
    let theirs = raw.page(1, 1, 25).expect("a page");
    assert_eq!(
        without_continuation(&ours),
        without_continuation(&theirs),
        "both write the same page"
    );
    let [theirs_each, ours_each] = interleaved(
        ROUNDS,
        [
            &mut || {
                cpu_each(PAGES, || {
                    (0..PAGES).for_each(|_| drop(raw.page(1, 1, 25).expect("a page")));
                })
            },
            &mut || read(&runtime, &server, "people", PAGES),
        ],
    );
    let detail = format!(
        "{} KB: {ours_each:.1} us, raw {theirs_each:.1} us",
        ours.len() / 1000
    );
    report.line(
        "page of 25 people against raw rusqlite, CPU",
        Bound::AtMost(1.5),
        ours_each / theirs_each,
        "x",
        &detail,
    );
}

/// Measures page 39 000 against page 1 of one million people.
fn deep(report: &mut Report, runtime: &Runtime, server: &Server) {
    let jump = "people?page=39000";
    // The `next` link of the previous page has page 39 000 as its target. The first jump reads the
    // collection's members.
    let begin = std::time::Instant::now();
    let before = runtime.block_on(get(server, "people?page=38999"));
    println!(
        "(the first jump into one million people took {:.0} ms)",
        begin.elapsed().as_secs_f64() * 1000.0
    );
    let next = next_link(&before);
    let [first, by_next, by_jump] = interleaved(
        ROUNDS,
        [
            &mut || read(runtime, server, "people?page=1", PAGES),
            &mut || read(runtime, server, &next, PAGES),
            &mut || read(runtime, server, jump, PAGES),
        ],
    );
    for (how, each) in [("next", by_next), ("jump", by_jump)] {
        let what = format!("page 39 000 against page 1 of one million, by {how}, CPU");
        report.line(
            &what,
            Bound::AtMost(1.3),
            each / first,
            "x",
            &format!("{each:.1} us, page 1 {first:.1} us"),
        );
    }
}

/// Measures page 1 000 of a filtered range of one million people against its page 2, both by
/// `next`: page 1 also counts the range.
///
/// Also measures a lookup by e-mail address against a read by id. In process, the difference
/// (parsing a filter and writing a page around the person) is a large part of the cost.
fn filter(report: &mut Report, runtime: &Runtime, server: &Server) {
    let range = "people?filter=modified_date%20ge%20%271990-01-01%27";
    let page = |number: u32| {
        next_link(&runtime.block_on(get(server, &format!("{range}&page={}", number - 1))))
    };
    let (second, far) = (page(2), page(1_000));
    let [near, far] = interleaved(
        ROUNDS,
        [&mut || read(runtime, server, &second, PAGES), &mut || {
            read(runtime, server, &far, PAGES)
        }],
    );
    let what = "page 1 000 of a filtered range of one million against page 2, CPU";
    report.line(
        what,
        Bound::AtMost(1.3),
        far / near,
        "x",
        &format!("{far:.1} us, page 2 {near:.1} us"),
    );
    let by_id = format!("people/{}", data::id(Kind::Person, MANY / 2));
    let by_email = format!(
        "people?filter=email_address%20eq%20%27person.{}%40example.org%27",
        MANY / 2
    );
    let [by_id, by_email] = interleaved(
        ROUNDS,
        [&mut || read(runtime, server, &by_id, PAGES), &mut || {
            read(runtime, server, &by_email, PAGES)
        }],
    );
    let what = "one of a million people by e-mail address against by id, CPU";
    report.line(
        what,
        Bound::AtMost(2.0),
        by_email / by_id,
        "x",
        &format!("{by_email:.1} us, by id {by_id:.1} us"),
    );
}

/// Measures totals over one million records against totals over one thousand.
fn totals(report: &mut Report, runtime: &Runtime, server: &Server) {
    const READS: u32 = 2_000;
    for pair in data::pairs() {
        let path = |address: &svc_core::link::RecordAddress| {
            format!("{}/{}", address.kind.plural(), address.id)
        };
        let (many, few) = (path(&pair.many), path(&pair.few));
        let [few, many] = interleaved(
            ROUNDS,
            [&mut || read(runtime, server, &few, READS), &mut || {
                read(runtime, server, &many, READS)
            }],
        );
        let what = format!("{} at one million against one thousand, CPU", pair.counted);
        report.line(
            &what,
            Bound::AtMost(1.2),
            many / few,
            "x",
            &format!("{many:.1} us, {few:.1} us"),
        );
    }
    let pair = data::pairs().swap_remove(0);
    let path = |address: &svc_core::link::RecordAddress| {
        format!(
            "{}/{}/{}?per_page=1",
            address.kind.plural(),
            address.id,
            pair.member.plural()
        )
    };
    let (many, few) = (path(&pair.many), path(&pair.few));
    let total = |path: &str| runtime.block_on(get(server, path));
    assert!(
        String::from_utf8_lossy(&total(&many)).contains(&format!("\"total_records\":{MANY},")),
        "one million signatures"
    );
    let [few, many] = interleaved(
        ROUNDS,
        [&mut || read(runtime, server, &few, READS), &mut || {
            read(runtime, server, &many, READS)
        }],
    );
    let what = "total_records at one million against one thousand, CPU";
    report.line(
        what,
        Bound::AtMost(1.2),
        many / few,
        "x",
        &format!("{many:.1} us, {few:.1} us"),
    );
}

/// Measures durable signatures of new people with shared transactions, against one transaction for
/// each request: in the same service, and in hand-written code.
fn writes(report: &mut Report) {
    const ALONE: u32 = 300;
    const CALLERS: u32 = 64;
    const EACH: u32 = 25;
    let folder = folder();
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let open = |name: &str, batch: usize| {
        runtime.block_on(async {
            let server =
                Server::with(SqliteOptions::new(folder.path().join(name)).max_batch_size(batch))
                    .await;
            server.load([data::petition(0)]).await;
            server
        })
    };
    // The hand-written code writes into a file with the same tables, which the store has created
    // and closed.
    let of_hand = open("by-hand.db", 1).key;
    let (single, shared) = (open("single.db", 1), open("shared.db", 256));
    let petition = data::id(Kind::Petition, 0);
    let hand = folder.path().join("by-hand.db");
    let hand = hand_written::Signs::open(&hand, petition.as_str(), data::BASE, data::NAMESPACE);
    let hand = hand.expect("a file with a petition");
    let number = AtomicU32::new(0);
    let path = format!("petitions/{petition}/record_signature_helper");
    let requests = |key: &str, count: u32| -> Vec<Request<Bytes>> {
        let first = number.fetch_add(count, Ordering::Relaxed);
        (first..first + count)
            .map(|number| post(key, &path, data::signature_text(number)))
            .collect()
    };
    let by_hand = || {
        let requests = requests(&of_hand, ALONE);
        per_second(ALONE, || {
            for request in &requests {
                accepted(hand.answer(request).expect("a response").status());
            }
        })
    };
    let service = |server: &Server, callers: u32, each: u32| {
        let calls: Vec<_> = (0..callers)
            .map(|_| (server.service.clone(), requests(&server.key, each)))
            .collect();
        per_second(callers * each, || {
            runtime.block_on(async {
                // The first caller runs on this thread: a single caller needs no other thread.
                let mut calls = calls
                    .into_iter()
                    .map(|(service, requests)| signed(service, requests));
                let first = calls.next().expect("a caller");
                let others: Vec<_> = calls.map(tokio::spawn).collect();
                first.await;
                for other in others {
                    other.await.expect("a caller");
                }
            });
        })
    };
    let [
        hand_alone,
        single_alone,
        shared_alone,
        single_together,
        shared_together,
    ] = interleaved(
        7,
        [
            &mut || by_hand(),
            &mut || service(&single, 1, ALONE),
            &mut || service(&shared, 1, ALONE),
            &mut || service(&single, CALLERS, EACH),
            &mut || service(&shared, CALLERS, EACH),
        ],
    );
    let mut line = |who: &str, than: &str, least: f64, rate: f64, base: f64| {
        let what = format!("durable signatures, {who}, against {than}");
        report.line(
            &what,
            Bound::AtLeast(least),
            rate / base,
            "x",
            &format!("{rate:.0}/s, {base:.0}/s"),
        );
    };
    line(
        "64 callers",
        "single ones",
        4.0,
        shared_together,
        single_together,
    );
    // The hand-written code checks no rules, so that a request costs little besides its sync. The
    // faster the disk, the smaller the gain of a shared sync.
    line(
        "64 callers",
        "hand-written",
        3.0,
        shared_together,
        hand_alone,
    );
    line("1 caller", "single ones", 0.9, shared_alone, single_alone);
    println!(
        "(1 caller against hand-written code, which checks no rules: {:.2}x, {shared_alone:.0}/s, \
            {hand_alone:.0}/s)",
        shared_alone / hand_alone
    );
}

/// Measures durable signatures of new people with three webhooks against none. The sender of the
/// messages reads committed data; here it would be a separate program.
fn webhooks(report: &mut Report) {
    const WRITES: u32 = 300;
    let (folder, runtime, number) = (folder(), one_thread(), AtomicU32::new(0));
    let petition = data::id(Kind::Petition, 0);
    let path = format!("petitions/{petition}/record_signature_helper");
    let open = |name: &str, webhooks: u32| {
        runtime.block_on(async {
            let server = Server::open(&folder.path().join(name)).await;
            server.load([data::petition(0)]).await;
            let store = Arc::new(server.store.clone());
            let mut service = server.serving(|api| api.change_feed(&store).webhooks(&store));
            for number in 0..webhooks {
                let body =
                    format!(r#"{{"url":"https://crm-{number}.example.org/told","kinds":["person","signature"]}}"#);
                let request = post(&server.key, "webhooks", body).map(Full::new);
                let answer = service.call(request).await.unwrap_or_else(|never| match never {});
                assert_eq!(answer.status(), StatusCode::CREATED, "a webhook");
            }
            (server, service)
        })
    };
    let (none, three) = (open("none.db", 0), open("three.db", 3));
    let write = |(server, service): &(Server, SvcService)| {
        let first = number.fetch_add(WRITES, Ordering::Relaxed);
        let requests = (first..first + WRITES)
            .map(|number| post(&server.key, &path, data::signature_text(number)));
        let (service, requests) = (service.clone(), requests.collect());
        let watch = measure::CpuWatch::start();
        runtime.block_on(signed(service, requests));
        watch.micros() / f64::from(WRITES)
    };
    let [none, three] = interleaved(ROUNDS, [&mut || write(&none), &mut || write(&three)]);
    let what = "a durable signature with three webhooks, CPU";
    report.line(
        what,
        Bound::AtMost(1.05),
        three / none,
        "x",
        &format!("{three:.1} us, none {none:.1} us"),
    );
}

/// Sends the requests of one caller, one after the other.
async fn signed(mut service: SvcService, requests: Vec<Request<Bytes>>) {
    for request in requests {
        let answer = service.call(request.map(Full::new)).await;
        accepted(answer.unwrap_or_else(|never| match never {}).status());
    }
}

fn accepted(status: StatusCode) {
    assert_eq!(status, StatusCode::OK, "the signature is recorded");
}

/// Returns the CPU time per read of a path.
fn read(runtime: &Runtime, server: &Server, path: &str, count: u32) -> f64 {
    let requests: Vec<_> = (0..count).map(|_| request(server, path)).collect();
    let mut service = server.service.clone();
    runtime.block_on(async {
        cpu_each_async(count, async {
            for request in requests {
                let answer = service
                    .call(request)
                    .await
                    .unwrap_or_else(|never| match never {});
                assert_eq!(answer.status(), StatusCode::OK, "{path}");
            }
        })
        .await
    })
}

async fn cpu_each_async(count: u32, work: impl Future<Output = ()>) -> f64 {
    let watch = measure::CpuWatch::start();
    work.await;
    watch.micros() / f64::from(count)
}

fn request(server: &Server, path: &str) -> Request<Empty<Bytes>> {
    let request = Request::get(format!("/api/v1/{path}")).header("host", "api.example.org");
    request
        .header("svc-api-token", &server.key)
        .body(Empty::new())
        .expect("a request")
}

fn post(key: &str, path: &str, body: String) -> Request<Bytes> {
    let request = Request::post(format!("/api/v1/{path}")).header("host", "api.example.org");
    let request = request
        .header("svc-api-token", key)
        .header("content-type", "application/json");
    request.body(body.into()).expect("a request")
}

async fn get(server: &Server, path: &str) -> Bytes {
    let answer = server
        .service
        .clone()
        .call(request(server, path))
        .await
        .unwrap_or_else(|never| match never {});
    assert_eq!(answer.status(), StatusCode::OK, "{path} of {TENANT}");
    answer
        .into_body()
        .collect()
        .await
        .expect("a body")
        .to_bytes()
}

/// Returns the path and query of a page's `next` link.
fn next_link(page: &[u8]) -> String {
    let page = String::from_utf8_lossy(page);
    let (_, behind) = page
        .split_once("\"next\":{\"href\":\"")
        .expect("a next link");
    let (href, _) = behind.split_once('"').expect("its end");
    href.strip_prefix(data::BASE)
        .expect("an address of this server")
        .to_owned()
}

/// Returns a page without the digits of its cursor, the only part that differs.
fn without_continuation(page: &[u8]) -> String {
    let page = String::from_utf8_lossy(page);
    let (before, behind) = page.split_once("&after=").expect("a continuation");
    let digits = behind.find('"').expect("its end");
    format!("{before}{}", behind.get(digits..).unwrap_or_default())
}

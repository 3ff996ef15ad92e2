//! Measures the demo server as a process: its memory, lookups against reads, batches against single
//! requests, and the cost of webhooks for a write. The benchmark `goals` compares it with bare
//! hyper and with hand-written code.
//!
//! `cargo bench -p svc-benches --bench demo` runs all parts; `-- memory`, `-- lookup`, `-- batch`,
//! `-- lines` and `-- webhooks` run one of them. It reads `/proc`, so it needs Linux. Each line has
//! a bound, the measured value, and `ok` or `MISSED`. After a miss the exit code is 1.

#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod load;
#[path = "../../svc-sqlite/benches/measure/mod.rs"]
#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod measure;
#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod process;

use std::cell::Cell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use load::{asked, load};
use measure::{Bound, Report, interleaved, is_asked_for, median, per_second};
use process::{Connection, KEY, Server, body};

const ROUNDS: usize = 11;
const READERS: u32 = 16;
const MANY: u32 = 1_000_000;
const SIGN_UP: &str = "/api/v1/people/person_signup";
/// Number of entries of a batch.
const BATCH: u32 = 1_000;

fn main() -> ExitCode {
    if !cfg!(target_os = "linux") {
        println!("This benchmark reads /proc, which this system does not have.");
        return ExitCode::SUCCESS;
    }
    let mut report = Report::default();
    if is_asked_for("memory") {
        memory(&mut report);
    }
    if is_asked_for("lookup") {
        lookup(&mut report);
    }
    if is_asked_for("batch") {
        batch(&mut report);
    }
    if is_asked_for("lines") {
        lines(&mut report);
    }
    if is_asked_for("webhooks") {
        webhooks();
    }
    report.finish()
}

/// Measures sign-ups by one client: a thousand in one array against a thousand single requests.
fn batch(report: &mut Report) {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Server::demo(&folder.path().join("demo.db"), 10);
    let (single_number, batch_number) = (Cell::new(0_u32), Cell::new(1 << 30));
    let single = || {
        let mut connection = Connection::open(demo.address);
        per_second(BATCH, || {
            for _ in 0..BATCH {
                connection.post(
                    SIGN_UP,
                    &sign_up(single_number.replace(single_number.get() + 1)),
                );
            }
        })
    };
    let many = || {
        let mut connection = Connection::open(demo.address);
        let entries: Vec<String> = (0..BATCH)
            .map(|_| sign_up(batch_number.replace(batch_number.get() + 1)))
            .collect();
        let body = format!("[{}]", entries.join(","));
        per_second(BATCH, || {
            let answer = connection.post(&format!("{SIGN_UP}/batch"), &body);
            assert!(
                String::from_utf8_lossy(&answer).contains("\"succeeded\":1000,"),
                "every entry succeeds"
            );
        })
    };
    let [single_each, batch_each] = interleaved(2 * ROUNDS, [&mut { single }, &mut { many }]);
    let detail =
        format!("{batch_each:.0} per second in batches, {single_each:.0} as single requests");
    report.line(
        "sign-ups of one client in batches of 1000",
        Bound::AtLeast(10.0),
        batch_each / single_each,
        "x",
        &detail,
    );
}

/// Measures the anonymous memory of the demo while it receives one million sign-ups as lines.
fn lines(report: &mut Report) {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Server::demo(&folder.path().join("demo.db"), 10);
    let stream = Connection::open(demo.address).stream;
    let (mut sends, mut reads) = (
        stream.try_clone().expect("a connection"),
        BufReader::new(stream),
    );
    let is_over = AtomicBool::new(false);
    let (begun, mut most) = (Instant::now(), 0);
    let last = thread::scope(|scope| {
        scope.spawn(move || {
            let head = format!(
                "POST {SIGN_UP}/batch HTTP/1.1\r\nHost: localhost\r\nSVC-API-Token: {KEY}\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
            );
            sends.write_all(head.as_bytes()).expect("a head");
            for first in (0..MANY).step_by(100) {
                let part: String = (first..first + 100).map(|number| sign_up(number) + "\n").collect();
                sends.write_all(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes()).expect("a part");
            }
            sends.write_all(b"0\r\n\r\n").expect("the end of the body");
        });
        let answer = scope.spawn(|| {
            let mut line = String::new();
            while reads.read_line(&mut line).is_ok_and(|length| length > 0)
                && !line.contains("\"total\"")
            {
                line.clear();
            }
            is_over.store(true, Ordering::Relaxed);
            line
        });
        while !is_over.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(100));
            most = most.max(demo.anonymous_kib());
        }
        answer.join().expect("a response")
    });
    assert!(last.contains("\"succeeded\":1000000"), "{last}");
    let seconds = begun.elapsed().as_secs_f64();
    let detail = format!("{:.0} lines per second", f64::from(MANY) / seconds);
    let mib = f64::from(most) / 1024.0;
    report.line(
        "anonymous memory, one million sign-ups as lines",
        Bound::AtMost(32.0),
        mib,
        " MiB",
        &detail,
    );
}

/// Measures consecutive sign-ups of one client, with three webhooks and without. This program
/// receives the messages at the same time.
fn webhooks() {
    const WRITES: u32 = 300;
    let folder = tempfile::tempdir().expect("a folder");
    let [quiet, telling] = ["quiet", "telling"].map(|name| {
        let data = folder.path().join(name).with_extension("db");
        Server::demo_with(&data, 10, &["--allow-private-webhooks"])
    });
    let (receiver, told) = (
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port"),
        Arc::new(AtomicU32::new(0)),
    );
    let url = format!("http://{}/told", receiver.local_addr().expect("an address"));
    let count = Arc::clone(&told);
    thread::spawn(move || {
        for stream in receiver.incoming().flatten() {
            let count = Arc::clone(&count);
            thread::spawn(move || receive(stream, &count));
        }
    });
    for _ in 0..3 {
        let body = format!("{{\"url\":\"{url}\",\"kinds\":[\"person\"],\"events\":[\"created\"]}}");
        let answer = Connection::open(telling.address).send("POST", "/api/v1/webhooks", &body);
        assert!(
            answer.starts_with(b"HTTP/1.1 201"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
    }
    let number = Cell::new(0_u32);
    let write = |server: &Server| {
        let mut connection = Connection::open(server.address);
        let begun = Instant::now();
        for _ in 0..WRITES {
            connection.post(SIGN_UP, &sign_up(number.replace(number.get() + 1)));
        }
        begun.elapsed().as_secs_f64() * 1e6 / f64::from(WRITES)
    };
    let [quiet_each, telling_each] =
        interleaved(15, [&mut || write(&quiet), &mut || write(&telling)]);
    println!(
        "a sign-up while this machine also sends and receives three messages about each: \
            {telling_each:.0} us, {quiet_each:.0} us without, {:.2}x ({} messages received by \
            then)",
        telling_each / quiet_each,
        told.load(Ordering::Relaxed)
    );
}

/// Answers every request of a connection, and counts the requests.
fn receive(mut stream: TcpStream, count: &AtomicU32) -> Option<()> {
    let (mut had, mut part) = (Vec::new(), vec![0; 16 * 1024]);
    loop {
        let length = stream.read(&mut part).ok().filter(|length| *length > 0)?;
        had.extend_from_slice(part.get(..length)?);
        while let Some(head) = had.windows(4).position(|four| four == b"\r\n\r\n") {
            let text = String::from_utf8_lossy(had.get(..head)?).to_ascii_lowercase();
            let body: usize = text
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))?
                .parse()
                .ok()?;
            if had.len() < head + 4 + body {
                break;
            }
            had.drain(..head + 4 + body);
            count.fetch_add(1, Ordering::Relaxed);
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").ok()?;
        }
    }
}

/// Measures the CPU time of the demo to find one of a million people by e-mail address, against the
/// same by id. Each request is for a different person, at any position.
fn lookup(report: &mut Report) {
    const PEOPLE: u32 = 4_000;
    /// Number of server processes. The ratio differs between processes, because it depends on where
    /// the memory is.
    const SERVERS: usize = 7;
    let mut demo = one_million();
    let base = format!("http://{}", demo.address);
    let (mut by_id, mut by_email) = (Vec::new(), Vec::new());
    let mut connection = Connection::open(demo.address);
    for page in (1..=PEOPLE).map(|nth| nth * (MANY / PEOPLE)) {
        let page = connection.ask(&format!("/api/v1/people?per_page=1&page={page}"));
        for person in String::from_utf8_lossy(body(&page))
            .split("\"given_name\"")
            .skip(1)
        {
            let email = person
                .split("\"address\":\"")
                .nth(1)
                .and_then(|rest| rest.split('"').next());
            let own = person
                .split(&base)
                .find(|rest| rest.starts_with("/api/v1/people/"));
            let own = own.and_then(|rest| rest.split('"').next());
            if let (Some(email), Some(own)) = (email, own) {
                let filter = format!(
                    "email_address%20eq%20%27{}%27",
                    email.replace('@', "%40").replace('+', "%2B")
                );
                by_id.push(own.to_owned());
                by_email.push(format!("/api/v1/people?filter={filter}"));
            }
        }
    }
    assert!(by_id.len() > 3_000, "people with addresses");
    let [mut ids, mut emails, mut ratios] = [const { Vec::new() }; 3];
    for nth in 0..SERVERS {
        if nth > 0 {
            // Only one process can open the file.
            drop(demo);
            demo = one_million();
        }
        let [id, email] = interleaved(
            ROUNDS,
            [&mut || load(&demo, asked(&by_id, 1)).cpu, &mut || {
                load(&demo, asked(&by_email, 1)).cpu
            }],
        );
        ids.push(id);
        emails.push(email);
        ratios.push(email / id);
    }
    ratios.sort_by(f64::total_cmp);
    let (least, most) = (ratios[0], ratios[SERVERS - 1]);
    let what = "one of a million people by e-mail address over loopback against by id, CPU";
    let detail = format!(
        "{:.1} us, by id {:.1} us, {} different people; {SERVERS} servers: {least:.2}x to {most:.2}x",
        median(emails),
        median(ids),
        by_id.len()
    );
    report.line(what, Bound::AtMost(1.2), median(ratios), "x", &detail);
}

fn sign_up(number: u32) -> String {
    format!(
        "{{\"person\":{{\"given_name\":\"Ada\",\"family_name\":\"King {number}\",\"email_addresses\":[{{\"address\":\"ada.{number}@example.org\"}}]}}}}"
    )
}

/// Starts the demo with one million people, as a new process.
fn one_million() -> Server {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("one-million-demo.db");
    if !path.exists() {
        println!(
            "(loading one million people into {}: takes some minutes, only once)",
            path.display()
        );
    }
    // An interrupted load continues here. The measured server is a new process.
    drop(Server::demo(&path, MANY));
    Server::demo(&path, MANY)
}

/// Measures the anonymous memory of the demo with one million people while sixteen connections
/// read.
fn memory(report: &mut Report) {
    let demo = one_million();
    let person = own_path(body(&demo.get("/api/v1/people")), demo.address);
    let stop = AtomicBool::new(false);
    let mut most = 0;
    thread::scope(|scope| {
        for reader in 0..READERS {
            let (demo, person, stop) = (&demo, &person, &stop);
            scope.spawn(move || {
                let mut connection = Connection::open(demo.address);
                for turn in 0_u32.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let page = 1 + reader
                        .wrapping_mul(2_477)
                        .wrapping_add(turn.wrapping_mul(7_919))
                        % 40_000;
                    match turn % 4 {
                        0 => connection.ask(person),
                        1 => connection.ask(&format!("/api/v1/people?page={page}")),
                        2 => connection.ask(&format!(
                            "/api/v1/people?page={}&per_page=100",
                            page / 4 + 1
                        )),
                        _ => connection.ask(&format!("{person}/signatures")),
                    };
                }
            });
        }
        for _ in 0..50 {
            thread::sleep(Duration::from_millis(200));
            most = most.max(demo.anonymous_kib());
        }
        stop.store(true, Ordering::Relaxed);
    });
    let mib = f64::from(most) / 1024.0;
    let what = format!("anonymous memory, one million people, {READERS} readers");
    report.line(
        &what,
        Bound::AtMost(32.0),
        mib,
        " MiB",
        "maximum of 50 samples in 10 s",
    );
}

/// Returns the path of the second person on a page, which is an ordinary person. The first one owns
/// the keys.
fn own_path(page: &[u8], address: SocketAddr) -> String {
    let page = String::from_utf8_lossy(page);
    let base = format!("http://{address}");
    let mut people = page
        .split(&base)
        .filter(|rest| rest.starts_with("/api/v1/people/0"));
    let person = people
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .expect("a person");
    person.to_owned()
}

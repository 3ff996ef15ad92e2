//! Helper requests against the same work in hand-written code ([`hand`]), and the effect of a slow
//! disk on both.

mod disk;

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use bytes::Bytes;

use self::disk::Disk;
use crate::load::{Run, load, rounds};
use crate::measure::{Bound, Report, median};
use crate::process::{KEY, Server, body};
use crate::{ROUNDS, compare, folder, hand_written};

/// The milliseconds that a sync takes on a disk, and the bound there: how many times the requests
/// per second of one transaction each.
const DISKS: [(f64, f64); 2] = [(0.3, 8.0), (4.0, 15.0)];

/// The demo and the servers that it is compared with. Their files are in one folder.
struct Sides {
    demo: Server,
    petition: String,
    tag: String,
    next: Cell<u32>,
}

impl Sides {
    fn new(demo: Server) -> Self {
        let (petition, tag) = (petition(&demo), first(&demo, "tags", "name"));
        Self {
            demo,
            petition,
            tag,
            next: Cell::new(0),
        }
    }

    fn ours(&self, connections: usize, all: usize) -> Run {
        self.run(&self.demo, &self.petition, &self.tag, connections, all)
    }

    fn theirs(&self, server: &Server, connections: usize, all: usize) -> Run {
        self.run(
            server,
            hand_written::PETITION,
            hand_written::TAG,
            connections,
            all,
        )
    }

    /// Records signatures of people who have not signed before.
    fn run(
        &self,
        server: &Server,
        petition: &str,
        tag: &str,
        connections: usize,
        all: usize,
    ) -> Run {
        let number = self.next.replace(self.next.get() + 1);
        let of = |connection| {
            let name = |nth| format!("{number}c{connection}n{nth}");
            (0..all / connections)
                .map(|nth| signature(petition, &name(nth), tag))
                .collect()
        };
        load(server, (0..connections).map(of).collect())
    }
}

/// Measures signatures of new people with address, telephone, postal address and a known tag.
pub(crate) fn helpers(report: &mut Report) {
    let folder = folder();
    let here = Disk::here();
    println!(
        "(a sync of 4 KiB takes {:.2} ms here)",
        here.sync(folder.path())
    );
    let by_hand = |name: &str, options: &[&str]| by_hand(&here, folder.path(), name, options);
    let sides = Sides::new(Server::demo(&folder.path().join("demo.db"), 10));
    let (hand, asked) = (
        by_hand("hand.db", &["256"]),
        by_hand("asked.db", &["256", "asked"]),
    );
    for connections in [16, 64, 256] {
        let [ours, hand, asked] = rounds(
            ROUNDS,
            [
                &mut || sides.ours(connections, 4_096),
                &mut || sides.theirs(&hand, connections, 4_096),
                &mut || sides.theirs(&asked, connections, 4_096),
            ],
        );
        let what = format!("signatures, {connections} connections, against hand-written");
        compare(
            report,
            &format!("{what}, CPU"),
            1.4,
            [ours, hand],
            "hand-written",
        );
        let detail = format!(
            "{:.0}/s, p99 {:.1} ms; hand-written {:.0}/s, p99 {:.1} ms; driver {:.2}",
            ours.rate, ours.p99, hand.rate, hand.p99, ours.driver
        );
        report.line(
            &format!("{what}, requests"),
            Bound::AtLeast(0.8),
            ours.rate / hand.rate,
            "x",
            &detail,
        );
        let [cpu, rate] = [asked.cpu / hand.cpu, asked.rate / hand.rate];
        println!(
            "(hand-written with everything that the API can read afterwards: {:.1} us, {cpu:.2}x, \
                and {rate:.2}x of the requests)",
            asked.cpu
        );
    }
    let single = by_hand("single.db", &["1"]);
    let [alone, each] = rounds(
        ROUNDS,
        [&mut || sides.ours(1, 500), &mut || {
            sides.theirs(&single, 1, 500)
        }],
    );
    let detail = format!("{:.0}/s, hand-written {:.0}/s", alone.rate, each.rate);
    let what = "signatures, one caller, against one transaction each";
    report.line(
        what,
        Bound::AtLeast(1.0),
        alone.rate / each.rate,
        "x",
        &detail,
    );
    for (milliseconds, bound) in DISKS {
        shared(report, milliseconds, bound);
    }
}

/// Measures requests that share a sync against one transaction each, on a disk whose sync takes
/// `milliseconds`.
fn shared(report: &mut Report, milliseconds: f64, bound: f64) {
    let folder = folder();
    let here = Disk::here().sync(folder.path());
    let Some(disk) = Disk::slower(folder.path(), milliseconds - here) else {
        return println!("(no C compiler: nothing is measured on a slower disk)");
    };
    let sides = Sides::new(Server::demo_on(
        &folder.path().join("demo.db"),
        10,
        &disk.environment(),
    ));
    let by_hand = |name: &str, batch: &str| by_hand(&disk, folder.path(), name, &[batch]);
    let (single, hand) = (by_hand("single.db", "1"), by_hand("hand.db", "256"));
    let [ours, each, hand] = rounds(
        ROUNDS,
        [
            &mut || sides.ours(256, 4_096),
            &mut || sides.theirs(&single, 256, 512),
            &mut || sides.theirs(&hand, 256, 4_096),
        ],
    );
    let what = format!(
        "signatures, 256 connections, against one transaction each, a sync of {milliseconds} ms"
    );
    let takes = disk.sync(folder.path());
    assert!(
        (0.8..2.0).contains(&(takes / milliseconds)),
        "a sync takes {takes:.2} ms instead of {milliseconds}"
    );
    let detail = format!(
        "measured {takes:.2} ms; {:.0}/s, one each {:.0}/s, hand-written with a shared sync \
            {:.0}/s; driver {:.2}",
        ours.rate, each.rate, hand.rate, ours.driver
    );
    report.line(
        &format!("{what}, requests"),
        Bound::AtLeast(bound),
        ours.rate / each.rate,
        "x",
        &detail,
    );
    let detail = format!(
        "{:.1} ms, one each {:.1} ms, hand-written {:.1} ms",
        ours.p99, each.p99, hand.p99
    );
    report.line(
        &format!("{what}, p99"),
        Bound::AtMost(0.1),
        ours.p99 / each.p99,
        "x",
        &detail,
    );
}

/// Starts the hand-written server with a new file. The options are how many requests share a
/// transaction, and `asked` for everything that the API can read afterwards.
fn by_hand(disk: &Disk, folder: &Path, name: &str, options: &[&str]) -> Server {
    let file = folder.join(name);
    let mut arguments = vec![OsStr::new("hand"), file.as_os_str()];
    arguments.extend(options.iter().map(OsStr::new));
    Server::again_on(&arguments, &disk.environment())
}

/// Returns the milliseconds until a file of this folder is durable.
pub(crate) fn sync(folder: &Path) -> f64 {
    let mut file = fs::File::create(folder.join("sync")).expect("a file");
    let once = |_| {
        file.write_all(&[1; 4096]).expect("a page");
        let begun = Instant::now();
        file.sync_data().expect("the file is durable");
        begun.elapsed().as_secs_f64() * 1e3
    };
    median((0..101).map(once).collect())
}

/// Returns a member of the first record of a collection.
pub(crate) fn first(demo: &Server, collection: &str, member: &str) -> String {
    let page = demo.get(&format!("/api/v1/{collection}"));
    let page: serde_json::Value = serde_json::from_slice(body(&page)).expect("a page");
    let value = &page["_embedded"][format!("svc:{collection}")][0][member];
    value.as_str().expect("a text").to_owned()
}

/// Returns the id of the demo's first petition.
pub(crate) fn petition(demo: &Server) -> String {
    let page = demo.get("/api/v1/petitions");
    let page: serde_json::Value = serde_json::from_slice(body(&page)).expect("a page");
    let own = page["_embedded"]["svc:petitions"][0]["_links"]["self"]["href"]
        .as_str()
        .expect("its address");
    own.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Returns a request that records a signature of a new person.
pub(crate) fn signature(petition: &str, who: &str, tag: &str) -> Bytes {
    let body = format!(
        r#"{{"comments":"Count me in.","person":{{"given_name":"Ada","family_name":"King {who}","email_addresses":[{{"address":"ada.{who}@example.org"}}],"phone_numbers":[{{"number":"+44 20 7946 0{:03}"}}],"postal_addresses":[{{"address_lines":["12 St James's Square"],"locality":"London","postal_code":"SW1Y 4JH","country":"GB"}}]}},"add_tags":["{tag}"]}}"#,
        who.len()
    );
    let path = format!("/api/v1/petitions/{petition}/record_signature_helper");
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nSVC-API-Token: {KEY}\r\nAccept: application/hal+json\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into()
}

//! Writes that share a transaction have the same responses and effects as one after another.
//!
//! Requirements: UND-36.

use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::task::Waker;

use crate::server::{Answer, Server};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use svc_core::Context;
use svc_core::auth::{Caller, Rights};
use svc_core::value::Timestamp;
use svc_sqlite::{SqliteOptions, SqliteStore};

/// Returns the initial data: a name, the collection, the body.
fn beginning() -> Vec<(&'static str, &'static str, Value)> {
    let levels = json!([{"title": "A", "amount": 5, "currency": "EUR", "capacity": 2}]);
    let person = |name| json!({"given_name": name, "email_addresses": [{"address": format!("{name}@example.org")}]});
    vec![
        ("event", "events", json!({"type": "open", "capacity": 3})),
        (
            "tickets",
            "events",
            json!({"type": "ticketed", "ticket_levels": levels}),
        ),
        ("petition", "petitions", json!({})),
        ("other_petition", "petitions", json!({})),
        ("form", "forms", json!({})),
        ("page", "fundraising_pages", json!({"currency": "EUR"})),
        ("tag", "tags", json!({"name": "t"})),
        ("list", "lists", json!({"name": "l"})),
        (
            "question",
            "questions",
            json!({"question_type": "Paragraph"}),
        ),
        ("message", "messages", json!({})),
        ("ada", "people", person("ada")),
        ("bob", "people", person("bob")),
    ]
}

const READS: &[&str] = &[
    "people",
    "people?per_page=2&page=2",
    "people?per_page=1&page=5",
    "<event>",
    "<event>/attendances",
    "<event>/attendances?per_page=1&page=3",
    "<tickets>",
    "<tickets>/attendances",
    "<petition>",
    "<petition>/signatures",
    "<page>",
    "<form>/submissions",
    "<list>/items",
    "<tag>/taggings",
    "donations",
    "messages",
    "tags",
];

/// A request. `<name>` in it represents the address of an initial record.
#[derive(Debug, Clone)]
struct Op {
    method: &'static str,
    address: &'static str,
    body: Value,
}

fn post(address: &'static str, body: Value) -> Op {
    Op {
        method: "POST",
        address,
        body,
    }
}

fn person() -> impl Strategy<Value = Value> {
    (select(vec!["ada", "bob", "eve", "kim"]), option::weighted(0.3, 0..3), any::<bool>()).prop_map(
        |(name, identifier, phone)| {
            let mut person =
                json!({"given_name": name, "email_addresses": [{"address": format!("{name}@example.org")}]});
            if let Some(number) = identifier {
                person["identifiers"] = json!([format!("p:{number}")]);
            }
            if phone {
                person["phone_numbers"] = json!([{"number": "15550100"}]);
            }
            person
        },
    )
}

/// Returns helper requests: with a new or existing person, and functions that succeed or fail.
fn call() -> impl Strategy<Value = Value> {
    let functions = [
        json!({}),
        json!({}),
        json!({"add_tags": ["t"]}),
        json!({"add_tags": ["none", "t"]}),
        json!({"add_lists": ["l"]}),
    ];
    (person(), option::of(0..4), select(functions.to_vec())).prop_map(
        |(person, identifier, mut call)| {
            call["person"] = person;
            if let Some(number) = identifier {
                call["identifiers"] = json!([format!("a:{number}")]);
            }
            call
        },
    )
}

fn operation() -> impl Strategy<Value = Op> {
    let helpers = [
        "<event>/record_attendance_helper",
        "<event>/record_attendance_helper",
        "<event>/attendances",
        "<petition>/record_signature_helper",
        "<petition>/signatures",
        "<other_petition>/record_signature_helper",
        "<form>/record_submission_helper",
        "events/01980000-0000-7000-8000-000000000000/record_attendance_helper",
    ];
    let deleted = ["<ada>", "<tag>", "<petition>", "<question>", "<event>"];
    prop_oneof![
        8 => (select(helpers.to_vec()), call()).prop_map(|(address, call)| post(address, call)),
        2 => (call(), select(vec!["A", "A", "B"])).prop_map(|(mut call, title)| {
            call["tickets"] = json!([{"title": title}]);
            post("<tickets>/record_attendance_helper", call)
        }),
        1 => (call(), select(vec!["EUR", "USD"])).prop_map(|(mut call, currency)| {
            call["recipients"] = json!([{"display_name": "R", "amount": 5}]);
            call["amount"] = json!(5);
            call["currency"] = json!(currency);
            post("<page>/record_donation_helper", call)
        }),
        1 => person().prop_map(|person| post("people/person_signup", json!({"person": person}))),
        1 => person().prop_map(|person| post("people", person)),
        1 => select(vec!["t", "u", "v"]).prop_map(|name| post("tags", json!({"name": name}))),
        1 => (select(vec!["<ada>", "<bob>"]), person()).prop_map(|(address, body)| Op { method: "PUT", address, body }),
        1 => (0..5).prop_map(|places| Op { method: "PUT", address: "<event>", body: json!({"capacity": places}) }),
        1 => select(deleted.to_vec()).prop_map(|address| Op { method: "DELETE", address, body: Value::Null }),
        1 => Just(post("<message>/schedule", json!({"scheduled_start_date": "2031-01-01T00:00:00Z"}))),
        1 => Just(post("<tag>/taggings", json!({"_links": {"svc:person": {"href": "<bob>"}}}))),
    ]
}

/// Holds the writer before COMMIT while it is closed. It must be dropped before the store, because
/// closing the store waits for the writer.
struct Gate {
    waits: Receiver<()>,
    leave: Sender<()>,
    closed: Arc<AtomicBool>,
}

fn gate() -> (Gate, impl Fn() + Send + Sync + 'static) {
    let (says, waits) = mpsc::channel();
    let (leave, may) = mpsc::channel::<()>();
    let may = Mutex::new(may);
    let closed = Arc::new(AtomicBool::new(false));
    let is_closed = Arc::clone(&closed);
    let hold = move || {
        if is_closed.load(Ordering::SeqCst) {
            // A failed test no longer receives this.
            let _ = says.send(());
            let _ = may.lock().unwrap().recv();
        }
    };
    (
        Gate {
            waits,
            leave,
            closed,
        },
        hold,
    )
}

/// A server of its own with the initial data.
struct World {
    gate: Gate,
    server: Server,
    addresses: Vec<(String, String)>,
    answers: Vec<String>,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new(now: Timestamp) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (gate, hold) = gate();
        let options = SqliteOptions::new(folder.path().join("data.db"))
            .relaxed_durability()
            .clock(move || now);
        let server = Server::on(
            SqliteStore::open(options.inline_commit(false).before_commit(hold)).unwrap(),
        )
        .await;
        let mut world = Self {
            gate,
            server,
            addresses: Vec::new(),
            answers: Vec::new(),
            _folder: folder,
        };
        for (name, collection, body) in beginning() {
            let made = world
                .ask(
                    now,
                    &Op {
                        method: "POST",
                        address: collection,
                        body,
                    },
                )
                .await;
            world
                .addresses
                .push((format!("<{name}>"), made.self_link()));
        }
        world
    }

    fn filled(&self, text: &str) -> String {
        self.addresses
            .iter()
            .fold(text.to_owned(), |text, (name, address)| {
                text.replace(name, address)
            })
    }

    async fn ask(&self, now: Timestamp, op: &Op) -> Answer {
        let cx = Context::new(
            self.server.tenant.clone(),
            Caller::with_rights(Rights::all()),
            now,
        );
        let body = serde_json::from_str(&self.filled(&op.body.to_string())).unwrap();
        self.server
            .call_as(&cx, op.method, &self.filled(op.address), body)
            .await
    }

    async fn read(&mut self, now: Timestamp) {
        for address in READS {
            let answer = self
                .ask(
                    now,
                    &Op {
                        method: "GET",
                        address,
                        body: Value::Null,
                    },
                )
                .await;
            self.answers.push(shown(answer));
        }
    }

    async fn one_after_the_other(&mut self, now: Timestamp, ops: &[Op]) {
        for op in ops {
            let answer = self.ask(now, op).await;
            self.answers.push(shown(answer));
        }
    }

    /// Runs all of them in one shared transaction, after the one that the gate holds.
    async fn together(&mut self, now: Timestamp, ops: &[Op]) {
        let mut answers = Vec::new();
        {
            self.gate.closed.store(true, Ordering::SeqCst);
            let mut first: Pin<Box<dyn Future<Output = _>>> =
                Box::pin(self.server.store.set_metadata("first", ""));
            assert!(begun(&mut first).is_none());
            self.gate.waits.recv().unwrap();
            let mut asked: Vec<_> = ops
                .iter()
                .map(|op| Box::pin(self.ask(now, op)) as Pin<Box<dyn Future<Output = _>>>)
                .collect();
            let early: Vec<_> = asked.iter_mut().map(begun).collect();
            let queued = early.iter().filter(|answer| answer.is_none()).count();
            assert_eq!(
                self.server.store.stats().queued_writes,
                queued,
                "the writes wait for one transaction"
            );
            self.gate.closed.store(false, Ordering::SeqCst);
            self.gate.leave.send(()).unwrap();
            first.await.unwrap();
            for (early, asked) in early.into_iter().zip(asked) {
                answers.push(shown(match early {
                    Some(answer) => answer,
                    None => asked.await,
                }));
            }
        }
        self.answers.extend(answers);
    }

    /// Closes the file, and returns the result of SQLite's integrity check.
    fn into_integrity(self) -> (Vec<String>, String) {
        let Self {
            gate,
            server,
            answers,
            _folder,
            ..
        } = self;
        let path = server.store.path().to_owned();
        drop(gate);
        drop(server);
        (answers, integrity(&path))
    }
}

/// Polls a request once. Returns its response if it is ready.
fn begun<T>(future: &mut Pin<Box<dyn Future<Output = T> + '_>>) -> Option<T> {
    match future
        .as_mut()
        .poll(&mut std::task::Context::from_waker(Waker::noop()))
    {
        std::task::Poll::Ready(answer) => Some(answer),
        std::task::Poll::Pending => None,
    }
}

fn integrity(path: &Path) -> String {
    let file = rusqlite::Connection::open(path).unwrap();
    file.query_row("PRAGMA integrity_check(1)", (), |row| row.get(0))
        .unwrap()
}

/// Returns a response without random values.
fn shown(mut answer: Answer) -> String {
    fn clean(json: &mut Value) {
        match json {
            Value::Object(members) => {
                members.retain(|name, _| {
                    !["reference_code", "next", "previous"].contains(&name.as_str())
                });
                members.values_mut().for_each(clean);
            }
            Value::Array(list) => list.iter_mut().for_each(clean),
            _ => {}
        }
    }
    clean(&mut answer.json);
    format!("{} {}", answer.status, answer.json)
}

/// Returns the same with each id replaced by the number of its first occurrence.
fn numbered(answers: &[String]) -> Vec<String> {
    let mut seen: Vec<&str> = Vec::new();
    let is_id = |word: &str| {
        word.len() == 36
            && word
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
    };
    let mut number = |word| {
        seen.iter()
            .position(|known| *known == word)
            .unwrap_or_else(|| {
                seen.push(word);
                seen.len() - 1
            })
    };
    let mut written = |part| {
        let word = str::trim_end_matches(part, ['"', '/', ':', '?']);
        if is_id(word) {
            part.replace(word, &format!("#{}", number(word)))
        } else {
            part.to_owned()
        }
    };
    answers
        .iter()
        .map(|answer| {
            answer
                .split_inclusive(['"', '/', ':', '?'])
                .map(&mut written)
                .collect()
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(36),
        ..ProptestConfig::default()
    })]

    #[test]
    fn writes_that_share_a_transaction_are_as_if_one_after_the_other(rounds in vec(vec(operation(), 1..24), 1..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (together, apart) = runtime.block_on(async {
            let start = Timestamp::parse("2026-05-01T00:00:00Z").unwrap();
            let (mut together, mut apart) = (World::new(start).await, World::new(start).await);
            for (round, ops) in (1..).zip(&rounds) {
                let now = Timestamp::from_micros(start.as_micros() + 1_000_000 * round);
                together.together(now, ops).await;
                apart.one_after_the_other(now, ops).await;
                together.read(now).await;
                apart.read(now).await;
            }
            (together.into_integrity(), apart.into_integrity())
        });
        let what: Vec<String> = rounds
            .iter()
            .flat_map(|ops| ops.iter().map(|op| format!("{op:?}")).chain(READS.iter().map(ToString::to_string)))
            .collect();
        for ((together, apart), what) in numbered(&together.0).iter().zip(&numbered(&apart.0)).zip(what) {
            prop_assert_eq!(together, apart, "UND-36: {}", what);
        }
        prop_assert_eq!((together.1, apart.1), ("ok".to_owned(), "ok".to_owned()));
    }
}

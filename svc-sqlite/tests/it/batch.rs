//! A batch has the same results and the same effects as its requests one after another (BAT).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::generate::Dice;
use crate::server::{BASE, Server};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use proptest::prelude::*;
use serde_json::{Value, json};
use svc_core::api::{Request, Response};
use svc_core::model::Kind;
use svc_core::read::Json;
use svc_core::value::Timestamp;
use svc_sqlite::{SqliteOptions, SqliteStore};

const SIGN_UP: &str = "people/person_signup";

/// The time at which every request is received.
fn received() -> Timestamp {
    Timestamp::parse("2026-05-01T00:00:00Z").unwrap()
}

async fn server() -> Server {
    Server::with(|options| options, svc_core::ApiBuilder::batches).await
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&str, &str)| {
        (
            HeaderName::try_from(*name).unwrap(),
            HeaderValue::from_str(value).unwrap(),
        )
    };
    pairs.iter().map(pair).collect()
}

async fn ask(
    server: &Server,
    address: &str,
    body: String,
    with: &[(&str, &str)],
) -> (Response, Value) {
    let (method, headers) = (Method::POST, headers(with));
    let path = address.strip_prefix(BASE).unwrap_or(address);
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path, None),
    };
    let request = Request::new(&method, path)
        .with_query(query)
        .with_headers(&headers)
        .with_body(body)
        .with_received_at(received());
    let reply = server.api.handle(server.identity(), request).await;
    let json = serde_json::from_slice(&reply.body).unwrap_or_default();
    (reply, json)
}

async fn batch(server: &Server, helper: &str, entries: &[Value], with: &[(&str, &str)]) -> Value {
    let (reply, json) = ask(
        server,
        &format!("{helper}/batch"),
        Value::from(entries).to_string(),
        with,
    )
    .await;
    assert_eq!(reply.status, 200, "{json}");
    assert_eq!(json["total"], entries.len(), "{json}");
    json
}

fn sign_up(name: &str, place: usize) -> Value {
    let address = format!("{name}@example.org");
    json!({"person": {"given_name": format!("{place}"), "email_addresses": [{"address": address}]}})
}

fn statuses(batch: &Value) -> Vec<u64> {
    batch["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["status"].as_u64().unwrap())
        .collect()
}

/// Returns the results without their effects, which differ if an entry is repeated.
fn responses(batch: &Value) -> Vec<Value> {
    let mut results = batch["results"].as_array().unwrap().clone();
    for result in &mut results {
        result.as_object_mut().unwrap().remove("effect");
    }
    results
}

/// Returns the effects of the entries.
fn effects(batch: &Value) -> Vec<&str> {
    let results = batch["results"].as_array().unwrap().iter();
    results
        .map(|result| result["effect"].as_str().unwrap_or_default())
        .collect()
}

/// BAT-12: each entry that succeeded has its effect.
#[tokio::test]
async fn bat_12_an_entry_has_its_effect() {
    let server = server().await;
    let tagged = |name: &str| {
        let mut entry = sign_up(name, 1);
        entry["add_tags"] = json!(["host"]);
        entry
    };
    let entries = [
        sign_up("ada", 1),
        sign_up("ada", 1),
        sign_up("ada", 2),
        json!({}),
    ];
    let results = batch(&server, SIGN_UP, &entries, &[]).await;
    assert_eq!(effects(&results), ["created", "unchanged", "updated", ""]);
    let (reply, tag) = ask(&server, "tags", json!({"name": "host"}).to_string(), &[]).await;
    assert_eq!(reply.status, 201, "{tag}");
    let results = batch(&server, SIGN_UP, &[tagged("eve"), tagged("eve")], &[]).await;
    assert_eq!(effects(&results), ["created", "unchanged"]);
    let results = batch(&server, SIGN_UP, &[sign_up("bob", 1), tagged("bob")], &[]).await;
    assert_eq!(effects(&results), ["created", "updated"]);
    // The record of the response is the signature.
    let (_, petition) = ask(&server, "petitions", json!({"title": "t"}).to_string(), &[]).await;
    let petition = petition["_links"]["self"]["href"].as_str().unwrap();
    let helper = format!("{petition}/record_signature_helper");
    let results = batch(
        &server,
        &helper,
        &[sign_up("ada", 2), sign_up("ada", 2)],
        &[],
    )
    .await;
    assert_eq!(effects(&results), ["created", "created"]);
}

/// BAT-13: a preview changes nothing, and uses up no idempotency key.
#[tokio::test]
async fn bat_13_a_preview_changes_nothing() {
    let server = server().await;
    batch(&server, SIGN_UP, &[sign_up("ada", 1)], &[]).await;
    let entries = [
        sign_up("ada", 1),
        sign_up("ada", 2),
        sign_up("bob", 1),
        json!({"person": 7}),
    ];
    let key = [("idempotency-key", "import-1")];
    let body = Value::from(&entries[..]).to_string();
    let address = format!("{SIGN_UP}/batch?preview=true");
    let before = server.total("people").await;
    let (reply, preview) = ask(&server, &address, body.clone(), &key).await;
    assert_eq!(reply.status, 200, "{preview}");
    assert_eq!(effects(&preview), ["unchanged", "updated", "created", ""]);
    assert_eq!(statuses(&preview), [200, 200, 200, 400]);
    assert_eq!(server.total("people").await, before);
    let results = batch(&server, SIGN_UP, &entries, &key).await;
    assert_eq!(effects(&results), effects(&preview));
    let (reply, json) = ask(&server, &format!("{SIGN_UP}/batch?preview=1"), body, &[]).await;
    assert_eq!(reply.status, 400, "{json}");
}

/// BAT-09: with `Prefer: return=minimal`, results of successful entries are short, and failures are
/// reported completely.
#[tokio::test]
async fn bat_09_a_client_says_how_much_it_is_told() {
    let server = server().await;
    let entries = [sign_up("ada", 1), json!({"given_name": "strict?"})];
    let with = [("prefer", "return=minimal, handling=strict")];
    let body = Value::from(&entries[..]).to_string();
    let (reply, done) = ask(&server, &format!("{SIGN_UP}/batch"), body, &with).await;
    assert_eq!(
        reply.header("preference-applied"),
        Some("handling=strict, return=minimal")
    );
    assert_eq!(statuses(&done), [200, 400], "{done}");
    assert!(done["results"][0]["href"].is_string() && done["results"][0].get("body").is_none());
    assert!(done["results"][1]["body"]["svc:error"].is_object());
}

/// BAT-11: the response to an array is limited. From the first body that does not fit, results have
/// no body.
#[tokio::test]
async fn bat_11_the_response_has_no_more_bodies_than_fit() {
    let entries: Vec<Value> = (0..600)
        .map(|place| {
            if place % 2 == 0 {
                sign_up(&format!("a{place}"), place)
            } else {
                json!({"person": 7})
            }
        })
        .collect();
    let whole = batch(&server().await, SIGN_UP, &entries, &[]).await;
    let body = |place: usize| whole["results"][place]["body"].to_string().len();
    // Room for three bodies and a part of the fourth.
    let most = body(0) + body(1) + body(2) + body(3) / 2;
    let sizes = svc_core::api::ApiLimits::default().batch_response(most);
    let server = Server::with(|options| options, move |api| api.batches().limits(sizes)).await;
    let limited = batch(&server, SIGN_UP, &entries, &[]).await;
    assert_eq!(statuses(&limited), statuses(&whole));
    assert_eq!(
        (&limited["succeeded"], &limited["failed"]),
        (&json!(300), &json!(300))
    );
    for (place, result) in limited["results"].as_array().unwrap().iter().enumerate() {
        let is_success = place % 2 == 0;
        assert_eq!(result.get("body").is_some(), place < 3, "{result}");
        assert_eq!(result.get("href").is_some(), is_success, "{result}");
        let code = (place >= 3 && !is_success).then_some(
            &whole["results"][place]["body"]["svc:error"]["resource_status"][0]["error_descriptions"][0]["error_code"],
        );
        assert_eq!(result.get("code"), code, "{result}");
    }
    assert_eq!(server.total("people").await, 300, "every entry is executed");
}

/// BAT-05: a body that is not an array, or has too many entries, is rejected as a whole, with a
/// hint.
#[tokio::test]
async fn bat_05_a_body_that_is_no_batch_is_refused() {
    let server = server().await;
    let address = format!("{SIGN_UP}/batch");
    let many = |number| Value::from(vec![json!({}); number]).to_string();
    for (body, status, code, says) in [
        (String::new(), 400, "BODY_MISSING", "JSON array"),
        ("{}".to_owned(), 400, "JSON_INVALID", "must be a JSON array"),
        ("[{},]".to_owned(), 400, "JSON_INVALID", "line 1, column 5"),
        ("[{}] x".to_owned(), 400, "JSON_INVALID", "line 1"),
        (many(1001), 413, "BODY_TOO_LARGE", "application/x-ndjson"),
    ] {
        let (reply, json) = ask(&server, &address, body.clone(), &[]).await;
        let told = &json["svc:error"]["resource_status"][0]["error_descriptions"][0];
        assert_eq!(
            (reply.status.as_u16(), told["error_code"].as_str()),
            (status, Some(code)),
            "{body:.20} {json}"
        );
        assert!(
            told["description"].as_str().unwrap().contains(says),
            "{json}"
        );
    }
    let (reply, json) = ask(&server, &address, "[]".to_owned(), &[]).await;
    assert_eq!((reply.status.as_u16(), &json["total"]), (200, &json!(0)));
    assert_eq!(server.total("people").await, 0, "no entry was executed");
    let (reply, _) = ask(
        &server,
        &format!("{BASE}petitions/none/record_signature_helper/batch"),
        many(2),
        &[],
    )
    .await;
    assert_eq!(reply.status, 404, "the whole batch is rejected");
    let (reply, _) = ask(&server, &address, many(1), &[("idempotency-key", "")]).await;
    assert_eq!(reply.status, 400);
}

/// BAT-10: a server that does not declare batches returns 500 for their addresses.
///
/// Requirements: ERR-07.
#[tokio::test]
async fn bat_10_batches_that_are_not_declared_are_not_offered() {
    let without = Server::start().await;
    assert_eq!(
        ask(
            &without,
            &format!("{SIGN_UP}/batch"),
            "[{}]".to_owned(),
            &[]
        )
        .await
        .0
        .status,
        500
    );
}

/// BAT-03: a thousand entries that create and match the same people. Each must see the results of
/// the previous ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bat_03_entries_are_done_in_their_order() {
    let commits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&commits);
    let count = move || _ = counted.fetch_add(1, Ordering::SeqCst);
    let server = Server::with(
        |options| options.before_commit(count),
        svc_core::ApiBuilder::batches,
    )
    .await;
    // In each pair, the first entry creates a person and the second one matches it. Every tenth
    // pair refers to the first person.
    let name = |place: usize| {
        if place % 10 < 2 {
            "first".to_owned()
        } else {
            format!("p{}", place / 2)
        }
    };
    let entries: Vec<Value> = (0..1000)
        .map(|place| sign_up(&name(place), place))
        .collect();
    let before = commits.load(Ordering::SeqCst);
    let done = batch(&server, SIGN_UP, &entries, &[]).await;
    let commits = commits.load(Ordering::SeqCst) - before;
    assert_eq!(done["succeeded"], 1000);
    assert_eq!(
        done["_links"]["self"]["href"],
        format!("{BASE}{SIGN_UP}/batch")
    );
    let results = done["results"].as_array().unwrap();
    for (place, result) in results.iter().enumerate() {
        assert_eq!(
            result["body"]["given_name"],
            format!("{place}"),
            "each result is that of its entry"
        );
        if place % 2 == 1 {
            assert_eq!(
                result["href"],
                results[place - 1]["href"],
                "entry {place} matches the person of the entry before"
            );
        }
    }
    assert_eq!(
        server.get(results[0]["href"].as_str().unwrap()).await.json["given_name"],
        "991",
        "the last entry wins"
    );
    assert_eq!(server.total("people").await, 401);
    assert!(
        commits <= 100,
        "{commits} transactions: many entries share one"
    );
}

/// BAT-06: a batch with `Idempotency-Key` can be repeated, unchanged or with more entries. Executed
/// entries get the stored result.
#[tokio::test]
async fn bat_06_a_batch_that_comes_again_does_the_rest() {
    let server = server().await;
    let mut entries: Vec<Value> = (0..300)
        .map(|place| json!({"person": {"given_name": format!("nobody {place}")}}))
        .collect();
    entries[7] = json!({"person": {"given_name": 7}});
    let key = [("idempotency-key", "import-1")];
    let begun = batch(&server, SIGN_UP, &entries[..170], &key).await;
    assert_eq!(server.total("people").await, 169);
    let whole = batch(&server, SIGN_UP, &entries, &key).await;
    assert_eq!(
        server.total("people").await,
        299,
        "BAT-06: no entry is executed twice"
    );
    assert_eq!(
        responses(&whole)[..170],
        responses(&begun)[..],
        "BAT-06: the stored result"
    );
    let again = batch(&server, SIGN_UP, &entries, &key).await;
    assert_eq!(responses(&again), responses(&whole));
    assert_eq!(
        effects(&whole)[168..172],
        ["unchanged", "unchanged", "created", "created"]
    );
    assert_eq!(effects(&again)[6..8], ["unchanged", ""]);
    // Another entry at the position of an executed one is an error of the client.
    entries.swap(0, 1);
    assert_eq!(
        statuses(&batch(&server, SIGN_UP, &entries[..3], &key).await),
        [422, 422, 200]
    );
    // The key of a single request with the same name as that of an entry is a different key.
    let (reply, _) = ask(
        &server,
        SIGN_UP,
        entries[0].to_string(),
        &[("idempotency-key", "import-1 0")],
    )
    .await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("idempotency-replayed")),
        (200, None)
    );
}

/// Returns a store with the same clock as its twin.
async fn twin() -> (Server, String, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(
        SqliteOptions::new(folder.path().join("data.db"))
            .relaxed_durability()
            .clock(received),
    )
    .unwrap();
    let mut server = Server::on(store).await;
    server.api = crate::server::api(&server.store, svc_core::ApiBuilder::batches);
    let event = server.make("events", json!({"capacity": 3})).await;
    server.make("tags", json!({"name": "t"})).await;
    server
        .make(
            "people",
            json!({"given_name": "Ada", "identifiers": ["p:1"]}),
        )
        .await;
    (server, event, folder)
}

/// Returns a response without random values: each id is replaced by the number of its first
/// occurrence.
fn shown(status: u64, body: &Value, ids: &mut Vec<String>) -> String {
    let text = format!("{status} {body}");
    let mut shown = String::new();
    for part in text.split_inclusive(['"', '/', ':', '?']) {
        let word = part.trim_end_matches(['"', '/', ':', '?']);
        let is_id = word.len() == 36
            && word
                .bytes()
                .all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
        if is_id {
            let known = ids.iter().position(|id| id == word).unwrap_or(ids.len());
            if known == ids.len() {
                ids.push(word.to_owned());
            }
            shown += &part.replace(word, &format!("#{known}"));
        } else {
            shown += part;
        }
    }
    shown
}

/// Returns the body of a request: valid, with errors at any depth, or random JSON.
fn entry(seed: u64, container: bool) -> String {
    let mut dice = Dice::new(seed);
    let object = |object| Json::Object(object).to_string();
    let kind = if container {
        Kind::Attendance
    } else {
        Kind::Person
    };
    let known = json!({"identifiers": [format!("p:{}", dice.below(3))], "given_name": dice.text()});
    match dice.below(8) {
        0 => object(crate::generate::hostile(&mut dice, kind)),
        1 => r#"[1, "no object"]"#.to_owned(),
        2 => format!(
            r#"{{"person":{}}}"#,
            object(crate::generate::faulty(&mut dice, Kind::Person).body)
        ),
        3 => json!({"person": known, "add_tags": ["t", "none"]}).to_string(),
        4 => format!(
            r#"{{"person":{},"add_tags":["t"]}}"#,
            object(crate::generate::body(&mut dice, Kind::Person))
        ),
        5 => r#"{"person": {}, "person": {"a": [1e999, "\ud800"]}}"#.to_owned(),
        _ => json!({"person": known}).to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(61),
        ..ProptestConfig::default()
    })]

    /// BAT-01: for any body, status and body of each entry equal those of the single request on a
    /// twin.
    #[test]
    fn bat_01_an_entry_is_answered_as_the_single_call(seeds in proptest::collection::vec(any::<u64>(), 1..200), container: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let ((many, many_event, _many), (one, one_event, _one)) = (twin().await, twin().await);
            let helper = |event: &str| {
                if container { format!("{event}/record_attendance_helper") } else { SIGN_UP.to_owned() }
            };
            let entries: Vec<String> = seeds.iter().map(|seed| entry(*seed, container)).collect();
            let array = format!("[{}]", entries.join(",\n"));
            let (_, done) = ask(&many, &format!("{}/batch", helper(&many_event)), array, &[]).await;
            prop_assert_eq!(&done["total"], entries.len());
            let mut ids = (vec![], vec![]);
            for (entry, result) in entries.iter().zip(done["results"].as_array().unwrap()) {
                let (single, json) = ask(&one, &helper(&one_event), entry.clone(), &[]).await;
                let status = result["status"].as_u64().unwrap();
                prop_assert_eq!(
                    shown(status, &result["body"], &mut ids.0),
                    shown(single.status.as_u16().into(), &json, &mut ids.1),
                    "BAT-01: {}", entry
                );
            }
            prop_assert_eq!(many.total("people").await, one.total("people").await);
            Ok(())
        })?;
    }
}

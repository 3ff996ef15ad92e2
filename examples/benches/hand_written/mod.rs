//! A helper request as a good engineer would write it without the library, for one petition of one
//! organisation. It uses axum, rusqlite, tables made for it, one connection that writes, and one
//! sync for all waiting requests.
//!
//! It finds a person by the e-mail address, counts what it records, and responds with the
//! signature. It maintains three indexes: person by id and by address, signature by id. It checks
//! no keys and no rules, and reports no problems. SQLite decides when the log is copied into the
//! file.
//!
//! With [`Trees::Asked`] it also writes what the API must be able to read: a tagging with its own
//! address, the change feed, and collections. These are people by date, signatures of a person and
//! of a petition, and taggings of a person and of a tag.
//!
//! Requirements: COL-04 to COL-18, FLT-05, SYN-01.

pub(crate) mod reads;

use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path as Segment, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::routing::post;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use svc_core::value::Timestamp;
use tokio::sync::oneshot;
use uuid::Uuid;

/// The only petition that can be signed, and the only tag.
pub(crate) const PETITION: &str = "0198e000-0000-7000-8000-000000000001";
pub(crate) const TAG: &str = "Volunteer";

const TABLES: &str = "
CREATE TABLE petition (seq INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, signatures INTEGER NOT NULL) STRICT;
CREATE TABLE tag (seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, people INTEGER NOT NULL) STRICT;
CREATE TABLE person (seq INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, created INTEGER NOT NULL, modified INTEGER NOT NULL,
    signatures INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
CREATE TABLE email (hash BLOB PRIMARY KEY, person INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE signature (seq INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, created INTEGER NOT NULL, person INTEGER NOT NULL,
    petition INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
CREATE TABLE tagging (tag INTEGER NOT NULL, person INTEGER NOT NULL, PRIMARY KEY (tag, person)) STRICT, WITHOUT ROWID;
CREATE TABLE total (people INTEGER NOT NULL, signatures INTEGER NOT NULL) STRICT;
INSERT INTO total VALUES (0, 0);";

/// Tables and indexes for collections and the change feed.
const ASKED: &str = "
CREATE INDEX person_by_created ON person (created);
CREATE INDEX person_by_modified ON person (modified);
CREATE INDEX signature_by_person ON signature (person);
CREATE INDEX signature_by_petition ON signature (petition);
CREATE TABLE tagged (seq INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, created INTEGER NOT NULL, tag INTEGER NOT NULL,
    person INTEGER NOT NULL) STRICT;
CREATE INDEX tagged_by_person ON tagged (person);
CREATE INDEX tagged_by_tag ON tagged (tag);
CREATE TABLE feed (seq INTEGER PRIMARY KEY, kind INTEGER NOT NULL, id BLOB NOT NULL, parent BLOB, at INTEGER NOT NULL) STRICT;";

/// The parts of a request that are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trees {
    /// The values of the response.
    Few,
    /// What else is written so that the API can read it afterwards.
    Asked,
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    person: Person<'a>,
    comments: Option<&'a str>,
    #[serde(default)]
    add_tags: Vec<&'a str>,
}

#[derive(Deserialize, Serialize)]
struct Person<'a> {
    given_name: &'a str,
    family_name: &'a str,
    #[serde(borrow)]
    email_addresses: Vec<Email<'a>>,
    #[serde(borrow)]
    phone_numbers: &'a RawValue,
    #[serde(borrow)]
    postal_addresses: &'a RawValue,
}

#[derive(Deserialize, Serialize)]
struct Email<'a> {
    address: &'a str,
}

/// A request on its way to the writer.
struct Call {
    petition: Uuid,
    body: Bytes,
    answer: oneshot::Sender<Option<String>>,
}

/// Serves a new file; at most `batch` requests share a transaction. Prints its address.
pub(crate) fn serve(file: &Path, batch: usize, trees: Trees) -> ExitCode {
    let file = open(file, trees).expect("a file");
    let (calls, waiting) = channel();
    thread::spawn(move || write(&file, &waiting, batch, trees));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a port");
        println!("{}", listener.local_addr().expect("an address"));
        let path = "/api/v1/petitions/{petition}/record_signature_helper";
        let router = Router::new()
            .route(path, post(sign))
            .with_state(Arc::new(calls));
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            // Otherwise small responses wait for the client's acknowledgement.
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, router).await.expect("a server");
    });
    ExitCode::SUCCESS
}

async fn sign(
    State(calls): State<Arc<Sender<Call>>>,
    Segment(petition): Segment<String>,
    body: Bytes,
) -> (StatusCode, HeaderMap, String) {
    let (answer, arrives) = oneshot::channel();
    let petition = Uuid::try_parse(&petition).unwrap_or_default();
    let sent = calls.send(Call {
        petition,
        body,
        answer,
    });
    let answered = if sent.is_ok() {
        arrives.await.ok().flatten()
    } else {
        None
    };
    let Some(body) = answered else {
        return (StatusCode::BAD_REQUEST, HeaderMap::new(), String::new());
    };
    let mut headers = HeaderMap::with_capacity(4);
    let fixed = [
        (header::CACHE_CONTROL, "max-age=0, private, must-revalidate"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::VARY, "svc-api-token"),
        (header::CONTENT_TYPE, "application/hal+json"),
    ];
    headers.extend(fixed.map(|(name, value)| (name, HeaderValue::from_static(value))));
    (StatusCode::OK, headers, body)
}

fn open(path: &Path, trees: Trees) -> rusqlite::Result<Connection> {
    let file = Connection::open(path)?;
    file.query_row("PRAGMA journal_mode = wal", (), |_| Ok(()))?;
    file.pragma_update(None, "synchronous", "full")?;
    file.execute_batch(TABLES)?;
    if trees == Trees::Asked {
        file.execute_batch(ASKED)?;
    }
    file.execute(
        "INSERT INTO petition (id, signatures) VALUES (?1, 0)",
        [Uuid::try_parse(PETITION).unwrap_or_default().as_bytes()],
    )?;
    file.execute("INSERT INTO tag (name, people) VALUES (?1, 0)", [TAG])?;
    Ok(file)
}

/// Runs the thread that writes. All waiting requests share a transaction, and are answered when it
/// is durable.
fn write(file: &Connection, waiting: &Receiver<Call>, batch: usize, trees: Trees) {
    let mut done = Vec::with_capacity(batch);
    while let Ok(first) = waiting.recv() {
        let begun = file
            .prepare_cached("BEGIN IMMEDIATE")
            .and_then(|mut begin| begin.execute(()));
        begun.expect("a transaction");
        let mut next = Some(first);
        let (mut people, mut signatures) = (0, 0);
        while let Some(Call {
            petition,
            body,
            answer,
        }) = next
        {
            let written = serde_json::from_slice(&body)
                .ok()
                .map(|body| signed(file, petition, &body, trees).expect("rows"));
            people += u32::from(written.as_ref().is_some_and(|(_, is_new)| *is_new));
            signatures += u32::from(written.is_some());
            done.push((answer, written.map(|(text, _)| text)));
            next = if done.len() < batch {
                waiting.try_recv().ok()
            } else {
                None
            };
        }
        let counted = file
            .prepare_cached("UPDATE total SET people = people + ?1, signatures = signatures + ?2")
            .and_then(|mut total| total.execute((people, signatures)));
        counted.expect("totals");
        file.prepare_cached("COMMIT")
            .and_then(|mut commit| commit.execute(()))
            .expect("the transaction is durable");
        for (answer, written) in done.drain(..) {
            // The caller may have disconnected.
            let _ = answer.send(written);
        }
    }
}

/// Writes the rows of a request. Returns its response, and whether the person is new.
fn signed(
    file: &Connection,
    petition: Uuid,
    body: &Body<'_>,
    trees: Trees,
) -> rusqlite::Result<(String, bool)> {
    let petition_row: i64 = file
        .prepare_cached("SELECT seq FROM petition WHERE id = ?1")?
        .query_row([petition.as_bytes()], |row| row.get(0))?;
    let email = body
        .person
        .email_addresses
        .first()
        .map_or("", |email| email.address)
        .trim()
        .to_lowercase();
    let digest: [u8; 32] = Sha256::digest(email.as_bytes()).into();
    let hash = digest.first_chunk::<16>();
    let known: Option<(i64, Vec<u8>)> = file
        .prepare_cached(
            "SELECT p.seq, p.id FROM email e JOIN person p ON p.seq = e.person WHERE e.hash = ?1",
        )?
        .query_row([hash], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let now = Timestamp::now();
    let is_new = known.is_none();
    let (person_row, person) = if let Some((row, id)) = known {
        (row, Uuid::from_slice(&id).unwrap_or_default())
    } else {
        let id = Uuid::now_v7();
        let text = serde_json::to_string(&body.person).unwrap_or_default();
        file.prepare_cached("INSERT INTO person (id, created, modified, signatures, body) VALUES (?1, ?2, ?2, 0, ?3)")?
            .execute((id.as_bytes(), now.as_micros(), text))?;
        let row = file.last_insert_rowid();
        file.prepare_cached("INSERT INTO email (hash, person) VALUES (?1, ?2)")?
            .execute((hash, row))?;
        (row, id)
    };
    let tell = |kind: i64, id: Uuid, parent: Option<Uuid>| {
        file.prepare_cached("INSERT INTO feed (kind, id, parent, at) VALUES (?1, ?2, ?3, ?4)")?
            .execute((
                kind,
                id.as_bytes(),
                parent.as_ref().map(Uuid::as_bytes),
                now.as_micros(),
            ))
    };
    let id = Uuid::now_v7();
    let comments = serde_json::to_string(&body.comments).unwrap_or_default();
    file.prepare_cached(
        "INSERT INTO signature (id, created, person, petition, body) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute((
        id.as_bytes(),
        now.as_micros(),
        person_row,
        petition_row,
        &comments,
    ))?;
    for name in &body.add_tags {
        let tag: Option<i64> = file
            .prepare_cached("SELECT seq FROM tag WHERE name = ?1")?
            .query_row([name], |row| row.get(0))
            .optional()?;
        let Some(tag) = tag else { continue };
        let mut made = file.prepare_cached(
            "INSERT INTO tagging (tag, person) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        )?;
        if made.execute((tag, person_row))? > 0 {
            file.prepare_cached("UPDATE tag SET people = people + 1 WHERE seq = ?1")?
                .execute([tag])?;
            if trees == Trees::Asked {
                let tagged = Uuid::now_v7();
                file.prepare_cached(
                    "INSERT INTO tagged (id, created, tag, person) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute((tagged.as_bytes(), now.as_micros(), tag, person_row))?;
                tell(3, tagged, Some(person))?;
            }
        }
    }
    if trees == Trees::Asked {
        if is_new {
            tell(1, person, None)?;
        }
        tell(2, id, Some(petition))?;
    }
    file.prepare_cached("UPDATE petition SET signatures = signatures + 1 WHERE seq = ?1")?
        .execute([petition_row])?;
    file.prepare_cached("UPDATE person SET signatures = signatures + 1 WHERE seq = ?1")?
        .execute([person_row])?;
    let mut text = String::with_capacity(1024);
    let base = "http://localhost/api/v1";
    _ = write!(
        text,
        r#"{{"identifiers":["hand:{id}"],"created_date":"{now}","modified_date":"{now}","comments":{comments},"action_date":"{now}","_links":{{"self":{{"href":"{base}/signatures/{id}"}},"svc:person":{{"href":"{base}/people/{person}"}},"svc:petition":{{"href":"{base}/petitions/{petition}"}}}}}}"#
    );
    Ok((text, is_new))
}

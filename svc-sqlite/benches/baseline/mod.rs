//! What the library is measured against: the same work written by hand, straight on rusqlite and straight on hyper.
//!
//! Cached statements, WAL, `synchronous=FULL`. Each bench uses its part of this file.
#![allow(dead_code, reason = "each bench uses its part")]

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::{Response, header};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use svc_core::value::Timestamp;
use tokio::net::TcpListener;

/// A page of people out of a table made for it: every column is text that only has to be copied.
pub(crate) struct Pages {
    file: Connection,
    base: String,
    namespace: String,
}

/// The links of a person below its own address.
const LINKS: [(&str, &str); 12] = [
    ("donations", "donations"),
    ("submissions", "submissions"),
    ("attendances", "attendances"),
    ("signatures", "signatures"),
    ("outreaches", "outreaches"),
    ("answers", "answers"),
    ("taggings", "taggings"),
    ("items", "items"),
    ("canvasses", "canvasses"),
    ("attendance", "attendances"),
    ("record_canvass_helper", "record_canvass_helper"),
    ("record_canvas_helper", "record_canvass_helper"),
];

impl Pages {
    /// Copies the people of the store's file at `from` into a file of its own, and opens that for reading.
    pub(crate) fn copied(from: &Path, to: &Path, base: &str, namespace: &str) -> rusqlite::Result<Self> {
        let file = open(to)?;
        file.execute_batch(
            "CREATE TABLE person (seq INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, id TEXT NOT NULL, created TEXT NOT NULL,
                modified TEXT NOT NULL, identifiers TEXT NOT NULL, body BLOB NOT NULL, UNIQUE (tenant, id)) STRICT;
             CREATE INDEX person_all ON person (tenant);
             CREATE TABLE total (tenant INTEGER PRIMARY KEY, records INTEGER NOT NULL) STRICT;",
        )?;
        let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut people =
            source.prepare("SELECT tenant, id, created, modified, identifiers, body FROM people ORDER BY seq")?;
        let mut rows = people.query(())?;
        file.execute_batch("BEGIN")?;
        while let Some(row) = rows.next()? {
            let id = uuid::Uuid::from_slice(row.get_ref(1)?.as_blob()?).unwrap_or_default().to_string();
            let text = |column| row.get(column).map(|micros| Timestamp::from_micros(micros).to_string());
            let (created, modified) = (text(2)?, text(3)?);
            let (identifiers, body) = (row.get::<_, String>(4)?, row.get::<_, Vec<u8>>(5)?);
            file.prepare_cached(
                "INSERT INTO person (tenant, id, created, modified, identifiers, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((row.get::<_, i64>(0)?, id, created, modified, identifiers, body))?;
        }
        file.execute_batch("INSERT INTO total SELECT tenant, count(*) FROM person GROUP BY tenant; COMMIT")?;
        drop(file);
        // One thread at a time uses it: without this flag every column costs a lock.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let file = Connection::open_with_flags(to, flags)?;
        file.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(Self { file, base: base.to_owned(), namespace: namespace.to_owned() })
    }

    /// The first page of 25 people of a tenant.
    pub(crate) fn first(&self, tenant: i64) -> rusqlite::Result<Vec<u8>> {
        self.file.prepare_cached("BEGIN")?.execute(())?;
        let total: i64 = self
            .file
            .prepare_cached("SELECT records FROM total WHERE tenant = ?1")?
            .query_row([tenant], |row| row.get(0))?;
        let mut links = Vec::with_capacity(4 * 1024);
        let mut members = Vec::with_capacity(64 * 1024);
        let mut last = 0_i64;
        let mut count = 0;
        let mut more = false;
        let mut statement = self.file.prepare_cached(
            "SELECT seq, id, created, modified, identifiers, body FROM person
             WHERE tenant = ?1 AND seq > ?2 ORDER BY seq LIMIT 26",
        )?;
        let mut rows = statement.query((tenant, last))?;
        while let Some(row) = rows.next()? {
            if count == 25 {
                more = true;
                break;
            }
            if count > 0 {
                links.push(b',');
                members.push(b',');
            }
            count += 1;
            last = row.get(0)?;
            let id = row.get_ref(1)?.as_bytes()?;
            put(&mut links, &[b"{\"href\":\"", self.base.as_bytes(), b"people/", id, b"\"}"]);
            let (created, modified) = (row.get_ref(2)?.as_bytes()?, row.get_ref(3)?.as_bytes()?);
            let (identifiers, body) = (row.get_ref(4)?.as_bytes()?, row.get_ref(5)?.as_bytes()?);
            put(&mut members, &[b"{\"identifiers\":[\"", self.namespace.as_bytes(), b":", id, b"\""]);
            if !identifiers.is_empty() {
                put(&mut members, &[b",", identifiers]);
            }
            put(&mut members, &[b"],\"created_date\":\"", created, b"\",\"modified_date\":\"", modified]);
            put(&mut members, &[b"\",\"id\":\"", id, b"\",", body, b",\"_links\":{\"self\":{\"href\":\""]);
            put(&mut members, &[self.base.as_bytes(), b"people/", id, b"\"}"]);
            for (name, path) in LINKS {
                put(&mut members, &[b",\"svc:", name.as_bytes(), b"\":{\"href\":\"", self.base.as_bytes(), b"people/"]);
                put(&mut members, &[id, b"/", path.as_bytes(), b"\"}"]);
            }
            members.extend_from_slice(b"}}");
        }
        drop(rows);
        self.file.prepare_cached("COMMIT")?.execute(())?;
        let base = &self.base;
        let next = if more {
            format!("\"next\":{{\"href\":\"{base}people?page=2&after={last:040x}\"}},")
        } else {
            String::new()
        };
        let mut page = format!(
            "{{\"total_pages\":{},\"per_page\":25,\"page\":1,\"total_records\":{total},\"_links\":{{\"curies\":[{{\"name\":\"svc\",\"href\":\"{base}docs/v1/{{rel}}\",\"templated\":true}}],\"self\":{{\"href\":\"{base}people\"}},{next}\"svc:person_signup_helper\":{{\"href\":\"{base}people/person_signup\"}},\"svc:people\":[",
            (total + 24) / 25,
        )
        .into_bytes();
        page.reserve(links.len() + members.len() + 64);
        put(&mut page, &[&links, b"]},\"_embedded\":{\"svc:people\":[", &members, b"]}}"]);
        Ok(page)
    }
}

fn put(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}

/// A connection with the settings of the baselines.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let file = Connection::open(path)?;
    file.query_row("PRAGMA journal_mode = wal", (), |_| Ok(()))?;
    file.pragma_update(None, "synchronous", "full")?;
    // Otherwise SQLite compiles a cached statement with a range anew for each value.
    file.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(file)
}

/// Signs a petition: a new person, a signature and their totals, each call in a transaction of its own.
pub(crate) struct Signs {
    file: Connection,
    tenant: i64,
    petition: Vec<u8>,
}

impl Signs {
    /// Over a file with the tables of the store, which nobody else writes.
    pub(crate) fn open(path: &Path, petition: &str) -> rusqlite::Result<Self> {
        let petition = uuid::Uuid::try_parse(petition).unwrap_or_default();
        let file = open(path)?;
        let tenant =
            file.query_row("SELECT tenant FROM petitions WHERE id = ?1", [petition.as_bytes()], |row| row.get(0))?;
        Ok(Self { file, tenant, petition: petition.as_bytes().to_vec() })
    }

    /// One request: what was sent, as finished bytes; the same look-ups, rows and totals as a helper call needs.
    pub(crate) fn sign(&self, person: &[u8], email: &[u8; 16], signature: &[u8]) -> rusqlite::Result<()> {
        let now = Timestamp::now().micros();
        let (person_id, signature_id) = (uuid::Uuid::now_v7(), uuid::Uuid::now_v7());
        let (person_id, signature_id) = (person_id.as_bytes(), signature_id.as_bytes());
        let (file, tenant) = (&self.file, self.tenant);
        file.prepare_cached("BEGIN IMMEDIATE")?.execute(())?;
        file.prepare_cached("SELECT seq FROM petitions WHERE tenant = ?1 AND id = ?2")?
            .query_row((tenant, &self.petition), |row| row.get::<_, i64>(0))?;
        if file.prepare_cached("SELECT seq FROM email WHERE tenant = ?1 AND hash = ?2")?.exists((tenant, email))? {
            return file.prepare_cached("ROLLBACK")?.execute(()).map(drop);
        }
        file.prepare_cached(
            "INSERT INTO people (tenant, id, created, modified, identifiers, body) VALUES (?1, ?2, ?3, ?3, '', ?4)",
        )?
        .execute((tenant, person_id, now, person))?;
        file.prepare_cached("INSERT INTO email (tenant, hash, seq) VALUES (?1, ?2, ?3)")?.execute((
            tenant,
            email,
            file.last_insert_rowid(),
        ))?;
        self.count(1, 0, &[])?;
        file.prepare_cached(
            "INSERT INTO signatures (tenant, id, created, modified, person, petition, identifiers, body)
             VALUES (?1, ?2, ?3, ?3, ?4, ?5, '', ?6)",
        )?
        .execute((tenant, signature_id, now, person_id, &self.petition, signature))?;
        self.count(14, 1, person_id)?;
        self.count(14, 2, &self.petition)?;
        file.prepare_cached("COMMIT")?.execute(()).map(drop)
    }

    fn count(&self, kind: i64, scope: i64, owner: &[u8]) -> rusqlite::Result<()> {
        self.file
            .prepare_cached(
                "INSERT INTO total (tenant, kind, scope, owner, records) VALUES (?1, ?2, ?3, ?4, 1)
                 ON CONFLICT DO UPDATE SET records = records + 1",
            )?
            .execute((self.tenant, kind, scope, owner))
            .map(drop)
    }
}

/// Bare hyper: finished bytes for each path, with the headers that the service sends.
pub(crate) async fn serve(listener: TcpListener, bodies: HashMap<String, Bytes>) {
    let bodies = Arc::new(bodies);
    while let Ok((stream, _)) = listener.accept().await {
        let bodies = Arc::clone(&bodies);
        tokio::spawn(async move {
            let answer = service_fn(|request: http::Request<hyper::body::Incoming>| {
                let body = bodies.get(request.uri().path()).cloned().unwrap_or_default();
                async move {
                    let mut response = Response::new(Full::new(body));
                    let headers = response.headers_mut();
                    let fixed = [
                        (header::CACHE_CONTROL, "max-age=0, private, must-revalidate"),
                        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
                        (header::VARY, "svc-api-token"),
                        (header::CONTENT_TYPE, "application/hal+json"),
                    ];
                    for (name, value) in fixed {
                        headers.insert(name, http::HeaderValue::from_static(value));
                    }
                    Ok::<_, Infallible>(response)
                }
            });
            // Without it small answers wait for the client's acknowledgement.
            let _ = stream.set_nodelay(true);
            // A client that goes away ends its connection.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

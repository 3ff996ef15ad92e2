//! The baselines of the library: the same work in hand-written code, directly on rusqlite and
//! directly on hyper.
//!
//! Cached statements, WAL, `synchronous=FULL`. Each benchmark uses a part of this file.
#![allow(dead_code, reason = "each benchmark uses a part of it")]

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use svc_core::value::Timestamp;
use tokio::net::TcpListener;
use uuid::Uuid;

/// People in a table made for it: every column is text that only has to be copied.
pub(crate) struct People {
    file: Connection,
    base: String,
    namespace: String,
    /// The links of extensions of a person, each with the last part of its URL as its name.
    extensions: &'static [&'static str],
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

impl People {
    /// Copies the people of the store's file at `from` into a separate file, and opens that for
    /// reading.
    pub(crate) fn copied(
        from: &Path,
        to: &Path,
        base: &str,
        namespace: &str,
    ) -> rusqlite::Result<Self> {
        let file = open(to)?;
        file.execute_batch(
            "CREATE TABLE person (seq INTEGER PRIMARY KEY, tenant INTEGER NOT NULL, id TEXT NOT NULL, created TEXT NOT NULL,
                modified TEXT NOT NULL, identifiers TEXT NOT NULL, body BLOB NOT NULL, UNIQUE (tenant, id)) STRICT;
             CREATE INDEX person_all ON person (tenant);
             CREATE TABLE total (tenant INTEGER PRIMARY KEY, records INTEGER NOT NULL) STRICT;",
        )?;
        let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let mut people = source.prepare(
            "SELECT tenant, id, created, modified, identifiers, body FROM people ORDER BY seq",
        )?;
        let mut rows = people.query(())?;
        file.execute_batch("BEGIN")?;
        while let Some(row) = rows.next()? {
            let id = Uuid::from_slice(row.get_ref(1)?.as_blob()?)
                .unwrap_or_default()
                .to_string();
            let text = |column| {
                row.get(column)
                    .map(|micros| Timestamp::from_micros(micros).to_string())
            };
            let (created, modified) = (text(2)?, text(3)?);
            let (identifiers, body) = (row.get::<_, String>(4)?, row.get::<_, Vec<u8>>(5)?);
            file.prepare_cached(
                "INSERT INTO person (tenant, id, created, modified, identifiers, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute((row.get::<_, i64>(0)?, id, created, modified, identifiers, body))?;
        }
        file.execute_batch(
            "INSERT INTO total SELECT tenant, count(*) FROM person GROUP BY tenant; COMMIT",
        )?;
        drop(file);
        Self::open(to, base, namespace)
    }

    /// Opens such a copy.
    pub(crate) fn open(copy: &Path, base: &str, namespace: &str) -> rusqlite::Result<Self> {
        // Only one thread at a time uses it: without this flag every column costs a lock.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let file = Connection::open_with_flags(copy, flags)?;
        file.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(Self {
            file,
            base: base.to_owned(),
            namespace: namespace.to_owned(),
            extensions: &[],
        })
    }

    /// Adds links of extensions to each person.
    pub(crate) fn with_extensions(mut self, names: &'static [&'static str]) -> Self {
        self.extensions = names;
        self
    }

    /// Returns a person of a tenant.
    pub(crate) fn person(&self, tenant: i64, id: &str) -> rusqlite::Result<Vec<u8>> {
        let mut statement = self.file.prepare_cached(
            "SELECT seq, id, created, modified, identifiers, body FROM person WHERE tenant = ?1 AND id = ?2",
        )?;
        statement.query_row((tenant, id), |row| {
            let mut person = Vec::with_capacity(4 * 1024);
            let curies = format!(r#""curies":[{}],"#, self.curie());
            self.put_member(&mut person, row, curies.as_bytes())?;
            Ok(person)
        })
    }

    /// Returns a page of `size` people of a tenant whose rows have no gaps.
    pub(crate) fn page(&self, tenant: i64, number: i64, size: i64) -> rusqlite::Result<Vec<u8>> {
        self.file.prepare_cached("BEGIN")?.execute(())?;
        let total: i64 = self
            .file
            .prepare_cached("SELECT records FROM total WHERE tenant = ?1")?
            .query_row([tenant], |row| row.get(0))?;
        let mut links = Vec::with_capacity(4 * 1024);
        let mut members = Vec::with_capacity(usize::try_from(size).unwrap_or_default() * 2_600);
        let mut last = (number - 1) * size;
        let mut count = 0;
        let mut more = false;
        let mut statement = self.file.prepare_cached(
            "SELECT seq, id, created, modified, identifiers, body FROM person
             WHERE tenant = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
        )?;
        let mut rows = statement.query((tenant, last, size + 1))?;
        while let Some(row) = rows.next()? {
            if count == size {
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
            put(
                &mut links,
                &[
                    b"{\"href\":\"",
                    self.base.as_bytes(),
                    b"people/",
                    id,
                    b"\"}",
                ],
            );
            self.put_member(&mut members, row, b"")?;
        }
        drop(rows);
        self.file.prepare_cached("COMMIT")?.execute(())?;
        let (base, curie) = (&self.base, self.curie());
        let to_page = |name: &str, number: i64, rest: &str| {
            format!("\"{name}\":{{\"href\":\"{base}people?page={number}{rest}\"}},")
        };
        let own = if number == 1 {
            format!("\"self\":{{\"href\":\"{base}people\"}},")
        } else {
            to_page("self", number, "")
        };
        let next = if more {
            to_page("next", number + 1, &format!("&after={last:040x}"))
        } else {
            String::new()
        };
        let before = if number == 1 {
            String::new()
        } else {
            to_page("previous", number - 1, "") + &to_page("prev", number - 1, "")
        };
        let mut page = format!(
            "{{\"total_pages\":{},\"per_page\":{size},\"page\":{number},\"total_records\":{total},\"_links\":{{\"curies\":[{curie}],{own}{next}{before}\"svc:person_signup_helper\":{{\"href\":\"{base}people/person_signup\"}},\"svc:people\":[",
            (total + size - 1) / size,
        )
        .into_bytes();
        page.reserve(links.len() + members.len() + 64);
        put(
            &mut page,
            &[
                &links,
                b"]},\"_embedded\":{\"svc:people\":[",
                &members,
                b"]}}",
            ],
        );
        Ok(page)
    }

    fn curie(&self) -> String {
        let prefixes: &[&str] = match self.extensions {
            [] => &["svc"],
            _ => &["svc", "ext"],
        };
        let curie = |prefix| {
            format!(
                r#"{{"name":"{prefix}","href":"{}docs/v1/{{rel}}","templated":true}}"#,
                self.base
            )
        };
        prefixes.iter().map(curie).collect::<Vec<_>>().join(",")
    }

    /// Writes the object of a person, with `links` before its own links.
    fn put_member(&self, out: &mut Vec<u8>, row: &Row<'_>, links: &[u8]) -> rusqlite::Result<()> {
        let (base, id) = (self.base.as_bytes(), row.get_ref(1)?.as_bytes()?);
        let (created, modified) = (row.get_ref(2)?.as_bytes()?, row.get_ref(3)?.as_bytes()?);
        let (identifiers, body) = (row.get_ref(4)?.as_bytes()?, row.get_ref(5)?.as_bytes()?);
        put(
            out,
            &[
                b"{\"identifiers\":[\"",
                self.namespace.as_bytes(),
                b":",
                id,
                b"\"",
            ],
        );
        if !identifiers.is_empty() {
            put(out, &[b",", identifiers]);
        }
        put(
            out,
            &[
                b"],\"created_date\":\"",
                created,
                b"\",\"modified_date\":\"",
                modified,
            ],
        );
        put(
            out,
            &[
                b"\",\"id\":\"",
                id,
                b"\",",
                body,
                b",\"_links\":{",
                links,
                b"\"self\":{\"href\":\"",
            ],
        );
        put(out, &[base, b"people/", id, b"\"}"]);
        let mut link = |prefix: &[u8], name: &str, path: &str| {
            put(
                out,
                &[
                    b",\"",
                    prefix,
                    b":",
                    name.as_bytes(),
                    b"\":{\"href\":\"",
                    base,
                    b"people/",
                ],
            );
            put(out, &[id, b"/", path.as_bytes(), b"\"}"]);
        };
        for (name, path) in LINKS {
            link(b"svc", name, path);
        }
        for name in self.extensions {
            link(b"ext", name, name);
        }
        out.extend_from_slice(b"}}");
        Ok(())
    }
}

fn put(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}

/// Opens a connection with the settings of the baselines.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let file = Connection::open(path)?;
    file.query_row("PRAGMA journal_mode = wal", (), |_| Ok(()))?;
    file.pragma_update(None, "synchronous", "full")?;
    // Otherwise SQLite recompiles a cached statement with a range for each value.
    file.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(file)
}

/// Signs a petition: a new person, a signature and their totals. Each request is a separate
/// transaction.
pub(crate) struct Signs {
    file: Connection,
    petition: Uuid,
    base: String,
    namespace: String,
}

/// The rows that a request writes to the file.
struct Rows<'a> {
    tenant: i64,
    person: Uuid,
    signature: Uuid,
    now: i64,
    /// The key of the person's address.
    email: &'a [u8],
    person_body: &'a [u8],
    signature_body: &'a [u8],
}

impl Signs {
    /// Opens a file with the tables of the store, which has no other writer.
    pub(crate) fn open(
        path: &Path,
        petition: &str,
        base: &str,
        namespace: &str,
    ) -> rusqlite::Result<Self> {
        let petition = Uuid::try_parse(petition).unwrap_or_default();
        Ok(Self {
            file: open(path)?,
            petition,
            base: base.to_owned(),
            namespace: namespace.to_owned(),
        })
    }

    /// Handles one request as hand-written code would: authentication, parsing, the same lookups,
    /// rows and totals as a helper request needs, and the signature as response. It does not
    /// validate the body.
    pub(crate) fn answer(
        &self,
        request: &Request<Bytes>,
    ) -> rusqlite::Result<Response<Full<Bytes>>> {
        let key = request
            .headers()
            .get("svc-api-token")
            .map_or(&b""[..], HeaderValue::as_bytes);
        self.file.prepare_cached("BEGIN IMMEDIATE")?.execute(())?;
        let Some(tenant) = self.tenant(key)? else {
            return self.refuse(StatusCode::UNAUTHORIZED);
        };
        let Ok(mut sent) = serde_json::from_slice::<Value>(request.body()) else {
            return self.refuse(StatusCode::BAD_REQUEST);
        };
        let person = sent.get_mut("person").map(Value::take).unwrap_or_default();
        let email = person["email_addresses"][0]["address"]
            .as_str()
            .unwrap_or_default()
            .trim()
            .to_lowercase();
        let now = Timestamp::now();
        let signature =
            json!({"comments": sent["comments"], "action_date": now.to_string()}).to_string();
        let person = person.to_string();
        let rows = Rows {
            tenant,
            person: Uuid::now_v7(),
            signature: Uuid::now_v7(),
            now: now.as_micros(),
            email: &Sha256::digest(email.as_bytes())[..16],
            person_body: members(&person),
            signature_body: members(&signature),
        };
        if !self.write(&rows)? {
            return self.refuse(StatusCode::CONFLICT);
        }
        self.file.prepare_cached("COMMIT")?.execute(())?;
        let (id, of, text) = (
            rows.signature,
            rows.person,
            String::from_utf8_lossy(rows.signature_body),
        );
        let (base, namespace) = (&self.base, &self.namespace);
        let href = |path: String| json!({"href": format!("{base}{path}")});
        let mut links = serde_json::Map::new();
        links.insert("self".to_owned(), href(format!("signatures/{id}")));
        links.insert("svc:person".to_owned(), href(format!("people/{of}")));
        links.insert(
            "svc:petition".to_owned(),
            href(format!("petitions/{}", self.petition)),
        );
        let links = Value::Object(links);
        let body = format!(
            r#"{{"identifiers":["{namespace}:{id}"],"created_date":"{now}","modified_date":"{now}",{text},"_links":{links}}}"#
        );
        Ok(respond(StatusCode::OK, body.into()))
    }

    /// Returns the tenant of a key.
    fn tenant(&self, key: &[u8]) -> rusqlite::Result<Option<i64>> {
        let hash: [u8; 32] = Sha256::digest(key).into();
        let prefix = hash
            .first_chunk()
            .map_or(0, |first| i64::from_be_bytes(*first));
        self.file
            .prepare_cached(
                "SELECT tenant FROM api_key WHERE prefix = ?1 AND hash = ?2 AND revoked IS NULL",
            )?
            .query_row((prefix, hash), |row| row.get(0))
            .optional()
    }

    fn refuse(&self, status: StatusCode) -> rusqlite::Result<Response<Full<Bytes>>> {
        self.file.prepare_cached("ROLLBACK")?.execute(())?;
        Ok(respond(status, Bytes::new()))
    }

    /// Writes the rows of a request; returns `false` if the person already exists.
    fn write(&self, rows: &Rows<'_>) -> rusqlite::Result<bool> {
        let (file, tenant, now) = (&self.file, rows.tenant, rows.now);
        let (person, signature, petition) = (
            rows.person.as_bytes(),
            rows.signature.as_bytes(),
            self.petition.as_bytes(),
        );
        file.prepare_cached("SELECT seq FROM petitions WHERE tenant = ?1 AND id = ?2")?
            .query_row((tenant, petition), |row| row.get::<_, i64>(0))?;
        if file
            .prepare_cached("SELECT seq FROM email WHERE tenant = ?1 AND hash = ?2")?
            .exists((tenant, rows.email))?
        {
            return Ok(false);
        }
        file.prepare_cached(
            "INSERT INTO people (tenant, id, created, modified, identifiers, body) VALUES (?1, ?2, ?3, ?3, '', ?4)",
        )?
        .execute((tenant, person, now, rows.person_body))?;
        file.prepare_cached("INSERT INTO email (tenant, hash, seq) VALUES (?1, ?2, ?3)")?
            .execute((tenant, rows.email, file.last_insert_rowid()))?;
        self.count(tenant, 1, 0, &[])?;
        file.prepare_cached(
            "INSERT INTO signatures (tenant, id, created, modified, person, petition, identifiers, body)
             VALUES (?1, ?2, ?3, ?3, ?4, ?5, '', ?6)",
        )?
        .execute((tenant, signature, now, person, petition, rows.signature_body))?;
        self.count(tenant, 14, 1, person)?;
        self.count(tenant, 14, 2, petition)?;
        Ok(true)
    }

    fn count(&self, tenant: i64, kind: i64, scope: i64, owner: &[u8]) -> rusqlite::Result<()> {
        self.file
            .prepare_cached(
                "INSERT INTO total (tenant, kind, scope, owner, records) VALUES (?1, ?2, ?3, ?4, 1)
                 ON CONFLICT DO UPDATE SET records = records + 1",
            )?
            .execute((tenant, kind, scope, owner))
            .map(drop)
    }
}

/// Returns the text of an object without its braces.
fn members(object: &str) -> &[u8] {
    object
        .get(1..object.len().saturating_sub(1))
        .unwrap_or_default()
        .as_bytes()
}

/// Returns a response with the headers of the service, except the validators (entity tag and
/// modification date).
fn respond(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let fixed = [
        (header::CACHE_CONTROL, "max-age=0, private, must-revalidate"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::VARY, "svc-api-token"),
        (header::CONTENT_TYPE, "application/hal+json"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Serves prepared bytes for each path and query with bare hyper, with the headers of the service
/// except its validators.
pub(crate) async fn serve(listener: TcpListener, bodies: HashMap<String, Bytes>) {
    serve_with(listener, move |asked| {
        bodies.get(asked).cloned().unwrap_or_default()
    })
    .await;
}

/// Serves the bytes that a function returns for a path and query.
pub(crate) async fn serve_with(
    listener: TcpListener,
    give: impl Fn(&str) -> Bytes + Send + Sync + 'static,
) {
    let give = Arc::new(give);
    while let Ok((stream, _)) = listener.accept().await {
        let give = Arc::clone(&give);
        tokio::spawn(async move {
            let answer = service_fn(|request: Request<hyper::body::Incoming>| {
                let body = give(
                    request
                        .uri()
                        .path_and_query()
                        .map_or("", |asked| asked.as_str()),
                );
                async move { Ok::<_, Infallible>(respond(StatusCode::OK, body)) }
            });
            // Otherwise small responses wait for the client's acknowledgement.
            let _ = stream.set_nodelay(true);
            // A client that disconnects ends its connection.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

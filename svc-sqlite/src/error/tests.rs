//! Storage failures as a client sees them. The response is right, no rejected write is stored, and
//! the store recovers.
//!
//! Requirements: UND-36.

use std::path::Path;

use rusqlite::{Connection, ffi};
use serde_json::{Value, json};
use svc_core::Tenant;
use svc_core::api::{Api, Request, Response, Vendor};
use svc_core::auth::{Caller, Identity, Principal, Rights};
use tempfile::TempDir;

use super::*;
use crate::{SqliteOptions, SqliteStore};

fn failure(code: i32) -> Error {
    StoreError::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)).into()
}

/// UND-36: busy, locked, interrupted and full are temporary. A failing or corrupt file may be
/// restored. Read-only is permanent.
#[test]
fn passing_and_lasting_trouble_are_told_apart() {
    for code in [
        ffi::SQLITE_BUSY,
        ffi::SQLITE_BUSY_SNAPSHOT,
        ffi::SQLITE_LOCKED,
        ffi::SQLITE_FULL,
        ffi::SQLITE_NOMEM,
        ffi::SQLITE_IOERR,
        ffi::SQLITE_IOERR_FSYNC,
        ffi::SQLITE_CORRUPT,
        ffi::SQLITE_NOTADB,
        ffi::SQLITE_CANTOPEN,
    ] {
        assert!(failure(code).is_unavailable(), "{code}");
    }
    for code in [
        ffi::SQLITE_READONLY,
        ffi::SQLITE_ERROR,
        ffi::SQLITE_CONSTRAINT,
    ] {
        assert!(failure(code).is_unexpected(), "{code}");
    }
    assert!(Error::from(StoreError::Rejected(Error::not_found())).is_not_found());
}

/// UND-36: jobs that shared a transaction with a failed one get an error that shows whether to
/// retry.
#[test]
fn others_are_told_whether_it_passes() {
    let full = StoreError::from(rusqlite::Error::SqliteFailure(
        ffi::Error::new(ffi::SQLITE_FULL),
        None,
    ));
    let broken = StoreError::from(rusqlite::Error::SqliteFailure(
        ffi::Error::new(ffi::SQLITE_READONLY),
        None,
    ));
    let kind = |error: StoreError| Error::from(error).into_kind();
    assert_eq!(
        kind(full.for_others().for_others()),
        ErrorKind::Unavailable { retry_after: LATER }
    );
    assert_eq!(
        kind(StoreError::UNAVAILABLE.for_others()),
        ErrorKind::Unavailable { retry_after: SOON }
    );
    let retry_after = Duration::from_secs(7);
    let unavailable = StoreError::Rejected(Error::unavailable(retry_after));
    assert_eq!(
        kind(unavailable.for_others()),
        ErrorKind::Unavailable { retry_after }
    );
    for error in [
        broken,
        StoreError::unexpected("a bug"),
        StoreError::Rejected(Error::not_found()),
    ] {
        assert_eq!(
            kind(error.for_others().for_others()),
            ErrorKind::Unexpected,
            "{error:?}"
        );
    }
}

const BASE: &str = "http://localhost/";

/// A store with a petition, served by the API.
struct Served {
    store: SqliteStore,
    api: Api,
    petition: String,
    /// A person whose record the test tries to change.
    person: String,
    folder: TempDir,
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

fn served(store: &SqliteStore) -> Api {
    let api = Api::builder(Vendor::new("Test", "Test").namespace("here")).base_url(BASE);
    store
        .register_all(api)
        .authenticator(store.clone())
        .build()
        .unwrap()
}

fn options(path: &Path) -> SqliteOptions {
    SqliteOptions::new(path).busy_timeout(Duration::from_millis(20))
}

fn own(json: &Value) -> String {
    json["_links"]["self"]["href"].as_str().unwrap().to_owned()
}

/// A text that is larger than the free space of a file.
fn large() -> String {
    "x".repeat(60_000)
}

impl Served {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(options(&folder.path().join("data.db"))).unwrap();
        block_on(store.ensure_tenant("demo")).unwrap();
        let api = served(&store);
        let mut served = Self {
            store,
            api,
            petition: String::new(),
            person: String::new(),
            folder,
        };
        served.petition = own(&served.done("POST", "petitions", &json!({})));
        served.person = own(&served.done("POST", "people", &json!({"given_name": "Ada"})));
        served.sign("kept.0");
        served
    }

    /// Closes the store, runs `meanwhile`, and opens the same file again as a new process would.
    fn reopened(self, meanwhile: impl FnOnce(&Path)) -> Self {
        let Self {
            store,
            api,
            petition,
            person,
            folder,
        } = self;
        let path = store.path().to_owned();
        drop((api, store));
        meanwhile(&path);
        let store = SqliteStore::open(options(&path)).unwrap();
        let api = served(&store);
        Self {
            store,
            api,
            petition,
            person,
            folder,
        }
    }

    fn send(&self, method: &str, address: &str, body: &Value) -> Response {
        let path = address.strip_prefix(BASE).unwrap_or(address);
        let identity = Identity::Authenticated(Principal::new(
            Tenant::new("demo"),
            Caller::with_rights(Rights::all()),
        ));
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let method = method.parse().unwrap();
        block_on(
            self.api
                .handle(identity, Request::new(&method, path).with_body(body)),
        )
    }

    fn done(&self, method: &str, address: &str, body: &Value) -> Value {
        let reply = self.send(method, address, body);
        assert!(reply.status.is_success(), "{address}: {:?}", reply.body);
        serde_json::from_slice(&reply.body).unwrap_or_default()
    }

    fn get(&self, address: &str) -> Value {
        self.done("GET", address, &Value::Null)
    }

    fn sign(&self, name: &str) {
        let person = json!({"email_addresses": [{"address": format!("{name}@example.org")}]});
        self.done(
            "POST",
            &format!("{}/record_signature_helper", self.petition),
            &json!({ "person": person }),
        );
    }

    /// Returns everything that a write could have changed: totals and members.
    fn state(&self) -> Vec<Value> {
        [
            &format!("{}/signatures", self.petition),
            "people",
            &self.petition,
            &self.person,
        ]
        .map(|it| self.get(it))
        .into()
    }

    /// Asserts that each kind of write is rejected in this way.
    fn refuses(&self, status: u16, code: &str, retries: bool) {
        let person = json!({"family_name": large()});
        let helper = format!("{}/record_signature_helper", self.petition);
        for (method, address, body) in [
            ("POST", "people", &person),
            (
                "POST",
                &*helper,
                &json!({"comments": large(), "person": {"given_name": "Eve"}}),
            ),
            ("PUT", &*self.person, &person),
        ] {
            let reply = self.send(method, address, body);
            let error: Value = serde_json::from_slice(&reply.body).unwrap();
            let entry = &error["svc:error"]["resource_status"][0];
            let problem = &entry["error_descriptions"][0];
            assert_eq!(
                (reply.status.as_u16(), &problem["error_code"]),
                (status, &json!(code)),
                "{method} {error}"
            );
            assert_eq!(
                error["svc:error"]["response_code"], status,
                "ERR-19 {error}"
            );
            assert_eq!(
                reply
                    .header("retry-after")
                    .is_some_and(|seconds| seconds != "0"),
                retries,
                "{method} {address}"
            );
            assert!(
                problem["reference_code"]
                    .as_str()
                    .is_some_and(|code| code.len() == 36),
                "ERR-28 {error}"
            );
            let said = problem["description"].to_string().to_lowercase();
            let internals = ["sql", "database", "disk", "page", "data.db", "/"];
            assert!(
                !internals.iter().any(|word| said.contains(word)),
                "ERR-05 {said}"
            );
        }
    }

    /// Asserts that the service has recovered: acknowledged writes are stored, rejected ones are
    /// not, and new writes succeed.
    fn recovered(self, before: &[Value], name: &str) -> Self {
        assert_eq!(self.state(), before, "no rejected write is stored");
        self.sign(name);
        let signatures = before[0]["total_records"].as_u64().unwrap() + 1;
        let served = self.reopened(|_| {});
        assert_eq!(
            served.get(&served.petition)["total_signatures"],
            signatures,
            "RES-petition-10"
        );
        let members = served.get(&format!("{}/signatures", served.petition));
        assert_eq!(members["total_records"], signatures, "COL-23");
        assert_eq!(
            members["_embedded"]["svc:signatures"]
                .as_array()
                .unwrap()
                .len() as u64,
            signatures,
            "COL-23"
        );
        served
    }

    fn pragma(&self, name: &'static str, value: i64) {
        let set = self.store.writer().run(None, move |job| {
            job.file
                .pragma_update_and_check(None, name, value, |_| Ok(()))
                .or_else(|error| match error {
                    // Some pragmas return no value.
                    rusqlite::Error::QueryReturnedNoRows => Ok(()),
                    error => Err(error),
                })?;
            Ok(())
        });
        block_on(set).unwrap();
    }
}

/// UND-36: one file that is busy, then full, then read-only.
#[test]
fn und_36_busy_full_and_read_only() {
    let served = Served::start();
    let before = served.state();
    let stranger = Connection::open(served.store.path()).unwrap();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    served.refuses(503, "UNAVAILABLE", true);
    assert_eq!(served.state(), before, "reads continue");
    stranger.execute_batch("ROLLBACK").unwrap();
    drop(stranger);
    let served = served.recovered(&before, "kept.1");

    let before = served.state();
    let pages = block_on(served.store.writer().run(None, |job| {
        Ok(job
            .file
            .query_row("PRAGMA page_count", (), |row| row.get::<_, i64>(0))?)
    }));
    served.pragma("max_page_count", pages.unwrap());
    served.refuses(503, "UNAVAILABLE", true);
    assert_eq!(served.state(), before, "reads continue");
    served.pragma("max_page_count", 1_000_000);
    let served = served.recovered(&before, "kept.2");

    let before = served.state();
    served.pragma("query_only", 1);
    served.refuses(500, "UNEXPECTED_ERROR", false);
    assert_eq!(served.state(), before, "reads continue");
    // A connection that may not write cannot begin a transaction. The next connection may.
    let served = served.reopened(|_| {});
    served.recovered(&before, "kept.3");
}

/// UND-36: if a page of the people is damaged, they get 503 and other kinds are served. The store
/// recovers with the disk.
#[cfg(unix)]
#[test]
fn und_36_a_corrupt_page() {
    use std::os::unix::fs::FileExt;

    let served = Served::start();
    let before = served.state();
    let root: i64 = served
        .store
        .readers()
        .with(|file| {
            Ok(file.query_row(
                "SELECT rootpage FROM sqlite_schema WHERE name = 'people'",
                (),
                |row| row.get(0),
            )?)
        })
        .unwrap();
    let place = u64::try_from(root - 1).unwrap() * 4096;
    let mut sound = [0; 4096];
    let write = |path: &Path, page: &[u8; 4096]| {
        std::fs::OpenOptions::new()
            .write(true)
            .open(path)
            .unwrap()
            .write_all_at(page, place)
            .unwrap();
    };
    let served = served.reopened(|path| {
        std::fs::File::open(path)
            .unwrap()
            .read_exact_at(&mut sound, place)
            .unwrap();
        write(path, &[0xAA; 4096]);
    });
    served.refuses(503, "UNAVAILABLE", true);
    for address in ["people", &served.person] {
        let reply = served.send("GET", address, &Value::Null);
        assert!(
            reply.status == 503 && reply.reference_code.is_some(),
            "{address} {:?}",
            reply.body
        );
    }
    served.done("POST", "tags", &json!({"name": "t"}));
    write(served.store.path(), &sound);
    served.recovered(&before, "kept.1");
}

//! A data file that is damaged while a server runs. Every request that needs it gets 503, including
//! the check of its key.
//!
//! Requirements: UND-36.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use http::Request;
use svc_core::api::{Api, Vendor};
use svc_sqlite::{KeyOptions, SqliteOptions, SqliteStore};
use svc_tower::SvcService;
use tempfile::TempDir;
use tower::ServiceExt;

/// A service on a file of its own, with a person and a petition.
struct Server {
    service: SvcService,
    /// A key that was used before, and one that was not.
    keys: [String; 2],
    person: String,
    path: PathBuf,
    _folder: TempDir,
}

impl Server {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.db");
        let store = SqliteStore::open(SqliteOptions::new(&path)).unwrap();
        let tenant = store.ensure_tenant("t").await.unwrap();
        let mut keys = Vec::new();
        for label in ["used", "not used"] {
            keys.push(
                store
                    .create_key(&tenant, KeyOptions::new(label))
                    .await
                    .unwrap()
                    .token,
            );
        }
        let api = store
            .register_all(Api::builder(Vendor::new("Test", "Test")))
            .base_url("http://localhost/");
        let api = api
            .authenticator(store.clone())
            .anonymous_helpers(store.clone())
            .response_cache(store.clone());
        let service = SvcService::new(api.build().unwrap());
        let mut server = Self {
            service,
            keys: keys.try_into().unwrap(),
            person: String::new(),
            path,
            _folder: folder,
        };
        let key = server.keys[0].clone();
        let made = server
            .send(&key, "POST", "/people", r#"{"given_name": "Ada"}"#)
            .await;
        let location = made.headers()["location"].to_str().unwrap();
        server.person = location
            .strip_prefix("http://localhost")
            .unwrap()
            .to_owned();
        // All data is in the file itself, and none in the log.
        store.checkpoint().await.unwrap();
        server
    }

    async fn send(
        &self,
        key: &str,
        method: &str,
        path: &str,
        body: &'static str,
    ) -> http::Response<()> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("SVC-API-Token", key);
        let request = request
            .header("Content-Type", "application/json")
            .body(body.to_owned())
            .unwrap();
        self.service
            .clone()
            .oneshot(request)
            .await
            .unwrap()
            .map(drop)
    }
}

impl Server {
    /// Returns the status and the body of a read.
    async fn read(&self, key: &str, path: &str) -> (u16, String) {
        let request = Request::builder()
            .uri(path)
            .header("SVC-API-Token", key)
            .body(String::new())
            .unwrap();
        let answer = self.service.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = http_body_util::BodyExt::collect(answer.into_body())
            .await
            .unwrap()
            .to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }
}

/// A way to damage a file: its name, and a function that does it.
type Harm = (&'static str, fn(&Path));

const HARMS: [Harm; 6] = [
    ("overwritten", |path| {
        fs::write(
            path,
            "not a database, and longer than its header would be".repeat(1000),
        )
        .unwrap();
    }),
    ("cut to nothing", |path| cut(path, 0)),
    ("cut to its first page", |path| cut(path, 4096)),
    ("cut in its first page", |path| cut(path, 1000)),
    ("filled with zeros", |path| {
        fs::write(path, vec![0; 1 << 20]).unwrap();
    }),
    ("replaced by another program", |path| {
        fs::write(path, foreign(path)).unwrap();
    }),
];

/// Returns a database that does not belong to this library.
fn foreign(path: &Path) -> Vec<u8> {
    let other = path.with_file_name("other.db");
    rusqlite::Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE note (text TEXT)")
        .unwrap();
    fs::read(other).unwrap()
}

fn cut(path: &Path, bytes: u64) {
    OpenOptions::new()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(bytes)
        .unwrap();
}

#[tokio::test]
async fn und_36_a_file_that_cannot_be_read_is_503_wherever_it_is_needed() {
    for (harm, spoil) in HARMS {
        let server = Server::start().await;
        let sound = fs::read(&server.path).unwrap();
        spoil(&server.path);
        let person = &*server.person;
        for key in &server.keys {
            for (method, path, body) in [
                ("GET", "/", ""),
                ("GET", "/people", ""),
                ("GET", "/tags", ""),
                ("GET", person, ""),
                ("POST", "/tags", r#"{"name": "new"}"#),
                ("PUT", person, r#"{"given_name": "Eve"}"#),
                ("DELETE", person, ""),
            ] {
                let answer = server.send(key, method, path, body).await;
                let retry_after = answer
                    .headers()
                    .get("retry-after")
                    .map(|seconds| seconds.to_str().unwrap());
                let told = (answer.status().as_u16(), retry_after);
                assert_eq!(
                    told,
                    (503, Some("30")),
                    "{harm}: {method} {path}, key {}",
                    key == &server.keys[0]
                );
            }
        }
        // The file is restored. No restart is needed, and no rejected write is in it.
        fs::write(&server.path, sound).unwrap();
        for key in &server.keys {
            for path in ["/", "/people", "/tags", person] {
                assert_eq!(
                    server.send(key, "GET", path, "").await.status(),
                    200,
                    "{harm}: {path}"
                );
            }
        }
        let [key, _] = &server.keys;
        assert_eq!(
            server
                .send(key, "POST", "/tags", r#"{"name": "new"}"#)
                .await
                .status(),
            201,
            "{harm}"
        );
    }
}

/// A record whose stored body is not JSON is 500 with a reference code. A `PUT` of the record
/// repairs it.
#[tokio::test]
async fn a_damaged_body_is_an_error_until_it_is_replaced() {
    let server = Server::start().await;
    let damage = rusqlite::Connection::open(&server.path).unwrap();
    let sql = r#"UPDATE people SET body = CAST(replace(CAST(body AS TEXT), '"given_name"', '"given_name&') AS BLOB)"#;
    assert_eq!(damage.execute(sql, ()).unwrap(), 1);
    let (key, person) = (&*server.keys[0], &*server.person);
    for path in ["/people", person, "/people?per_page=1", person] {
        let (status, body) = server.read(key, path).await;
        assert_eq!(status, 500, "{path}");
        assert!(
            body.contains("reference_code") && !body.contains("given_name"),
            "{path}: {body}"
        );
    }
    assert_eq!(
        server.read(key, "/tags").await.0,
        200,
        "other records can be read"
    );
    assert_eq!(
        server
            .send(key, "PUT", person, r#"{"family_name": "King"}"#)
            .await
            .status(),
        200
    );
    for path in ["/people", person] {
        let (status, body) = server.read(key, path).await;
        assert!(
            status == 200 && body.contains("King"),
            "{path}: {status} {body}"
        );
    }
}

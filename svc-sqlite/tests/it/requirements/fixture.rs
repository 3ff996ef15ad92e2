//! A service for each section of a transcript: a store in a temporary file, two tenants, and keys
//! of every type.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Future;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use svc_conformance::{InProcess, Keys, Suite};
use svc_core::api::{ApiBuilder, Atomicity, ErrorBodies, PatchMethod, ResponseStyle};
use svc_core::helper::{
    PersonSignup, RecordAttendance, RecordDonation, RecordOutreach, RecordSignature,
    RecordSubmission,
};
use svc_core::link::Dialect;
use svc_core::raw::RawDraft;
use svc_core::store::ImportedRecord;
use svc_core::value::{Id, Timestamp};
use svc_core::{Api, Tenant, Vendor, backend, model::Kind};
use svc_sqlite::{CreatedKey, KeyOptions, KeyWebhooks, SqliteOptions, SqliteStore};
use svc_tower::{Cors, SvcService};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

use crate::requirements::answer::Answer;

/// The person that the key `bound` is bound to.
const HOLDER: &str = "0198f000-0000-7000-8000-000000000001";

/// A service with its callers.
pub(crate) struct Fixture {
    pub(crate) base: String,
    /// The prefix of relations.
    pub(crate) prefix: String,
    /// The keys by the names that transcripts use.
    keys: BTreeMap<&'static str, String>,
    service: SvcService,
    pub(crate) store: SqliteStore,
    runtime: Runtime,
    _folder: TempDir,
}

/// Returns the value of a name in a set-up, such as `abc` of `prefix=abc`.
fn value<'s>(set_up: &'s [&str], name: &str) -> Option<&'s str> {
    set_up
        .iter()
        .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

impl Fixture {
    /// Opens a service. The words change its default configuration.
    pub(crate) fn open(set_up: &[&str]) -> Self {
        crate::log::listen();
        let folder = tempfile::tempdir().expect("a folder");
        let store =
            SqliteStore::open(SqliteOptions::new(folder.path().join("rows.db"))).expect("a store");
        let base = value(set_up, "base")
            .unwrap_or("http://api.example.org/api/v1/")
            .to_owned();
        let prefix = value(set_up, "prefix").unwrap_or("svc").to_owned();
        let (_, path) = base.split_once("://").expect("a base URL");
        let path = path
            .split_once('/')
            .map_or("", |(_, path)| path.trim_end_matches('/'));
        let api = api(&store, set_up).base_url(&base).build().expect("an API");
        let mut service = SvcService::new(api)
            .with_docs(svc_docs::Docs::new())
            .mounted_at(&format!("/{path}"));
        if set_up.contains(&"cors") {
            service = service.cors(Cors::any());
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let mut fixture = Self {
            base,
            prefix,
            keys: BTreeMap::new(),
            service,
            store,
            runtime,
            _folder: folder,
        };
        let holder = Id::new(HOLDER).expect("an id");
        fixture.load(
            holder.clone(),
            Kind::Person,
            &[("given_name", "Key holder")],
        );
        let narrow = ["people.list", "people.read", "helper.record_signature"]
            .map(|right| right.parse().expect("a right"));
        for (name, tenant, options) in [
            ("api", "one", KeyOptions::new("api")),
            ("bound", "one", KeyOptions::new("bound").person(holder)),
            ("reader", "one", KeyOptions::new("reader").read_only()),
            ("narrow", "one", KeyOptions::new("narrow").rights(narrow)),
            (
                "expired",
                "one",
                KeyOptions::new("expired").expires_at(Timestamp::from_micros(0)),
            ),
            ("other", "two", KeyOptions::new("other")),
        ] {
            let key = fixture.issue(tenant, options).token;
            fixture.keys.insert(name, key);
        }
        let revoked = fixture.issue("one", KeyOptions::new("revoked"));
        assert!(
            fixture
                .wait(fixture.store.revoke_key(&revoked.id, KeyWebhooks::Disable))
                .expect("a revocation")
                .was_in_force
        );
        fixture.keys.insert("revoked", revoked.token);
        fixture.keys.insert("wrong", "no-such-key".to_owned());
        if set_up.contains(&"query") {
            // No request can create one.
            let id = Id::new("0198f000-0000-7000-8000-000000000002").expect("an id");
            fixture.load(id, Kind::Query, &[("name", "Active people")]);
        }
        fixture
    }

    /// Returns the conformance suite for this service.
    pub(crate) fn suite(&self) -> Suite {
        let keys = Keys::primary(&self.keys["bound"]).other_tenant(&self.keys["other"]);
        let keys = keys.restricted(&self.keys["reader"], "people.create");
        Suite::new(InProcess::new(self.service.clone()).base_url(&self.base)).keys(keys)
    }

    /// Waits for a future of the store or the suite.
    pub(crate) fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    fn load(&self, id: Id, kind: Kind, fields: &[(&'static str, &str)]) {
        let mut draft = RawDraft::empty(kind);
        for (name, text) in fields {
            draft.fields.insert(*name, *text);
        }
        self.wait(async {
            let tenant = self.store.ensure_tenant("one").await.expect("a tenant");
            self.store
                .import_records(
                    &tenant,
                    vec![ImportedRecord::new(id, Timestamp::now(), draft)],
                )
                .await
                .expect("a record");
        });
    }

    /// Creates a key of a tenant.
    pub(crate) fn issue(&self, tenant: &str, options: KeyOptions) -> CreatedKey {
        self.wait(async {
            let tenant = self.store.ensure_tenant(tenant).await.expect("a tenant");
            self.store
                .create_key(&tenant, options)
                .await
                .expect("a key")
        })
    }

    /// Sends one request as a caller of transcripts: as `nobody` without a key, otherwise with the
    /// key of that name.
    pub(crate) fn send(
        &self,
        who: &str,
        method: &Method,
        url: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let (authority, path) = url
            .split_once("://")
            .map_or(url, |(_, rest)| rest)
            .split_once('/')
            .expect("a path");
        let header = if self.prefix == "svc" {
            "SVC-API-Token".to_owned()
        } else {
            format!("{}-API-Token", self.prefix)
        };
        let mut request = Request::builder()
            .method(method)
            .uri(format!("/{path}"))
            .header("host", authority);
        if who != "nobody" {
            request = request.header(header, self.keys.get(who).map_or(who, String::as_str));
        }
        if !body.is_empty() && headers.iter().all(|(name, _)| *name != "content-type") {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request
            .body(Full::new(Bytes::from(body.to_owned())))
            .expect("a request");
        self.wait(async {
            let answer: Result<_, Infallible> = self.service.clone().oneshot(request).await;
            let (parts, body) = answer.unwrap_or_else(|never| match never {}).into_parts();
            let body = body.collect().await.expect("a body").to_bytes();
            Answer {
                status: parts.status.as_u16(),
                headers: parts.headers,
                body,
                prefix: self.prefix.clone(),
            }
        })
    }

    /// Reads a document, which must exist.
    pub(crate) fn get(&self, url: &str) -> Value {
        let answer = self.send("api", &Method::GET, url, &[], "");
        assert_eq!(answer.status, 200, "{url}: {}", answer.text());
        answer.json()
    }

    /// Posts a body, which must succeed.
    pub(crate) fn post(&self, url: &str, body: &Value) -> Value {
        let answer = self.send("api", &Method::POST, url, &[], &body.to_string());
        assert!(
            matches!(answer.status, 200 | 201),
            "{url} {body}: {}",
            answer.text()
        );
        answer.json()
    }

    /// Returns the address of a collection of the entry point.
    pub(crate) fn collection(&self, many: &str) -> String {
        self.href(&self.get(&self.base), many)
    }

    /// Returns the address under a relation with the prefix.
    pub(crate) fn href(&self, record: &Value, name: &str) -> String {
        let href = &record["_links"][format!("{}:{name}", self.prefix)]["href"];
        href.as_str()
            .unwrap_or_else(|| panic!("no link {name} in {record}"))
            .to_owned()
    }
}

type Change = fn(ApiBuilder) -> ApiBuilder;

/// Returns the API of a set-up.
fn api(store: &SqliteStore, set_up: &[&str]) -> ApiBuilder {
    let has = |word: &str| set_up.contains(&word);
    let builder = Api::builder(Vendor::new("Example", "Rows").message_of_the_day("Welcome"));
    let mut api = store
        .register_all(builder)
        .response_cache(store.clone())
        .authenticator(store.clone());
    api = api.delivery(|_: &Tenant, _: &backend::OutboxEntry| Ok(backend::DeliveryOutcome::Sent));
    if let Some(prefix) = value(set_up, "prefix") {
        api = api.dialect(Dialect::with_prefix(prefix).expect("a prefix"));
    }
    if !has("no-anonymous") {
        api = api.anonymous_helpers(store.clone());
    }
    let changes: [(&str, Change); 6] = [
        ("examples", |api| {
            api.response_style(ResponseStyle::Examples)
        }),
        ("whole-call", |api| api.atomicity(Atomicity::WholeCall)),
        ("bodies-everywhere", |api| {
            api.error_bodies(ErrorBodies::Everywhere)
        }),
        ("patch", |api| api.patch_method(PatchMethod::AsPut)),
        ("helpers-only", ApiBuilder::helpers_only),
        // Canvasses cannot be created directly, and scheduling creates nothing.
        ("composed", |api| {
            let api = api
                .compose_helper::<RecordSignature>()
                .compose_helper::<RecordSubmission>()
                .compose_helper::<RecordDonation>();
            api.compose_helper::<RecordOutreach>()
                .compose_helper::<RecordAttendance>()
                .compose_helper::<PersonSignup>()
        }),
    ];
    let api = changes
        .into_iter()
        .filter(|(word, _)| has(word))
        .fold(api, |api, (_, change)| change(api));
    set_up
        .iter()
        .filter_map(|word| word.strip_prefix("without="))
        .fold(api, ApiBuilder::without_capability)
}

//! A service of its own for each case: a store in a temporary file, two tenants, and keys of every sort.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use http::Response;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use svc_conformance::ledger::Ledger;
use svc_core::api::{ApiBuilder, Atomicity, ErrorBodies, PatchMethod, ResponseStyle};
use svc_core::helper::{
    PersonSignup, RecordAttendance, RecordDonation, RecordOutreach, RecordSignature, RecordSubmission,
};
use svc_core::link::Dialect;
use svc_core::model::Kind;
use svc_core::raw::RawDraft;
use svc_core::store::Load;
use svc_core::value::{Id, Timestamp};
use svc_core::{Api, Vendor};
use svc_sqlite::{KeyOptions, NewKey, Options, Store};
use svc_tower::{Cors, SvcService};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

use crate::client::{Client, Names, Wire, own, segments};
use crate::kinds::{contains, kind, least};

/// How a service is set up.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is one switch of the service")]
pub(crate) struct Setup {
    pub(crate) base: String,
    pub(crate) names: Names,
    /// The response style `examples` instead of `table`.
    pub(crate) examples: bool,
    /// Helpers leave nothing behind when a part fails.
    pub(crate) atomicity: Atomicity,
    /// Helpers run by the default runner, over the registered operations.
    pub(crate) composed: bool,
    pub(crate) anonymous_helpers: bool,
    pub(crate) error_bodies: ErrorBodies,
    pub(crate) patch: PatchMethod,
    /// Browser code of any site may call record helpers.
    pub(crate) cors: bool,
    /// The data file can grow to this many pages.
    pub(crate) pages: Option<u32>,
    /// The service offers helpers only.
    pub(crate) helpers_only: bool,
    /// Capabilities that the service lacks.
    pub(crate) without: Vec<String>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            base: "http://api.example.org/api/v1/".into(),
            names: Names::STANDARD,
            examples: false,
            atomicity: Atomicity::default(),
            composed: false,
            anonymous_helpers: true,
            error_bodies: ErrorBodies::default(),
            patch: PatchMethod::default(),
            cors: false,
            pages: None,
            helpers_only: false,
            without: Vec::new(),
        }
    }
}

/// A service with its callers.
pub(crate) struct Fixture {
    pub(crate) ledger: Arc<Ledger>,
    /// Every right, bound to nobody.
    pub(crate) api: Client,
    /// Every right, bound to a person of the same tenant.
    pub(crate) bound: Client,
    /// Every right in another tenant.
    pub(crate) other: Client,
    /// May only read.
    pub(crate) reader: Client,
    /// `people.list`, `people.read` and `helper.record_signature`.
    pub(crate) narrow: Client,
    examples: bool,
    containers: Mutex<BTreeMap<String, Value>>,
    server: Server,
}

impl Fixture {
    /// The usual service.
    pub(crate) fn open(ledger: &Arc<Ledger>) -> Self {
        Self::set_up(ledger, &Setup::default())
    }

    /// Another service that differs from the usual one.
    pub(crate) fn with(&self, setup: &Setup) -> Self {
        Self::set_up(&self.ledger, setup)
    }

    fn set_up(ledger: &Arc<Ledger>, setup: &Setup) -> Self {
        crate::log::listen();
        let server = Server::start(setup);
        let client = |key: String| {
            crate::log::keep_secret(&key);
            Client {
                wire: Arc::clone(&server.wire),
                base: setup.base.clone(),
                key: Some(key),
                names: setup.names.clone(),
                ledger: Arc::clone(ledger),
            }
        };
        let api = client(server.key("one", &[], false, None));
        // By its path: a service may lack the collection.
        let holder = json!({"given_name": "Key holder"});
        let person = api.post(&format!("{}people/person_signup", setup.base), &json!({ "person": holder }));
        let person = if person.status == 200 {
            person.json
        } else {
            api.post(&format!("{}people", setup.base), &holder).created()
        };
        let id = own(&person);
        let id = segments(&id).first().copied().unwrap_or_default().to_owned();
        let bound = client(server.key("one", &[], false, Some(&id)));
        let narrow = client(server.key("one", &["people.list", "people.read", "helper.record_signature"], false, None));
        let reader = client(server.key("one", &[], true, None));
        let other = client(server.key("two", &[], false, None));
        let containers = Mutex::default();
        Self {
            ledger: Arc::clone(ledger),
            api,
            bound,
            other,
            reader,
            narrow,
            examples: setup.examples,
            containers,
            server,
        }
    }

    /// A key that was revoked.
    pub(crate) fn revoked_key(&self) -> String {
        let (id, token) = self.fresh_key();
        self.revoke(&id);
        token
    }

    /// A key that has expired.
    pub(crate) fn expired_key(&self) -> String {
        self.server.issue("one", KeyOptions::new("expired").expires(Timestamp::from_micros(0))).token
    }

    /// A new key with every right: its id and itself.
    pub(crate) fn fresh_key(&self) -> (String, String) {
        let key = self.server.issue("one", KeyOptions::new("fresh"));
        crate::log::keep_secret(&key.token);
        (key.id, key.token)
    }

    /// Revokes a key.
    pub(crate) fn revoke(&self, id: &str) {
        let revoked = self.server.runtime.block_on(self.server.store.revoke_key(id));
        assert!(revoked.expect("a revocation"));
    }

    /// A caller with these rights only.
    pub(crate) fn caller(&self, rights: &[&str]) -> Client {
        let key = self.server.key("one", rights, false, None);
        crate::log::keep_secret(&key);
        self.api.with_key(&key)
    }

    /// Empties the log and rewrites the data file, so that nothing deleted is left in it.
    pub(crate) fn compact(&self) {
        self.server.runtime.block_on(self.server.store.compact()).expect("a smaller file");
    }

    /// The bytes of the data file and of what stands beside it.
    pub(crate) fn data_files(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for file in std::fs::read_dir(self.server.folder.path()).expect("a folder") {
            bytes.extend(std::fs::read(file.expect("a file").path()).expect("a file"));
        }
        bytes
    }

    /// Runs a statement on the data file behind the service's back.
    pub(crate) fn tamper(&self, sql: &str) {
        let file = rusqlite::Connection::open(self.server.store.path()).expect("the data file");
        file.execute_batch(sql).expect("a statement");
    }

    /// Loads a stored query, which no request can create.
    pub(crate) fn seed_query(&self, name: &str) {
        let mut draft = RawDraft::empty(Kind::Query);
        draft.fields.insert("name", name);
        let id = Id::new(&uuid::Uuid::now_v7().to_string()).expect("an id");
        let row = Load::new(id, Timestamp::now(), draft);
        self.server.runtime.block_on(async {
            let tenant = self.server.store.ensure_tenant("one").await.expect("a tenant");
            self.server.store.seed(&tenant, vec![row]).await.expect("a query");
        });
    }

    /// A record that many tests share, made when it is first asked for.
    pub(crate) fn container(&self, api: &Client, one: &str) -> Value {
        let known = self.containers.lock().expect("a lock").get(one).cloned();
        known.unwrap_or_else(|| {
            let many = if one == "ticketed" { "events" } else { kind(one).many };
            let made = api.create(many, &least(one));
            self.containers.lock().expect("a lock").insert(one.to_owned(), made.clone());
            made
        })
    }

    /// Deletes a record, and whether it is gone from its address and its collection.
    pub(crate) fn removed(&self, record: &Value, collection: &str) -> bool {
        let reply = self.api.delete(&own(record));
        let answered = if self.examples { reply.status == 200 } else { reply.status == 204 && reply.body.is_empty() };
        answered && self.api.get(&own(record)).status == 404 && !contains(&self.api, collection, record)
    }
}

/// The service over a store in a folder of its own.
struct Server {
    wire: Wire,
    store: Store,
    runtime: Arc<Runtime>,
    folder: TempDir,
}

impl Server {
    fn start(setup: &Setup) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut options = Options::new(folder.path().join("rows.db"));
        if let Some(pages) = setup.pages {
            options = options.max_page_count(pages);
        }
        let store = Store::open(options).expect("a store");
        let dialect = match setup.names.prefix {
            "svc" => Dialect::default(),
            prefix => Dialect::with_prefix(prefix).expect("a prefix"),
        };
        let style = if setup.examples { ResponseStyle::Examples } else { ResponseStyle::Table };
        let vendor = Vendor::new("Example", "Rows").motd("Welcome");
        let api = store.register_all(Api::builder(vendor)).response_cache(store.clone());
        let mut api = api.base_url(&setup.base).dialect(dialect);
        api = api.authenticator(store.clone()).response_style(style).atomicity(setup.atomicity);
        api = api.error_bodies(setup.error_bodies).patch_method(setup.patch);
        if setup.helpers_only {
            api = api.helpers_only();
        }
        if setup.anonymous_helpers {
            api = api.anonymous_helpers(store.clone());
        }
        if setup.composed {
            api = composed(api);
        }
        for capability in &setup.without {
            api = api.without(capability);
        }
        let (_, path) = setup.base.split_once("://").expect("a base URL");
        let path = path.split_once('/').map_or("", |(_, path)| path.trim_end_matches('/'));
        let mut service = SvcService::new(api.build().expect("an API")).under(&format!("/{path}"));
        if setup.cors {
            service = service.cors(Cors::any());
        }
        let runtime = Arc::new(Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime"));
        let waiting = Arc::clone(&runtime);
        let wire: Wire = Arc::new(move |request| {
            let answer = service.clone().oneshot(request.map(Full::new));
            waiting.block_on(async {
                let (parts, body) = answer.await.unwrap_or_else(|never| match never {}).into_parts();
                Response::from_parts(parts, body.collect().await.expect("a body").to_bytes())
            })
        });
        Self { wire, store, runtime, folder }
    }

    fn key(&self, tenant: &str, rights: &[&str], read_only: bool, person: Option<&str>) -> String {
        let mut options = KeyOptions::new("rows");
        if !rights.is_empty() {
            options = options.only(rights.iter().map(|right| right.parse().expect("a right")));
        }
        if read_only {
            options = options.read_only();
        }
        if let Some(person) = person {
            options = options.person(Id::new(person).expect("an id"));
        }
        self.issue(tenant, options).token
    }

    fn issue(&self, tenant: &str, options: KeyOptions) -> NewKey {
        self.runtime.block_on(async {
            let tenant = self.store.ensure_tenant(tenant).await.expect("a tenant");
            self.store.create_key(&tenant, options).await.expect("a key")
        })
    }
}

/// The helpers that can be composed of this store's operations: a canvass has no create, scheduling is none.
fn composed(api: ApiBuilder) -> ApiBuilder {
    api.compose::<RecordSignature>()
        .compose::<RecordSubmission>()
        .compose::<RecordDonation>()
        .compose::<RecordOutreach>()
        .compose::<RecordAttendance>()
        .compose::<PersonSignup>()
}

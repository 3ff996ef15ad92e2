//! A store in a temporary file, tested through the whole API without HTTP.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use svc_core::{
    Context, Tenant,
    api::{Api, ApiBuilder, Request, Vendor},
    auth::{Caller, Identity, Principal, Rights},
    backend::{DeliveryOutcome, OutboxEntry},
    value::{Id, Timestamp},
};
use svc_sqlite::{SqliteOptions, SqliteStore};

/// The base URL.
pub(crate) const BASE: &str = "http://localhost/";

pub(crate) struct Server {
    pub(crate) store: SqliteStore,
    pub(crate) api: Api,
    pub(crate) tenant: Tenant,
    _folder: Option<Arc<tempfile::TempDir>>,
}

/// Asserts that the log has no key and no personal data of the test.
impl Drop for Server {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            crate::log::assert_clean();
        }
    }
}

/// A response with its parsed body.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) json: serde_json::Value,
    /// The warnings about ignored members. `json` does not contain them.
    ///
    /// Requirements: UND-22.
    pub(crate) warnings: serde_json::Value,
    pub(crate) location: Option<String>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::with(|options| options, |api| api).await
    }

    pub(crate) async fn with(
        options: impl FnOnce(SqliteOptions) -> SqliteOptions,
        build: impl FnOnce(ApiBuilder) -> ApiBuilder,
    ) -> Self {
        crate::log::listen();
        let folder = tempfile::tempdir().unwrap();
        // A long timeout, so that a machine under load does not cause rejections.
        let default =
            SqliteOptions::new(folder.path().join("data.db")).busy_timeout(Duration::from_secs(60));
        let store = SqliteStore::open(options(default)).unwrap();
        let tenant = store.ensure_tenant("demo").await.unwrap();
        let api = api(&store, build);
        Self {
            store,
            api,
            tenant,
            _folder: Some(Arc::new(folder)),
        }
    }

    /// Creates a server on a store whose file the caller owns.
    pub(crate) async fn on(store: SqliteStore) -> Self {
        crate::log::listen();
        let tenant = store.ensure_tenant("demo").await.unwrap();
        let api = api(&store, |api| api);
        Self {
            store,
            api,
            tenant,
            _folder: None,
        }
    }

    pub(crate) fn identity(&self) -> Identity {
        Identity::Authenticated(Principal::new(
            self.tenant.clone(),
            Caller::with_rights(Rights::all()),
        ))
    }

    pub(crate) fn caller(&self) -> Context {
        Context::new(
            self.tenant.clone(),
            Caller::with_rights(Rights::all()),
            Timestamp::now(),
        )
    }

    /// Returns the context of a caller whose key is bound to a person.
    pub(crate) fn bound(&self, person: &str) -> Context {
        let person = Id::new(person.rsplit('/').next().unwrap());
        Context::new(
            self.tenant.clone(),
            Caller::with_rights(Rights::all()).with_person(person),
            Timestamp::now(),
        )
    }

    pub(crate) fn stranger(&self) -> Context {
        Context::new(self.tenant.clone(), Caller::anonymous(), Timestamp::now())
    }

    pub(crate) async fn call(
        &self,
        method: &str,
        address: &str,
        body: serde_json::Value,
    ) -> Answer {
        self.call_as(&self.caller(), method, address, body).await
    }

    pub(crate) async fn call_as(
        &self,
        cx: &Context,
        method: &str,
        address: &str,
        body: serde_json::Value,
    ) -> Answer {
        let path = address.strip_prefix(BASE).unwrap_or(address);
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        assert!(self.api.route(path).is_some(), "{path} is not an address");
        let method: http::Method = method.parse().unwrap();
        let body = if body.is_null() {
            Vec::new()
        } else {
            serde_json::to_vec(&body).unwrap()
        };
        let request = Request::new(&method, path)
            .with_query(query)
            .with_body(body)
            .with_received_at(cx.received_at());
        let reply = self
            .api
            .handle(
                Identity::Authenticated(Principal::new(cx.tenant().clone(), cx.caller().clone())),
                request,
            )
            .await;
        let mut json = if reply.body.is_empty() {
            serde_json::Value::Null
        } else {
            serde_json::from_slice(&reply.body)
                .unwrap_or_else(|error| panic!("{error}: {:?}", reply.body))
        };
        let warnings = without_warnings(&mut json);
        Answer {
            status: reply.status.as_u16(),
            json,
            warnings,
            location: reply.header("location").map(str::to_owned),
        }
    }

    pub(crate) async fn get(&self, address: &str) -> Answer {
        self.call("GET", address, serde_json::Value::Null).await
    }

    pub(crate) async fn post(&self, address: &str, body: serde_json::Value) -> Answer {
        self.call("POST", address, body).await
    }

    pub(crate) async fn put(&self, address: &str, body: serde_json::Value) -> Answer {
        self.call("PUT", address, body).await
    }

    pub(crate) async fn delete(&self, address: &str) -> Answer {
        self.call("DELETE", address, serde_json::Value::Null).await
    }

    /// Creates a record and returns its address.
    pub(crate) async fn make(&self, collection: &str, body: serde_json::Value) -> String {
        let answer = self.post(collection, body).await;
        assert_eq!(answer.status, 201, "{collection}: {}", answer.json);
        answer.self_link()
    }

    /// Returns the total of a collection.
    pub(crate) async fn total(&self, collection: &str) -> u64 {
        self.get(collection).await.json["total_records"]
            .as_u64()
            .unwrap()
    }

    /// Returns every member of a collection by following `next`.
    pub(crate) async fn walk(&self, collection: &str) -> Vec<serde_json::Value> {
        let mut members = Vec::new();
        let mut address = collection.to_owned();
        loop {
            let page = self.get(&address).await;
            assert_eq!(page.status, 200, "{address}: {}", page.json);
            let embedded = page.json["_embedded"]
                .as_object()
                .unwrap()
                .values()
                .next()
                .unwrap();
            members.extend(embedded.as_array().unwrap().iter().cloned());
            match page.json["_links"]["next"]["href"].as_str() {
                Some(next) => next.clone_into(&mut address),
                None => return members,
            }
        }
    }
}

/// Returns the smallest body of a record of a collection. Each tag and list has another name.
pub(crate) fn minimal(collection: &str) -> serde_json::Value {
    static NAMES: AtomicU32 = AtomicU32::new(0);
    match collection {
        "people" => serde_json::json!({"given_name": "Ada"}),
        "questions" => serde_json::json!({"question_type": "Paragraph"}),
        "tags" | "lists" => {
            let number = NAMES.fetch_add(1, Ordering::Relaxed);
            serde_json::json!({"name": format!("name {number}")})
        }
        _ => serde_json::json!({}),
    }
}

/// Returns a builder whose messages are delivered to no receiver.
pub(crate) fn builder() -> ApiBuilder {
    Api::builder(Vendor::new("Test", "Test").namespace("here"))
        .delivery(|_: &Tenant, _: &OutboxEntry| Ok(DeliveryOutcome::Sent))
        .base_url(BASE)
}

pub(crate) fn api(store: &SqliteStore, build: impl FnOnce(ApiBuilder) -> ApiBuilder) -> Api {
    let api = store.register_all(builder()).response_cache(store.clone());
    build(
        api.authenticator(store.clone())
            .anonymous_helpers(store.clone()),
    )
    .build()
    .unwrap()
}

impl Answer {
    pub(crate) fn self_link(&self) -> String {
        self.json["_links"]["self"]["href"]
            .as_str()
            .unwrap_or_else(|| panic!("no self: {}", self.json))
            .to_owned()
    }

    pub(crate) fn link(&self, name: &str) -> String {
        self.json["_links"][name]["href"]
            .as_str()
            .unwrap_or_else(|| panic!("no {name}: {}", self.json))
            .to_owned()
    }

    /// Returns the error codes of an atomic or non-atomic error, in order.
    pub(crate) fn codes(&self) -> Vec<String> {
        self.descriptions()
            .iter()
            .map(|one| one["error_code"].as_str().unwrap().to_owned())
            .collect()
    }

    pub(crate) fn descriptions(&self) -> Vec<serde_json::Value> {
        let entries = self.json["svc:error"]["resource_status"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        entries
            .iter()
            .filter_map(|entry| entry["error_descriptions"].as_array().cloned())
            .flatten()
            .collect()
    }

    /// Returns the entries of the report: resource and status.
    pub(crate) fn entries(&self) -> Vec<(String, u64)> {
        let entries = self.json["svc:error"]["resource_status"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let entry = |entry: &serde_json::Value| {
            (
                entry["resource"].as_str().unwrap().to_owned(),
                entry["response_code"].as_u64().unwrap(),
            )
        };
        entries.iter().map(entry).collect()
    }
}

/// Removes the warnings and their curie from a response, so that it can be compared with a read.
pub(crate) fn without_warnings(json: &mut serde_json::Value) -> serde_json::Value {
    let warnings = json
        .as_object_mut()
        .and_then(|json| json.remove("ext:warnings"))
        .unwrap_or_default();
    let curies = json
        .pointer_mut("/_links/curies")
        .and_then(serde_json::Value::as_array_mut);
    if let Some(curies) = curies.filter(|_| warnings.is_array()) {
        curies.retain(|curie| curie["name"] != "ext");
    }
    warnings
}

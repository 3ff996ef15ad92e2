//! A store in PostgreSQL, tested through the whole API without HTTP. For the database it is a
//! process of its own.

use std::time::Duration;

use svc_core::{
    Context, Tenant,
    api::{Api, ApiBuilder, Request, Vendor},
    auth::{Caller, Identity, Principal, Rights},
    backend::{DeliveryOutcome, OutboxEntry},
    value::Timestamp,
};
use svc_postgres::{PostgresOptions, PostgresStore};

/// The base URL.
pub(crate) const BASE: &str = "http://localhost/";

/// Returns options with long timeouts for a busy machine. Tests of timeouts set shorter ones.
pub(crate) fn options(url: &str) -> PostgresOptions {
    PostgresOptions::new(url)
        .unwrap()
        .busy_timeout(Duration::from_secs(60))
}

#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) store: PostgresStore,
    pub(crate) api: Api,
    pub(crate) tenant: Tenant,
    /// The time limit of a request.
    pub(crate) deadline: Option<Duration>,
}

/// A response with its parsed body.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) json: serde_json::Value,
}

impl Server {
    /// Opens a store on the tables of these options.
    pub(crate) async fn open(options: PostgresOptions) -> Self {
        Self::of(PostgresStore::connect(options).await.unwrap(), "demo").await
    }

    /// Creates a server for another tenant of a store.
    pub(crate) async fn of(store: PostgresStore, tenant: &str) -> Self {
        let tenant = store.ensure_tenant(tenant).await.unwrap();
        Self::with(store, tenant)
    }

    /// Creates a server for an existing tenant of a store.
    pub(crate) fn with(store: PostgresStore, tenant: Tenant) -> Self {
        Self {
            api: api(&store).build().unwrap(),
            store,
            tenant,
            deadline: None,
        }
    }

    /// Opens a store on the tables of these options, with a response cache.
    pub(crate) async fn keeping(options: PostgresOptions) -> Self {
        let mut server = Self::open(options).await;
        server.api = api(&server.store)
            .response_cache(server.store.clone())
            .build()
            .unwrap();
        server
    }

    pub(crate) fn caller(&self) -> Context {
        Context::new(
            self.tenant.clone(),
            Caller::with_rights(Rights::all()),
            Timestamp::now(),
        )
    }

    pub(crate) async fn call(
        &self,
        method: &str,
        address: &str,
        body: serde_json::Value,
    ) -> Answer {
        call_within(
            &self.api,
            &self.tenant,
            method,
            address,
            body,
            self.deadline,
        )
        .await
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

/// Returns a builder of a minimal API.
pub(crate) fn builder() -> svc_core::api::ApiBuilder {
    Api::builder(Vendor::new("Test", "Test").namespace("here")).base_url(BASE)
}

/// Handles a request of a caller with all rights.
pub(crate) async fn call(
    api: &Api,
    tenant: &Tenant,
    method: &str,
    address: &str,
    body: serde_json::Value,
) -> Answer {
    call_within(api, tenant, method, address, body, None).await
}

async fn call_within(
    api: &Api,
    tenant: &Tenant,
    method: &str,
    address: &str,
    body: serde_json::Value,
    deadline: Option<Duration>,
) -> Answer {
    let reply = answer(api, tenant, method, address, body, deadline).await;
    let mut json = serde_json::Value::Null;
    if !reply.body.is_empty() {
        json = serde_json::from_slice(&reply.body)
            .unwrap_or_else(|error| panic!("{error}: {:?}", reply.body));
    }
    // Without warnings, so that it can be compared with a read.
    let is_warning = json
        .as_object_mut()
        .is_some_and(|json| json.remove("ext:warnings").is_some());
    if let Some(curies) = json
        .pointer_mut("/_links/curies")
        .and_then(|curies| curies.as_array_mut())
        .filter(|_| is_warning)
    {
        curies.retain(|curie| curie["name"] != "ext");
    }
    Answer {
        status: reply.status.as_u16(),
        json,
    }
}

/// Reads a document and discards its body.
pub(crate) async fn read(api: &Api, tenant: &Tenant, address: &str) {
    let reply = answer(api, tenant, "GET", address, serde_json::Value::Null, None).await;
    assert_eq!(reply.status.as_u16(), 200, "{address}");
}

async fn answer(
    api: &Api,
    tenant: &Tenant,
    method: &str,
    address: &str,
    body: serde_json::Value,
    deadline: Option<Duration>,
) -> svc_core::api::Response {
    let path = address.strip_prefix(BASE).unwrap_or(address);
    let (path, query) = path
        .split_once('?')
        .map_or((path, None), |(path, query)| (path, Some(query)));
    let method: http::Method = method.parse().unwrap();
    let body = if body.is_null() {
        Vec::new()
    } else {
        serde_json::to_vec(&body).unwrap()
    };
    let request = Request::new(&method, path)
        .with_query(query)
        .with_body(body)
        .with_received_at(Timestamp::now());
    let identity = Identity::Authenticated(Principal::new(
        tenant.clone(),
        Caller::with_rights(Rights::all()),
    ));
    api.handle(identity, request.with_timeout(deadline)).await
}

impl Answer {
    pub(crate) fn self_link(&self) -> String {
        self.json["_links"]["self"]["href"]
            .as_str()
            .unwrap_or_else(|| panic!("no self: {}", self.json))
            .to_owned()
    }
}

pub(crate) fn api(store: &PostgresStore) -> ApiBuilder {
    let api = store
        .register_all(builder())
        .change_feed(&std::sync::Arc::new(store.clone()));
    let api = api.delivery(|_: &Tenant, _: &OutboxEntry| Ok(DeliveryOutcome::Sent));
    api.webhooks(&std::sync::Arc::new(store.clone()))
        .authenticator(store.clone())
        .anonymous_helpers(store.clone())
}

//! The same API over the store in memory and over the store in a file, called without HTTP.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;
use svc_core::{
    Tenant,
    api::{Api, ApiBuilder, Request},
    auth::{Caller, Identity, Principal, Right, Rights},
};
use svc_sqlite::{SqliteOptions, SqliteStore};
use svc_store::memory::MemoryStore;

use crate::server::{BASE, builder};

/// An API on one of the stores.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) api: Api,
    pub(crate) tenant: Tenant,
    /// Another tenant of the same store.
    pub(crate) other: Tenant,
    _folder: Option<tempfile::TempDir>,
}

/// A response with its parsed body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) json: Value,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Returns the codes of the errors, each with its properties.
    pub(crate) fn problems(&self) -> Vec<(String, Vec<String>)> {
        let all = &self.json["svc:error"]["resource_status"][0]["error_descriptions"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let of = |it: &Value| {
            let properties = it["properties"].as_array().unwrap();
            (
                text(&it["error_code"]),
                properties.iter().map(text).collect(),
            )
        };
        all.as_array().into_iter().flatten().map(of).collect()
    }

    /// Asserts that the response has this status and one error.
    #[track_caller]
    pub(crate) fn assert_rejected(&self, status: u16, code: &str, properties: &[&str]) {
        assert_eq!(
            (self.status, self.problems()),
            (status, problem(code, properties)),
            "{}",
            self.json
        );
    }

    pub(crate) fn url(&self) -> String {
        let own = self.json["_links"]["self"]["href"].as_str();
        own.unwrap_or_else(|| panic!("{}", self.json)).to_owned()
    }
}

/// Returns the list of one error, with its properties.
pub(crate) fn problem(code: &str, properties: &[&str]) -> Vec<(String, Vec<String>)> {
    let properties = properties.iter().map(|it| (*it).to_owned()).collect();
    vec![(code.to_owned(), properties)]
}

/// Returns the API over both stores.
pub(crate) async fn subjects(configure: impl Fn(ApiBuilder) -> ApiBuilder) -> [Subject; 2] {
    crate::log::listen();
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions::new(folder.path().join("data.db")).relaxed_durability();
    let file = SqliteStore::open(options).unwrap();
    let tenant = file.ensure_tenant("demo").await.unwrap();
    let other = file.ensure_tenant("other").await.unwrap();
    let memory = MemoryStore::new();
    let of_file = file
        .register_all(builder())
        .change_feed(&Arc::new(file.clone()))
        .response_cache(file.clone())
        .anonymous_helpers(file.clone());
    let of_memory = memory
        .register_all(builder())
        .change_feed(&Arc::new(memory.clone()))
        .anonymous_helpers(memory.clone());
    let build = |api| configure(api).authenticator(file.clone()).build().unwrap();
    [
        Subject {
            name: "SQLite",
            api: build(of_file),
            tenant,
            other,
            _folder: Some(folder),
        },
        Subject::of_memory(build(of_memory)),
    ]
}

/// Runs a check on both stores.
pub(crate) async fn each(
    configure: impl Fn(ApiBuilder) -> ApiBuilder,
    check: impl AsyncFn(&Subject),
) {
    for subject in subjects(configure).await {
        check(&subject).await;
    }
}

pub(crate) fn rights(names: &[&str]) -> Rights {
    Rights::only(names.iter().map(|name| name.parse::<Right>().unwrap()))
}

impl Subject {
    /// Creates a subject from an API on the store in memory.
    pub(crate) fn of_memory(api: Api) -> Self {
        Self {
            name: "memory",
            api,
            tenant: Tenant::new("demo"),
            other: Tenant::new("other"),
            _folder: None,
        }
    }

    pub(crate) async fn send(
        &self,
        identity: Identity,
        method: Method,
        address: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Answer {
        let path = address.strip_prefix(BASE).unwrap_or(address);
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        let pair = |(name, value): &(&str, &str)| {
            let value = HeaderValue::from_str(value).unwrap();
            (HeaderName::try_from(*name).unwrap(), value)
        };
        let headers: HeaderMap = headers.iter().map(pair).collect();
        let body = if body.is_null() {
            Vec::new()
        } else {
            serde_json::to_vec(body).unwrap()
        };
        let request = Request::new(&method, path)
            .with_query(query)
            .with_headers(&headers)
            .with_body(body);
        let response = self.api.handle(identity, request).await;
        Answer {
            status: response.status.as_u16(),
            json: if response.body.is_empty() {
                Value::Null
            } else {
                serde_json::from_slice(&response.body).unwrap()
            },
            headers: response.headers,
            body: response.body.to_vec(),
        }
    }

    /// Returns the identity of a key of the tenant.
    pub(crate) fn key(&self, rights: Rights) -> Identity {
        let caller = Caller::with_rights(rights);
        Identity::Authenticated(Principal::new(self.tenant.clone(), caller))
    }

    /// Returns the identity of a key of the tenant with every right.
    pub(crate) fn full_key(&self) -> Identity {
        self.key(Rights::all())
    }

    /// Returns the identity of a key of the other tenant.
    pub(crate) fn other_key(&self) -> Identity {
        let caller = Caller::with_rights(Rights::all());
        Identity::Authenticated(Principal::new(self.other.clone(), caller))
    }

    pub(crate) async fn call(&self, method: Method, address: &str, body: &Value) -> Answer {
        self.send(self.full_key(), method, address, &[], body).await
    }

    pub(crate) async fn get(&self, address: &str) -> Answer {
        self.call(Method::GET, address, &Value::Null).await
    }

    /// Returns the document at an address.
    pub(crate) async fn read(&self, address: &str) -> Value {
        let answer = self.get(address).await;
        assert_eq!(answer.status, 200, "{}: {}", self.name, answer.json);
        answer.json
    }

    /// Creates a record and returns its address.
    pub(crate) async fn make(&self, collection: &str, body: Value) -> String {
        let answer = self.call(Method::POST, collection, &body).await;
        let at = format!("{}: {collection}: {}", self.name, answer.json);
        assert!([200, 201].contains(&answer.status), "{at}");
        answer.url()
    }
}

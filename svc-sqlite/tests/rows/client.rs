//! A client that knows the interface only from outside: it starts at the entry point, follows links and reads JSON.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use serde_json::{Value, json};
use svc_conformance::ledger::Ledger;

use crate::passive;

/// What answers a request: the service, called and waited for.
pub(crate) type Wire = Arc<dyn Fn(Request<Bytes>) -> Response<Bytes> + Send + Sync>;

/// The names that a dialect sets.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    pub(crate) prefix: &'static str,
    pub(crate) key_header: &'static str,
    pub(crate) version: &'static str,
}

impl Names {
    pub(crate) const STANDARD: Self = Self { prefix: "svc", key_header: "SVC-API-Token", version: "svc_version" };
}

/// A caller of one service, with one key or without.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) wire: Wire,
    pub(crate) base: String,
    pub(crate) key: Option<String>,
    pub(crate) names: Names,
    pub(crate) ledger: Arc<Ledger>,
}

/// One answer, with the request that led to it for messages.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) request: String,
    pub(crate) method: Method,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) json: Value,
    pub(crate) prefix: &'static str,
}

impl Client {
    /// The same service, called with another key.
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }

    /// The same service, called without a key.
    pub(crate) fn anonymous(&self) -> Self {
        Self { key: None, ..self.clone() }
    }

    pub(crate) fn get(&self, url: &str) -> Reply {
        self.send(Method::GET, url, &[], None)
    }

    pub(crate) fn post(&self, url: &str, body: &Value) -> Reply {
        self.send(Method::POST, url, &[("content-type", "application/json")], Some(body.to_string().into()))
    }

    pub(crate) fn put(&self, url: &str, body: &Value) -> Reply {
        self.send(Method::PUT, url, &[("content-type", "application/json")], Some(body.to_string().into()))
    }

    pub(crate) fn delete(&self, url: &str) -> Reply {
        self.send(Method::DELETE, url, &[], None)
    }

    /// A body that need not be JSON.
    pub(crate) fn post_text(&self, url: &str, body: &str) -> Reply {
        self.send(Method::POST, url, &[("content-type", "application/json")], Some(body.to_owned().into()))
    }

    /// Sends one request; every answer passes the passive checks.
    pub(crate) fn send(&self, method: Method, url: &str, headers: &[(&str, &str)], body: Option<Bytes>) -> Reply {
        let reply = self.send_raw(method, url, headers, body);
        passive::check(&self.ledger, &reply);
        reply
    }

    /// Sends one request whose answer is not of the interface (documentation, preflight).
    pub(crate) fn send_raw(&self, method: Method, url: &str, headers: &[(&str, &str)], body: Option<Bytes>) -> Reply {
        let (authority, path) = split(url);
        let mut request = Request::builder().method(method.clone()).uri(path).header("host", authority);
        if let Some(key) = &self.key {
            request = request.header(self.names.key_header, key);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut line = format!("{method} {url}");
        if let Some(body) = &body {
            let text = String::from_utf8_lossy(body);
            let cut: String = text.chars().take(600).collect();
            let _ = write!(line, " {cut}");
        }
        let request = request.body(body.unwrap_or_default()).expect("a request");
        let response = (self.wire)(request);
        let (parts, body) = response.into_parts();
        Reply {
            request: line,
            method,
            status: parts.status.as_u16(),
            headers: parts.headers,
            json: serde_json::from_slice(&body).unwrap_or(Value::Null),
            body,
            prefix: self.names.prefix,
        }
    }

    /// A name of the interface with its prefix.
    pub(crate) fn rel(&self, name: &str) -> String {
        format!("{}:{name}", self.names.prefix)
    }

    /// The entry point.
    pub(crate) fn entry(&self) -> Value {
        self.get(&self.base).ok()
    }

    /// The address of a collection, from the entry point.
    pub(crate) fn collection(&self, plural: &str) -> String {
        href(&self.entry(), &self.rel(plural))
    }

    /// Creates a record in a top-level collection.
    pub(crate) fn create(&self, plural: &str, body: &Value) -> Value {
        self.post(&self.collection(plural), body).created()
    }

    /// The address under a relation with the prefix.
    pub(crate) fn href(&self, record: &Value, name: &str) -> String {
        href(record, &self.rel(name))
    }

    /// Follows a relation with the prefix.
    pub(crate) fn follow(&self, record: &Value, name: &str) -> Value {
        self.get(&self.href(record, name)).ok()
    }

    /// Reads a record again by its `self`.
    pub(crate) fn reread(&self, record: &Value) -> Value {
        self.get(&own(record)).ok()
    }

    /// Creates an action under its container for a person: `POST` to the nested collection with the person's link.
    pub(crate) fn act(&self, container: &Value, plural: &str, person: &Value, body: &Value) -> Value {
        self.post(&self.href(container, plural), &self.linked(body, "person", &own(person))).created()
    }

    /// A body with one more link.
    pub(crate) fn linked(&self, body: &Value, name: &str, href: &str) -> Value {
        let mut body = body.clone();
        body["_links"][self.rel(name)] = json!({ "href": href });
        body
    }

    /// Every member of a collection, by following `next` from its first page.
    pub(crate) fn members(&self, url: &str) -> Vec<Value> {
        let mut members = Vec::new();
        let mut next = Some(url.to_owned());
        while let Some(url) = next {
            let page = self.get(&url).ok();
            members.extend(embedded(&page).iter().cloned());
            next = link(&page, "next").map(ToOwned::to_owned);
        }
        members
    }

    /// The number a collection says it has.
    pub(crate) fn total(&self, url: &str) -> u64 {
        self.get(url).ok()["total_records"].as_u64().expect("total_records is a number")
    }
}

impl Reply {
    /// The body of a 200.
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        self.expect(200)
    }

    /// The body of a 201, or of a 200 under the response style `examples`.
    #[track_caller]
    pub(crate) fn created(self) -> Value {
        assert!(matches!(self.status, 200 | 201), "{self}");
        self.json
    }

    /// The body, after a look at the status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self}");
        self.json
    }

    /// The error object.
    pub(crate) fn error(&self) -> &Value {
        &self.json[format!("{}:error", self.prefix)]
    }

    /// The outcome of each resource.
    pub(crate) fn entries(&self) -> &[Value] {
        self.error()["resource_status"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Every description of every entry, under either spelling.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        self.entries().iter().flat_map(descriptions).map(Problem::read).collect()
    }

    /// Whether the answer is a 400 with this code that names this property.
    pub(crate) fn refuses(&self, code: &str, property: &str) -> bool {
        self.status == 400
            && self.problems().iter().any(|p| p.code == code && p.properties.iter().any(|n| n == property))
    }

    /// Whether the answer has this code.
    pub(crate) fn says(&self, code: &str) -> bool {
        self.problems().iter().any(|problem| problem.code == code)
    }

    /// A header as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text: String = self.text().chars().take(900).collect();
        write!(f, "{} -> {} {text}", self.request, self.status)
    }
}

/// One description of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) code: String,
    pub(crate) description: String,
    pub(crate) properties: Vec<String>,
    pub(crate) hint: Option<String>,
}

impl Problem {
    fn read(value: &Value) -> Self {
        let text = |name: &str, other: &str| {
            value.get(name).or_else(|| value.get(other)).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let properties = value["properties"].as_array().map_or(&[][..], Vec::as_slice);
        Self {
            code: text("error_code", "code"),
            description: text("description", "description"),
            properties: properties.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
            hint: value["hint"].as_str().map(ToOwned::to_owned),
        }
    }
}

/// The descriptions of one entry, under either spelling.
pub(crate) fn descriptions(entry: &Value) -> &[Value] {
    let list = entry.get("error_descriptions").or_else(|| entry.get("errors"));
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The address under a relation, if it is there and one object.
pub(crate) fn link<'v>(record: &'v Value, rel: &str) -> Option<&'v str> {
    record["_links"].get(rel)?.get("href")?.as_str()
}

/// The address under a relation.
#[track_caller]
pub(crate) fn href(record: &Value, rel: &str) -> String {
    match link(record, rel) {
        Some(href) => href.to_owned(),
        None => panic!("no link {rel} in {record}"),
    }
}

/// The address of a record.
#[track_caller]
pub(crate) fn own(record: &Value) -> String {
    href(record, "self")
}

/// The members of a page.
pub(crate) fn embedded(page: &Value) -> &[Value] {
    let mut lists = page["_embedded"].as_object().into_iter().flat_map(serde_json::Map::values);
    lists.find_map(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A record without the curies that only a document of its own has.
pub(crate) fn stripped(record: &Value) -> Value {
    let mut record = record.clone();
    if let Some(links) = record["_links"].as_object_mut() {
        links.remove("curies");
    }
    record
}

/// The addresses of records.
pub(crate) fn addresses(records: &[Value]) -> Vec<String> {
    records.iter().map(own).collect()
}

/// The path segments of an address, from the end.
pub(crate) fn segments(url: &str) -> Vec<&str> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.trim_end_matches('/').rsplit('/').collect()
}

/// Authority and path of an absolute address.
fn split(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or((rest, "/"), |at| rest.split_at(at))
}

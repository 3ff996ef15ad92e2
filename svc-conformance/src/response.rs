//! What a caller got: an answer, the errors in it, and the representations that a document has.

use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::Value;

use crate::address;
use crate::outcome::CheckStop;

/// One answer, with what was asked; its clones share it.
#[derive(Debug, Clone)]
pub(crate) struct TestResponse(Arc<ResponseParts>);

/// What an answer holds.
#[derive(Debug)]
pub(crate) struct ResponseParts {
    pub(crate) method: Method,
    /// The request in one line, for messages; without keys.
    pub(crate) request: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The beginning of the body for messages; without keys.
    pub(crate) shown: String,
    /// The body as a document, with the address that was asked.
    pub(crate) document: Representation,
}

/// A representation and the address of the document that it came in, against which its links
/// resolve; its clones share it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Representation(Arc<RepresentationInner>);

/// What a representation holds.
#[derive(Debug, PartialEq)]
pub(crate) struct RepresentationInner {
    pub(crate) url: String,
    /// `Null` unless the body is JSON.
    pub(crate) json: Value,
    pub(crate) prefix: String,
}

impl Deref for TestResponse {
    type Target = ResponseParts;

    fn deref(&self) -> &ResponseParts {
        &self.0
    }
}

impl Deref for ResponseParts {
    type Target = RepresentationInner;

    fn deref(&self) -> &RepresentationInner {
        &self.document.0
    }
}

impl Deref for Representation {
    type Target = RepresentationInner;

    fn deref(&self) -> &RepresentationInner {
        &self.0
    }
}

impl From<ResponseParts> for TestResponse {
    fn from(parts: ResponseParts) -> Self {
        Self(Arc::new(parts))
    }
}

impl TestResponse {
    /// Whether the status is one of success.
    pub(crate) fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// Whether the status is one of a create: 200 and 201 are both conformant.
    ///
    /// Requirements: CRU-13.
    pub(crate) fn is_created(&self) -> bool {
        matches!(self.status, 200 | 201)
    }

    /// Whether the answer is that of a delete: 204 without a body, or 200 with a notice.
    ///
    /// Requirements: CRU-14.
    pub(crate) fn is_removal(&self) -> bool {
        match self.status {
            204 => self.body.is_empty(),
            200 => self["notice"]
                .as_str()
                .is_some_and(|notice| !notice.is_empty()),
            _ => false,
        }
    }

    /// Whether the request was refused.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.status, 400..=499)
    }

    pub(crate) fn record(&self) -> Representation {
        self.document.clone()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The error object, if there is one.
    ///
    /// Requirements: ERR-01.
    pub(crate) fn error(&self) -> Option<&Value> {
        self.json
            .get(format!("{}:error", self.prefix))
            .filter(|error| error.is_object())
    }

    /// The outcome of each resource.
    ///
    /// Requirements: ERR-20.
    pub(crate) fn entries(&self) -> &[Value] {
        self.error()
            .and_then(|error| error["resource_status"].as_array())
            .map_or(&[], Vec::as_slice)
    }

    /// Every description, under either spelling of its entry, or bare at the top.
    ///
    /// Requirements: ERR-33, ERR-02.
    pub(crate) fn problems(&self) -> Vec<ReportedProblem> {
        self.descriptions()
            .into_iter()
            .map(ReportedProblem::read)
            .collect()
    }

    /// As [`TestResponse::problems`], as they stand.
    pub(crate) fn descriptions(&self) -> Vec<&Value> {
        if self.error().is_some() {
            return self.entries().iter().flat_map(descriptions).collect();
        }
        match &self.json {
            Value::Array(list) => list.iter().collect(),
            Value::Object(object)
                if object.contains_key("error_code") || object.contains_key("description") =>
            {
                vec![&self.json]
            }
            _ => Vec::new(),
        }
    }

    /// Whether the answer is a 400 with this code that names this property.
    pub(crate) fn refuses(&self, code: &str, property: &str) -> bool {
        let same = |p: &ReportedProblem| {
            p.code == code && p.properties.iter().any(|name| name == property)
        };
        self.status == 400 && self.problems().iter().any(same)
    }
}

impl std::fmt::Display for TestResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} -> {} {}", self.request, self.status, self.shown)
    }
}

/// One description of an error.
///
/// Requirements: ERR-24 to ERR-28.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportedProblem {
    pub(crate) code: String,
    pub(crate) properties: Vec<String>,
    /// Whether it names properties at all; it need not.
    ///
    /// Requirements: ERR-26.
    pub(crate) has_properties: bool,
    pub(crate) hint: Option<String>,
}

impl ReportedProblem {
    fn read(value: &Value) -> Self {
        let code = value
            .get("error_code")
            .or_else(|| value.get("code"))
            .and_then(Value::as_str);
        let properties = value["properties"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        Self {
            code: code.unwrap_or_default().to_owned(),
            properties: properties
                .iter()
                .filter_map(Value::as_str)
                .map(ToOwned::to_owned)
                .collect(),
            has_properties: value["properties"].is_array(),
            hint: value["hint"].as_str().map(ToOwned::to_owned),
        }
    }
}

/// The descriptions of one entry, under either spelling.
///
/// Requirements: ERR-33.
pub(crate) fn descriptions(entry: &Value) -> &[Value] {
    let list = entry
        .get("error_descriptions")
        .or_else(|| entry.get("errors"));
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

impl Representation {
    pub(crate) fn new(url: String, json: Value, prefix: String) -> Self {
        Self(Arc::new(RepresentationInner { url, json, prefix }))
    }

    /// Another representation of the same document.
    pub(crate) fn beside(&self, json: Value) -> Self {
        Self::new(self.url.clone(), json, self.prefix.clone())
    }

    /// The absolute address under a relation as it stands, such as `self` or `next`.
    pub(crate) fn link(&self, rel: &str) -> Option<String> {
        self.resolved(self["_links"].get(rel)?.get("href")?.as_str()?)
    }

    /// An address that stands in the document.
    pub(crate) fn resolved(&self, href: &str) -> Option<String> {
        address::resolve(&self.url, href).map(String::from)
    }

    /// The absolute address under a relation of the interface, without prefix.
    pub(crate) fn href(&self, name: &str) -> Option<String> {
        self.link(&format!("{}:{name}", self.prefix))
    }

    /// As [`Representation::href`]; what lacks it ends the check.
    pub(crate) fn require_link(&self, name: &str) -> Result<String, CheckStop> {
        self.href(name).ok_or_else(|| {
            CheckStop::Inconclusive(format!("there is no link {name} in {}", self.short()))
        })
    }

    /// The record that is embedded under a relation of the interface, alone.
    pub(crate) fn embeds(&self, name: &str) -> Option<Self> {
        let embedded = self["_embedded"].get(format!("{}:{name}", self.prefix))?;
        Some(self.beside(embedded.clone())).filter(|record| record.json.is_object())
    }

    /// The record's own address.
    ///
    /// Requirements: HAL-16.
    pub(crate) fn self_url(&self) -> Result<String, CheckStop> {
        self.link("self").ok_or_else(|| {
            CheckStop::Inconclusive(format!("there is no link self in {}", self.short()))
        })
    }

    /// The members of a page.
    ///
    /// Requirements: COL-28.
    pub(crate) fn embedded(&self) -> Vec<Self> {
        let mut lists = self["_embedded"]
            .as_object()
            .into_iter()
            .flat_map(serde_json::Map::values);
        let list = lists
            .find_map(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        list.iter().map(|json| self.beside(json.clone())).collect()
    }

    /// The identifiers.
    ///
    /// Requirements: TYP-13.
    pub(crate) fn identifiers(&self) -> Vec<&str> {
        let list = self["identifiers"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        list.iter().filter_map(Value::as_str).collect()
    }

    /// Whether the record carries an identifier.
    pub(crate) fn carries(&self, identifier: &str) -> bool {
        self.identifiers().contains(&identifier)
    }

    /// The record in a few words.
    pub(crate) fn short(&self) -> String {
        self.json.to_string().chars().take(500).collect()
    }
}

impl std::ops::Index<&str> for TestResponse {
    type Output = Value;

    /// A member of the body; null where there is none.
    fn index(&self, name: &str) -> &Value {
        self.json.get(name).unwrap_or(&Value::Null)
    }
}

impl std::ops::Index<&str> for Representation {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.json.get(name).unwrap_or(&Value::Null)
    }
}

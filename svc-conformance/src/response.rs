//! The response to a test request, the errors in it, and the representations in its document.

use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::Value;

use crate::address;
use crate::outcome::CheckStop;

/// A response together with its request. Clones share the data.
#[derive(Debug, Clone)]
pub(crate) struct TestResponse(Arc<ResponseParts>);

/// The data of a response.
#[derive(Debug)]
pub(crate) struct ResponseParts {
    pub(crate) method: Method,
    /// The request on one line, for messages, without keys.
    pub(crate) request: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The start of the body, for messages, without keys.
    pub(crate) shown: String,
    /// The body as a document, with the requested URL.
    pub(crate) document: Representation,
}

/// A representation with the URL of its document, against which its links are resolved. Clones
/// share the data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Representation(Arc<RepresentationInner>);

/// The data of a representation.
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
    /// Whether the status is a success.
    pub(crate) fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// Whether the status is valid for a create: 200 and 201 both conform.
    ///
    /// Requirements: CRU-13.
    pub(crate) fn is_created(&self) -> bool {
        matches!(self.status, 200 | 201)
    }

    /// Whether the response is valid for a delete: 204 without a body, or 200 with a notice.
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

    /// Whether the request was rejected.
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

    /// Returns the error object, if there is one.
    ///
    /// Requirements: ERR-01.
    pub(crate) fn error(&self) -> Option<&Value> {
        self.json
            .get(format!("{}:error", self.prefix))
            .filter(|error| error.is_object())
    }

    /// Returns the outcome of each resource.
    ///
    /// Requirements: ERR-20.
    pub(crate) fn entries(&self) -> &[Value] {
        self.error()
            .and_then(|error| error["resource_status"].as_array())
            .map_or(&[], Vec::as_slice)
    }

    /// Returns every description, with either spelling of its member, or directly in the error
    /// object.
    ///
    /// Requirements: ERR-33, ERR-02.
    pub(crate) fn problems(&self) -> Vec<ReportedProblem> {
        self.descriptions()
            .into_iter()
            .map(ReportedProblem::read)
            .collect()
    }

    /// Returns the same as [`TestResponse::problems`], verbatim.
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

    /// Whether the response is a 400 with this code and names this property.
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
    /// Whether it names properties at all, which is optional.
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

/// Returns the descriptions of one entry, with either spelling of the member.
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

    /// Returns another representation of the same document.
    pub(crate) fn beside(&self, json: Value) -> Self {
        Self::new(self.url.clone(), json, self.prefix.clone())
    }

    /// Returns the absolute URL of a relation without a prefix, such as `self` or `next`.
    pub(crate) fn link(&self, rel: &str) -> Option<String> {
        self.resolved(self["_links"].get(rel)?.get("href")?.as_str()?)
    }

    /// Resolves a URL of the document.
    pub(crate) fn resolved(&self, href: &str) -> Option<String> {
        address::resolve(&self.url, href).map(String::from)
    }

    /// Returns the absolute URL of a relation of the specification, given without its prefix.
    pub(crate) fn href(&self, name: &str) -> Option<String> {
        self.link(&format!("{}:{name}", self.prefix))
    }

    /// Returns the same as [`Representation::href`]. A missing link ends the check.
    pub(crate) fn require_link(&self, name: &str) -> Result<String, CheckStop> {
        self.href(name).ok_or_else(|| {
            CheckStop::Inconclusive(format!("there is no link {name} in {}", self.short()))
        })
    }

    /// Returns the single record that is embedded under a relation of the specification.
    pub(crate) fn embeds(&self, name: &str) -> Option<Self> {
        let embedded = self["_embedded"].get(format!("{}:{name}", self.prefix))?;
        Some(self.beside(embedded.clone())).filter(|record| record.json.is_object())
    }

    /// Returns the URL of the record itself.
    ///
    /// Requirements: HAL-16.
    pub(crate) fn self_url(&self) -> Result<String, CheckStop> {
        self.link("self").ok_or_else(|| {
            CheckStop::Inconclusive(format!("there is no link self in {}", self.short()))
        })
    }

    /// Returns the members of a page.
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

    /// Returns the identifiers.
    ///
    /// Requirements: TYP-13.
    pub(crate) fn identifiers(&self) -> Vec<&str> {
        let list = self["identifiers"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        list.iter().filter_map(Value::as_str).collect()
    }

    /// Whether the record has an identifier.
    pub(crate) fn carries(&self, identifier: &str) -> bool {
        self.identifiers().contains(&identifier)
    }

    /// Returns a short description of the record.
    pub(crate) fn short(&self) -> String {
        self.json.to_string().chars().take(500).collect()
    }
}

impl std::ops::Index<&str> for TestResponse {
    type Output = Value;

    /// Returns a member of the body, or null if there is none.
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

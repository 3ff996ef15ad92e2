//! A caller of the target: sends requests with one key or none, follows links, never builds an address.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method, Request};
use serde_json::{Value, json};

use crate::address;
use crate::check::{Cx, Stop};
use crate::passive;
use crate::target::TargetError;

/// Pages that a walk reads at most.
const MOST_PAGES: usize = 400;
/// How often a request is sent again after 429 or 503 with `Retry-After`.
const MOST_RETRIES: usize = 4;

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Caller {
    /// With a key.
    Key(String),
    /// Without the header.
    Anonymous,
}

/// One caller within one check.
#[derive(Debug, Clone)]
pub(crate) struct Client<'c> {
    pub(crate) cx: &'c Cx,
    pub(crate) caller: Caller,
}

/// One answer, with what was asked.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) method: Method,
    pub(crate) url: String,
    /// The request in one line, for messages; without keys.
    pub(crate) request: String,
    pub(crate) number: usize,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// `Null` unless the body is JSON.
    pub(crate) json: Value,
    pub(crate) prefix: String,
}

/// A representation and the address of the document that it came in, against which its links resolve.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub(crate) url: String,
    pub(crate) json: Value,
    pub(crate) prefix: String,
}

impl Client<'_> {
    pub(crate) async fn get(&self, url: &str) -> Result<Answer, Stop> {
        self.send(Method::GET, url, None).await
    }

    pub(crate) async fn post(&self, url: &str, body: &Value) -> Result<Answer, Stop> {
        self.send(Method::POST, url, Some(body.to_string())).await
    }

    pub(crate) async fn put(&self, url: &str, body: &Value) -> Result<Answer, Stop> {
        self.send(Method::PUT, url, Some(body.to_string())).await
    }

    pub(crate) async fn delete(&self, url: &str) -> Result<Answer, Stop> {
        self.send(Method::DELETE, url, None).await
    }

    /// Sends one request; the answer passes the recorder and the passive checks.
    pub(crate) async fn send(&self, method: Method, url: &str, body: Option<String>) -> Result<Answer, Stop> {
        let mut tries = 0_usize;
        loop {
            let answer = self.once(&method, url, body.as_deref(), &[], true).await?;
            let wait = waiting(&answer).filter(|_| tries < MOST_RETRIES);
            let Some(wait) = wait else { return Ok(answer) };
            tries = tries.saturating_add(1);
            tokio::time::sleep(wait.min(self.cx.run.settings.timeout)).await;
        }
    }

    /// Sends one request whose answer is no document of the interface (documentation, the declaration).
    pub(crate) async fn fetch(&self, url: &str) -> Result<Answer, Stop> {
        self.once(&Method::GET, url, None, &[], false).await
    }

    /// Sends one request with more headers.
    pub(crate) async fn with_headers(
        &self,
        method: &Method,
        url: &str,
        body: Option<&str>,
        headers: &[(&str, &str)],
    ) -> Result<Answer, Stop> {
        self.once(method, url, body, headers, true).await
    }

    async fn once(
        &self,
        method: &Method,
        url: &str,
        body: Option<&str>,
        headers: &[(&str, &str)],
        judged: bool,
    ) -> Result<Answer, Stop> {
        let cx = self.cx;
        cx.may_send(method)?;
        let request = self.request(method, url, body, headers)?;
        let sent = request.clone();
        let began = Instant::now();
        let settings = &cx.run.settings;
        cx.run.journal.expect(method, url, body.unwrap_or_default());
        cx.run.keep_pace().await;
        let answer = cx.run.target.send(request, settings.body_limit, settings.timeout).await;
        let exchange = cx.run.recorder.record(&cx.id(), &sent, &answer, began.elapsed());
        cx.saw(exchange.number);
        let response = match answer {
            Ok(response) => response,
            Err(TargetError::Elsewhere(_)) => {
                return Err(Stop::Inconclusive(format!("{url} is on another origin: not followed")));
            }
            Err(error @ TargetError::TooLarge(_)) => {
                cx.holds("HAL-02", false, || format!("{}: {error}", exchange.line()));
                return Err(Stop::Failed);
            }
            Err(error) => {
                cx.holds("ERR-01", false, || format!("{}: {error}", exchange.line()));
                return Err(Stop::Failed);
            }
        };
        let sent_body = body.unwrap_or_default();
        let (parts, body) = response.into_parts();
        let answer = Answer {
            method: method.clone(),
            url: url.to_owned(),
            request: exchange.line(),
            number: exchange.number,
            status: parts.status.as_u16(),
            headers: parts.headers,
            json: serde_json::from_slice(&body).unwrap_or(Value::Null),
            body,
            prefix: cx.declared().text.dialect.prefix.clone(),
        };
        cx.run.journal.note(&answer, sent_body, self.key());
        if judged {
            passive::look(cx, &answer);
        }
        Ok(answer)
    }

    /// Which of the run's keys the caller uses, as the journal notes it.
    fn key(&self) -> usize {
        let keys = &self.cx.run.keys;
        let Caller::Key(key) = &self.caller else { return 0 };
        if keys.other_tenant.as_ref() == Some(key) {
            1
        } else {
            usize::from(keys.restricted.as_ref().is_some_and(|(restricted, _)| restricted == key)).saturating_mul(2)
        }
    }

    fn request(
        &self,
        method: &Method,
        url: &str,
        body: Option<&str>,
        headers: &[(&str, &str)],
    ) -> Result<Request<Bytes>, Stop> {
        let broken = |what: &str| Stop::Inconclusive(format!("{what} cannot be sent: {url}"));
        let mut request = Request::new(Bytes::new());
        *request.method_mut() = method.clone();
        *request.uri_mut() = url.parse().map_err(|_| broken("the address"))?;
        let out = request.headers_mut();
        if let Caller::Key(key) = &self.caller {
            let name = HeaderName::from_bytes(self.cx.declared().text.dialect.key_header.as_bytes());
            out.insert(
                name.map_err(|_| broken("the key header"))?,
                HeaderValue::from_str(key).map_err(|_| broken("the key"))?,
            );
        }
        if body.is_some() {
            out.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| broken("a header"))?;
            out.insert(name, HeaderValue::from_str(value).map_err(|_| broken("a header"))?);
        }
        *request.body_mut() = Bytes::from(body.unwrap_or_default().to_owned());
        Ok(request)
    }

    /// The entry point (ENT-01).
    pub(crate) async fn entry(&self) -> Result<Record, Stop> {
        let base = self.cx.run.target.base().to_owned();
        let answer = self.get(&base).await?;
        self.cx.must("ENT-01", answer.status == 200 && answer.json.is_object(), || answer.to_string())?;
        Ok(answer.record())
    }

    /// The address of a collection, from the entry point.
    pub(crate) async fn collection(&self, many: &str) -> Result<String, Stop> {
        let entry = self.entry().await?;
        let declared = self.cx.declared();
        let href = declared.collection(many).and_then(|collection| collection.href.clone());
        let href = entry.href(many).or_else(|| href.and_then(|href| address::resolve(&entry.url, &href)));
        href.ok_or_else(|| Stop::Inconclusive(format!("the entry point has no link to {many}")))
    }

    /// Reads a record again by its `self`.
    pub(crate) async fn reread(&self, record: &Record) -> Result<Record, Stop> {
        let own = record.own()?;
        let answer = self.get(&own).await?;
        self.cx.must("HAL-16", answer.status == 200 && answer.json.is_object(), || {
            format!("GET of the record's `self`: {answer}")
        })?;
        Ok(answer.record())
    }

    /// Reads what a relation of a record leads to.
    pub(crate) async fn follow(&self, record: &Record, name: &str) -> Result<Record, Stop> {
        let href = record.leads(name)?;
        let answer = self.get(&href).await?;
        if answer.status != 200 || !answer.json.is_object() {
            return Err(Stop::Inconclusive(format!("the link {name} does not lead to a document: {answer}")));
        }
        Ok(answer.record())
    }

    /// Every page of a collection, by `next` from its first; bounded, and a page met twice ends the walk (COL-24).
    pub(crate) async fn pages(&self, url: &str) -> Result<Vec<Record>, Stop> {
        let mut pages = Vec::new();
        let mut met = BTreeSet::new();
        let mut next = Some(url.to_owned());
        while let Some(url) = next {
            if !met.insert(url.clone()) {
                self.cx.holds("COL-24", false, || format!("`next` leads back to {url}, which was read before"));
                return Err(Stop::Failed);
            }
            if pages.len() >= MOST_PAGES {
                return Err(Stop::Inconclusive(format!("the collection has more than {MOST_PAGES} pages")));
            }
            let answer = self.get(&url).await?;
            if answer.status != 200 {
                self.cx.holds("COL-31", false, || answer.to_string());
                return Err(Stop::Failed);
            }
            let page = answer.record();
            next = page.link("next");
            pages.push(page);
        }
        Ok(pages)
    }

    /// Every member of a collection.
    pub(crate) async fn members(&self, url: &str) -> Result<Vec<Record>, Stop> {
        Ok(self.pages(url).await?.iter().flat_map(Record::embedded).collect())
    }

    /// The members of a collection that carry one of these markers, and how many members there are.
    pub(crate) async fn total(&self, url: &str) -> Result<Option<u64>, Stop> {
        Ok(self.get(url).await?["total_records"].as_u64())
    }

    /// A body with one more link.
    pub(crate) fn linked(&self, body: &Value, name: &str, href: &str) -> Value {
        let mut body = body.clone();
        let rel = self.cx.declared().rel(name);
        if let Some(members) = body.as_object_mut() {
            let links = members.entry("_links").or_insert_with(|| json!({}));
            if let Some(links) = links.as_object_mut() {
                links.insert(rel, json!({ "href": href }));
            }
        }
        body
    }
}

/// How long the target asks to wait; only 429 and 503 do.
fn waiting(answer: &Answer) -> Option<Duration> {
    if !matches!(answer.status, 429 | 503) {
        return None;
    }
    let seconds = answer.header("retry-after")?.trim().parse::<u64>().ok()?;
    Some(Duration::from_secs(seconds.clamp(1, 30)))
}

impl Answer {
    /// Whether the status is one of success.
    pub(crate) const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }

    /// Whether the status is one of a create: 200 and 201 are both conformant (CRU-13).
    pub(crate) const fn is_created(&self) -> bool {
        matches!(self.status, 200 | 201)
    }

    /// Whether the request was refused.
    pub(crate) const fn is_refused(&self) -> bool {
        matches!(self.status, 400..=499)
    }

    pub(crate) fn record(&self) -> Record {
        Record { url: self.url.clone(), json: self.json.clone(), prefix: self.prefix.clone() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The error object (ERR-01), if there is one.
    pub(crate) fn error(&self) -> Option<&Value> {
        self.json.get(format!("{}:error", self.prefix)).filter(|error| error.is_object())
    }

    /// The outcome of each resource (ERR-20).
    pub(crate) fn entries(&self) -> &[Value] {
        self.error().and_then(|error| error["resource_status"].as_array()).map_or(&[], Vec::as_slice)
    }

    /// Every description, under either spelling of its entry (ERR-33), or bare at the top (ERR-02).
    pub(crate) fn problems(&self) -> Vec<Problem> {
        if self.error().is_some() {
            return self.entries().iter().flat_map(descriptions).map(Problem::read).collect();
        }
        match &self.json {
            Value::Array(list) => list.iter().map(Problem::read).collect(),
            Value::Object(object) if object.contains_key("error_code") || object.contains_key("description") => {
                vec![Problem::read(&self.json)]
            }
            _ => Vec::new(),
        }
    }

    /// Whether the answer is a 400 with a description that names this property.
    pub(crate) fn names(&self, property: &str) -> bool {
        self.status == 400 && self.problems().iter().any(|p| p.properties.iter().any(|name| name == property))
    }

    /// Whether the answer is a 400 with this code that names this property.
    pub(crate) fn refuses(&self, code: &str, property: &str) -> bool {
        let same = |p: &Problem| p.code == code && p.properties.iter().any(|name| name == property);
        self.status == 400 && self.problems().iter().any(same)
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text: String = self.text().chars().take(600).collect();
        write!(f, "{} -> {} {text}", self.request, self.status)
    }
}

/// One description of an error (ERR-24 to ERR-28).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) code: String,
    pub(crate) properties: Vec<String>,
    /// Whether it names properties at all; it need not (ERR-26).
    pub(crate) has_properties: bool,
    pub(crate) hint: Option<String>,
}

impl Problem {
    fn read(value: &Value) -> Self {
        let code = value.get("error_code").or_else(|| value.get("code")).and_then(Value::as_str);
        let properties = value["properties"].as_array().map_or(&[][..], Vec::as_slice);
        Self {
            code: code.unwrap_or_default().to_owned(),
            properties: properties.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
            has_properties: value["properties"].is_array(),
            hint: value["hint"].as_str().map(ToOwned::to_owned),
        }
    }
}

/// The descriptions of one entry, under either spelling (ERR-33).
pub(crate) fn descriptions(entry: &Value) -> &[Value] {
    let list = entry.get("error_descriptions").or_else(|| entry.get("errors"));
    list.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

impl Record {
    /// The absolute address under a relation as it stands, such as `self` or `next`.
    pub(crate) fn link(&self, rel: &str) -> Option<String> {
        let href = self["_links"].get(rel)?.get("href")?.as_str()?;
        address::resolve(&self.url, href)
    }

    /// The absolute address under a relation of the interface, without prefix.
    pub(crate) fn href(&self, name: &str) -> Option<String> {
        self.link(&format!("{}:{name}", self.prefix))
    }

    /// As [`Record::href`]; what lacks it ends the check.
    pub(crate) fn leads(&self, name: &str) -> Result<String, Stop> {
        self.href(name).ok_or_else(|| Stop::Inconclusive(format!("there is no link {name} in {}", self.short())))
    }

    /// The record's own address (HAL-16).
    pub(crate) fn own(&self) -> Result<String, Stop> {
        self.link("self").ok_or_else(|| Stop::Inconclusive(format!("there is no link self in {}", self.short())))
    }

    /// The members of a page (COL-28).
    pub(crate) fn embedded(&self) -> Vec<Self> {
        let mut lists = self["_embedded"].as_object().into_iter().flat_map(serde_json::Map::values);
        let list = lists.find_map(Value::as_array).map_or(&[][..], Vec::as_slice);
        list.iter().map(|json| Self { json: json.clone(), ..self.clone() }).collect()
    }

    /// The identifiers (TYP-13).
    pub(crate) fn identifiers(&self) -> Vec<&str> {
        let list = self["identifiers"].as_array().map_or(&[][..], Vec::as_slice);
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

impl std::ops::Index<&str> for Answer {
    type Output = Value;

    /// A member of the body; null where there is none.
    fn index(&self, name: &str) -> &Value {
        self.json.get(name).unwrap_or(&Value::Null)
    }
}

impl std::ops::Index<&str> for Record {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.json.get(name).unwrap_or(&Value::Null)
    }
}

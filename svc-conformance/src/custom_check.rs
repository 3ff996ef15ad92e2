//! Custom checks: written for one server, or recorded in its explorer and exported.
//! [`Suite::run_custom`](crate::Suite::run_custom) runs one.

use std::time::{SystemTime, UNIX_EPOCH};

use http::header::HeaderName;
use http::{Method, StatusCode};
use serde_json::Value;

use crate::response::Representation;

pub use crate::check::{Check, CheckContext, CheckFuture};
pub use crate::outcome::CheckStop;

/// A request before it is sent.
#[derive(Debug)]
pub struct StepRequest<'c> {
    cx: &'c CheckContext,
    number: u32,
    method: &'c str,
    address: String,
    headers: Vec<(&'c str, String)>,
    body: Option<String>,
    has_key: bool,
}

/// A response, or an item in one.
#[derive(Debug)]
pub struct StepResponse {
    number: u32,
    record: Representation,
    /// The `ETag`. Empty if there is none.
    pub tag: String,
}

impl CheckContext {
    /// Returns the URL of the entry point.
    #[must_use]
    pub fn base(&self) -> &str {
        self.run.target.base()
    }

    /// Returns a value for `Idempotency-Key` that no other request has.
    #[must_use]
    pub fn new_idempotency_key(&self) -> String {
        // A second run with the same seed must use another value.
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        format!("{}-{}", self.unique(), now.as_nanos())
    }

    /// Creates a request with the primary key. Its number is reported if the response is not as
    /// expected.
    #[must_use]
    pub fn request<'c>(&'c self, number: u32, method: &'c str, address: &str) -> StepRequest<'c> {
        StepRequest {
            cx: self,
            number,
            method,
            address: address.to_owned(),
            headers: Vec::new(),
            body: None,
            has_key: true,
        }
    }
}

impl<'c> StepRequest<'c> {
    /// Removes the key.
    #[must_use]
    pub fn without_key(self) -> Self {
        Self {
            has_key: false,
            ..self
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &'c str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Sets a JSON body, of which the server must not ignore anything.
    #[must_use]
    pub fn body(self, body: &str) -> Self {
        Self {
            body: Some(body.to_owned()),
            ..self
        }
        .header("Prefer", "handling=strict")
    }

    /// Sends the request. The response must have this status and name these errors. It is also
    /// checked as every response is.
    ///
    /// # Errors
    /// Returns an error if there is another response, or none.
    pub async fn send_expecting(
        self,
        status: u16,
        codes: &[&str],
    ) -> Result<StepResponse, CheckStop> {
        let Self {
            cx,
            number,
            method,
            address,
            headers,
            body,
            has_key,
        } = self;
        let broken = |what: &str| {
            CheckStop::UnexpectedResponse(format!("step {number}: {what} cannot be sent"))
        };
        let method = Method::from_bytes(method.as_bytes()).map_err(|_| broken(method))?;
        let name = |name: &str| HeaderName::from_bytes(name.as_bytes()).map_err(|_| broken(name));
        let headers = headers
            .iter()
            .map(|(of, value)| Ok((name(of)?, value.as_str())))
            .collect::<Result<Vec<_>, CheckStop>>()?;
        let caller = if has_key { cx.api() } else { cx.anonymous() }.without_if_match();
        let created = method == Method::POST;
        let answer = caller.send_with(method, &address, body, &headers).await;
        // Without a response, the sequence is not finished, regardless of the requirement.
        let answer = answer.map_err(|stop| match (stop, cx.first_finding()) {
            (CheckStop::Failed, Some(found)) => {
                CheckStop::UnexpectedResponse(format!("step {number}: {found}"))
            }
            (stop, _) => stop,
        })?;
        // The clean-up also deletes what a custom check creates, even without a marker of the run.
        if created
            && answer.status == StatusCode::CREATED
            && let Some(own) = answer.document.link("self")
        {
            cx.run.journal.created_at(own, None, 0);
        }
        let found = answer.problems();
        let is_named = |code: &&str| found.iter().any(|problem| problem.code == **code);
        if answer.status != status || !codes.iter().all(is_named) {
            let wanted = format!("{status} {}", codes.join(" "));
            return Err(CheckStop::UnexpectedResponse(format!(
                "step {number}: expected {}, found {answer}",
                wanted.trim_end()
            )));
        }
        let tag = answer.header("etag").unwrap_or_default().to_owned();
        Ok(StepResponse {
            number,
            record: answer.record(),
            tag,
        })
    }
}

impl StepResponse {
    /// Returns the URL at this path, such as `["_links", "self", "href"]`.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn url_at(&self, names: &[&str]) -> Result<String, CheckStop> {
        let found = names
            .iter()
            .try_fold(&self.record.json, |found, name| found.get(name));
        let found = found
            .and_then(Value::as_str)
            .and_then(|href| self.record.resolved(href));
        found.ok_or_else(|| self.missing_member(&names.join(" ")))
    }

    /// Returns the embedded item with this identifier.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn item(&self, relation: &str, identifier: &str) -> Result<Self, CheckStop> {
        let found = self.items(relation).find(|item| item.carries(identifier));
        found
            .map(|item| self.beside(item))
            .ok_or_else(|| self.missing_member(&format!("item {identifier} of {relation}")))
    }

    /// Returns the embedded item at this position.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub fn nth(&self, relation: &str, place: usize) -> Result<Self, CheckStop> {
        let found = self.items(relation).nth(place);
        found
            .map(|item| self.beside(item))
            .ok_or_else(|| self.missing_member(&format!("item of {relation} at {place}")))
    }

    fn items(&self, relation: &str) -> impl Iterator<Item = Representation> {
        let items = self.record["_embedded"]
            .get(relation)
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        items.map(|json| self.record.beside(json.clone()))
    }

    const fn beside(&self, record: Representation) -> Self {
        Self {
            number: self.number,
            record,
            tag: String::new(),
        }
    }

    fn missing_member(&self, what: &str) -> CheckStop {
        CheckStop::UnexpectedResponse(format!("step {}: the response has no {what}", self.number))
    }
}

/// Returns the id in the URL of a record: its last segment.
#[must_use]
pub fn id_from_url(address: &str) -> &str {
    let path = address
        .split('?')
        .next()
        .unwrap_or_default()
        .trim_end_matches('/');
    path.rsplit('/').next().unwrap_or_default()
}

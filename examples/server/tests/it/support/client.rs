//! A client for JSON over a raw connection.

use std::net::SocketAddr;

use serde_json::Value;

use super::{Answer, Raw, TestResult};

/// A client with or without a key.
pub(crate) struct Client {
    raw: Raw,
    key: Option<String>,
    key_header: String,
    is_strict: bool,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr, key: Option<&str>) -> TestResult<Self> {
        let key_header = "SVC-API-Token".to_owned();
        Ok(Self {
            raw: Raw::connect(address).await?,
            key: key.map(str::to_owned),
            key_header,
            is_strict: true,
        })
    }

    /// Sets another name of the key header.
    pub(crate) fn key_header(self, name: &str) -> Self {
        Self {
            key_header: name.to_owned(),
            ..self
        }
    }

    /// Disables strict handling: ignored members are not errors.
    ///
    /// Requirements: UND-22.
    pub(crate) fn lenient(self) -> Self {
        Self {
            is_strict: false,
            ..self
        }
    }

    /// Sends a request to an absolute URL, or to a path.
    pub(crate) async fn send(
        &mut self,
        method: &str,
        address: &str,
        body: Option<&Value>,
    ) -> TestResult<Answer> {
        self.send_with(method, address, body, "").await
    }

    /// Posts with an idempotency key, so that the request can be repeated.
    ///
    /// Requirements: IDM-01.
    pub(crate) async fn post_again(
        &mut self,
        address: &str,
        body: &Value,
        key: &str,
    ) -> TestResult<Answer> {
        self.send_with(
            "POST",
            address,
            Some(body),
            &format!("Idempotency-Key: \"{key}\"\r\n"),
        )
        .await
    }

    async fn send_with(
        &mut self,
        method: &str,
        address: &str,
        body: Option<&Value>,
        more: &str,
    ) -> TestResult<Answer> {
        let path = match address.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |slash| &rest[slash..]),
            None => address,
        };
        let key = self
            .key
            .as_ref()
            .map(|key| format!("{}: {key}\r\n", self.key_header))
            .unwrap_or_default();
        let body = body.map(Value::to_string).unwrap_or_default();
        let media = match (body.is_empty(), self.is_strict) {
            (true, _) => "",
            (false, true) => "Content-Type: application/json\r\nPrefer: handling=strict\r\n",
            (false, false) => "Content-Type: application/json\r\n",
        };
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\n{key}{media}{more}Content-Length: {length}\r\n\r\n{body}"
        );
        self.raw.send(&head).await?;
        self.raw.answer().await
    }

    /// Reads the document at a URL.
    pub(crate) async fn get(&mut self, address: &str) -> TestResult<Value> {
        let answer = self.send("GET", address, None).await?;
        if answer.status != 200 {
            return Err(format!("GET {address}: {} {}", answer.status, answer.text()).into());
        }
        Ok(serde_json::from_slice(&answer.body)?)
    }

    /// Posts, and expects success.
    pub(crate) async fn post(&mut self, address: &str, body: &Value) -> TestResult<Value> {
        let answer = self.send("POST", address, Some(body)).await?;
        if !(200..300).contains(&answer.status) {
            return Err(format!("POST {address}: {} {}", answer.status, answer.text()).into());
        }
        Ok(serde_json::from_slice(&answer.body)?)
    }

    /// Returns every member of a collection, page by page.
    pub(crate) async fn walk(&mut self, address: &str) -> TestResult<Vec<Value>> {
        let mut next = Some(format!("{address}?per_page=100"));
        let mut members = Vec::new();
        while let Some(address) = next {
            let page = self.get(&address).await?;
            let embedded = page["_embedded"]
                .as_object()
                .and_then(|all| all.values().next())
                .ok_or("no members")?;
            members.extend(embedded.as_array().ok_or("no array")?.iter().cloned());
            next = link(&page, "next").ok();
        }
        Ok(members)
    }
}

/// Returns the URL of a link of a document.
pub(crate) fn link(document: &Value, name: &str) -> TestResult<String> {
    let href = document["_links"][name]["href"].as_str();
    Ok(href
        .ok_or_else(|| format!("no link {name} in {document}"))?
        .to_owned())
}

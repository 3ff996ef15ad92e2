//! The server that receives the import.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Request, Response, Uri};
use http_body::Body;
use http_body_util::Full;
use hyper::body::Incoming;
use serde_json::{Value, json};
use svc_core::filter::name_key;
use svc_core::helper::HelperName;
use svc_core::model::Kind;
use svc_import::{ActionKind, error_text};

use super::container;
use crate::demo::StartupError;
use crate::demo::remote::{body, document, exchange, link, reachable};

/// The URL of the batch of the helper, and what else an import needs of the server.
#[derive(Debug)]
pub(in crate::demo) struct ImportTarget {
    entry_point: String,
    /// The links of the entry point.
    links: Value,
    batch: Uri,
    /// Whether the batch can be previewed.
    previews: bool,
    key_header: HeaderName,
}

impl ImportTarget {
    /// Finds the batch by the links of an entry point. The actions are those of a container with this title, name or
    /// URL.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not respond, does not support batches of the helper, or has no such
    /// container.
    pub(in crate::demo) async fn find(
        entry_point: &str,
        key: &HeaderValue,
        (action, container): (Option<ActionKind>, Option<&str>),
    ) -> Result<Self, StartupError> {
        let hint = "Set --url to the entry point of a running server, such as http://localhost:8080/api/v1/.";
        let failed = |why: String| {
            StartupError::new(
                format!("The server at {entry_point} cannot be used: {why}."),
                entry_point,
                hint,
            )
        };
        let read = async |url: &str| document(Request::get(url)).await.map_err(&failed);
        let mut start = read(entry_point).await?;
        let links = start.get_mut("_links").map(Value::take).unwrap_or_default();
        let about = link(&links, |name| name == "service-meta")
            .ok_or_else(|| failed("the URL is not an entry point".to_owned()))?;
        let about = read(&reachable(entry_point, about)).await?;
        let behaviours = about.get("behaviours").and_then(Value::as_array);
        let declares = |name| behaviours.is_some_and(|all| all.iter().any(|one| one == name));
        let (has_batches, previews) = (declares("batch"), declares("batch.preview"));
        let header = about
            .pointer("/dialect/key_header")
            .and_then(Value::as_str)
            .and_then(|name| name.parse().ok());
        let key_header =
            header.ok_or_else(|| failed("its capability document cannot be read".to_owned()))?;
        let mut target = Self {
            entry_point: entry_point.to_owned(),
            links,
            batch: Uri::default(),
            previews,
            key_header,
        };
        let helper = match action.filter(|_| has_batches) {
            Some(action) => Some(container::helper(&target, key, action, container).await?),
            None => link(&target.links, |name| {
                name.ends_with(":person_signup_helper")
            })
            .filter(|_| has_batches)
            .map(str::to_owned),
        };
        let helper = helper.ok_or_else(|| {
            let helper = action.map_or(HelperName::PersonSignup, ActionKind::helper).as_str();
            let remedy = format!("Use a server whose capability document declares `batch` and that offers helper.{helper}.");
            StartupError::new(
                format!("The server does not support batches of the helper {helper}."),
                entry_point,
                remedy,
            )
        })?;
        let batch = format!("{}/batch", helper.trim_end_matches('/'));
        let batch = reachable(entry_point, &batch).parse();
        target.batch = batch.map_err(|_| failed(format!("{helper} is not a URL")))?;
        Ok(target)
    }

    /// Returns the path of the batch.
    pub(super) fn batch_path(&self) -> &str {
        self.batch.path()
    }

    async fn read(&self, key: &HeaderValue, url: &str) -> Result<Value, String> {
        let request = Request::get(reachable(&self.entry_point, url));
        document(request.header(&self.key_header, key)).await
    }

    /// Passes the records of a kind to a function, until it returns that it needs no more.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not return all records of the kind.
    pub(super) async fn each(
        &self,
        key: &HeaderValue,
        kind: Kind,
        mut take: impl FnMut(&Value) -> bool,
    ) -> Result<(), String> {
        let mut next = self.collection(kind);
        while let Some(page) = next {
            let page = self.read(key, &page).await?;
            let records = page.get("_embedded").and_then(Value::as_object);
            let records = records.into_iter().flat_map(|all| all.values());
            for record in records.filter_map(Value::as_array).flatten() {
                if !take(record) {
                    return Ok(());
                }
            }
            let links = page.get("_links").unwrap_or(&Value::Null);
            next = link(links, |name| name == "next").map(str::to_owned);
        }
        Ok(())
    }

    /// Returns the URL that the user has entered.
    pub(super) fn entry_point(&self) -> &str {
        &self.entry_point
    }

    /// Whether the server can say what an import would change.
    pub(in crate::demo) fn previews(&self) -> bool {
        self.previews
    }

    /// Starts to send lines. The response starts before the request has ended. Without an idempotency key, it is
    /// only a preview.
    pub(in crate::demo) async fn send<B>(
        &self,
        key: &HeaderValue,
        name: Option<&str>,
        lines: B,
    ) -> Result<Response<Incoming>, String>
    where
        B: Body<Data = Bytes, Error = io::Error> + Send + 'static,
    {
        let request = match name {
            Some(name) => {
                Request::post(self.batch.clone()).header("idempotency-key", format!("\"{name}\""))
            }
            None => Request::post(format!("{}?preview=true", self.batch)),
        };
        let request = request
            .header(CONTENT_TYPE, "application/x-ndjson")
            .header(&self.key_header, key);
        exchange(request.body(lines).map_err(|error| error.to_string())?).await
    }

    /// Returns those of the names that no tag or list has, each once. The server compares names without their case.
    ///
    /// # Errors
    ///
    /// Returns an error if the server does not return all records of the kind.
    pub(in crate::demo) async fn missing(
        &self,
        key: &HeaderValue,
        kind: Kind,
        names: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, String> {
        let mut missing: BTreeMap<String, &String> = BTreeMap::new();
        let form = |name: &str| name_key(kind, name).map(|key| key.text().to_owned());
        for name in names {
            if let Some(form) = form(name) {
                missing.entry(form).or_insert(name);
            }
        }
        let read = self.each(key, kind, |record| {
            let name = record.get("name").and_then(Value::as_str);
            if let Some(form) = name.and_then(form) {
                missing.remove(&form);
            }
            !missing.is_empty()
        });
        read.await?;
        Ok(missing.into_values().cloned().collect())
    }

    /// Creates a tag or a list.
    ///
    /// # Errors
    ///
    /// Returns an error if the server rejects it.
    pub(in crate::demo) async fn create(
        &self,
        key: &HeaderValue,
        kind: Kind,
        name: &str,
    ) -> Result<(), String> {
        let url = self.collection(kind);
        let url = url.ok_or_else(|| format!("the server has no {}", kind.plural()))?;
        let request = Request::post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(&self.key_header, key)
            .body(Full::from(json!({ "name": name }).to_string()));
        let response = exchange(request.map_err(|error| error.to_string())?).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(());
        }
        let why = error_text(&serde_json::from_slice(&body(response).await?).unwrap_or_default());
        Err(format!("`{name}` was rejected with status {status}. {why}"))
    }

    /// Returns the URL of the records of a kind.
    fn collection(&self, kind: Kind) -> Option<String> {
        let wanted = format!(":{}", kind.plural());
        let url = link(&self.links, |name| name.ends_with(&wanted))?;
        Some(reachable(&self.entry_point, url))
    }
}

//! The preparation of a run: connects to the target, reads its declaration, and opens the journal.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, LOCATION};
use http::{Request, Response, StatusCode};
use serde_json::Value;

use super::access::refused;
use super::{DeclarationInput, Suite, SuiteError};
use crate::address;
use crate::client::{MOST_RETRIES, waiting};
use crate::declared::{self, Declaration, DeclarationSource, DeclaredApi};
use crate::journal::{Journal, JournalHeader};
use crate::receiver::Receiver;
use crate::recorder::Recorder;
use crate::run_context::RunContext;
use crate::seed::Seed;
use crate::values::display_text;

impl Suite {
    /// Connects to the target and finds out what it declares.
    pub(crate) async fn prepare(&self) -> Result<RunContext, SuiteError> {
        let recorder = Arc::new(Recorder::new(self.keys.secrets()));
        let mut settings = self.settings.clone();
        let (entry, mut text, source) = match &self.stated {
            DeclarationInput::Given(declaration, source) => {
                let entry = self
                    .entry(&recorder, &declaration.dialect.key_header)
                    .await?;
                (entry.1, declaration.as_ref().clone(), *source)
            }
            DeclarationInput::Published => {
                let (entry, text) = self.published(&recorder).await?;
                (entry, text, DeclarationSource::Published)
            }
        };
        let is_local = || self.target.is_local() && self.links_are_local(&entry);
        settings.writes = self.selection.profile.writes() && self.writes.unwrap_or_else(is_local);
        if let Some(prefix) = &self.prefix {
            text.dialect.prefix.clone_from(prefix);
        }
        if let Some(name) = &self.key_header {
            text.dialect.key_header.clone_from(name);
        }
        text.fixture.extend(self.fixtures.clone());
        if let Some(nonce) = &self.nonce {
            let is_word = nonce
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
            if !is_word || !(8..=32).contains(&nonce.len()) {
                let needed = "it must have 8 to 32 lower-case letters and digits";
                return Err(SuiteError::Usage(format!(
                    "the nonce `{}`: {needed}",
                    display_text(nonce, 40)
                )));
            }
        }
        let declared = DeclaredApi::new(text, source);
        let started = JournalHeader {
            token: self.nonce.clone().unwrap_or_else(random),
            base: self.target.base().to_owned(),
            prefix: declared.text.dialect.prefix.clone(),
            key_header: declared.text.dialect.key_header.clone(),
            identifiers: declared.has_identifiers(),
            began: chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        };
        let journal = Journal::open(self.journal.as_deref(), started)?;
        let mut run = RunContext::new(
            Arc::clone(&self.target),
            declared,
            self.keys.clone(),
            recorder,
            settings,
            journal,
        );
        if let Some(address) = &self.receiver {
            let broken = |error| {
                SuiteError::Usage(format!(
                    "the webhook receiver cannot listen on {}: {error}",
                    address.listen
                ))
            };
            run.receiver = Some(Receiver::start(address).await.map_err(broken)?);
        }
        run.fixtures = self.fixtures(&run).await?;
        run.fixtures.values().for_each(|record| run.protect(record));
        Ok(run)
    }

    /// Returns the entry point, requested with the key if anonymous callers cannot read it.
    async fn entry(&self, recorder: &Recorder, header: &str) -> Result<(u16, Value), SuiteError> {
        let base = self.target.base();
        let mut answer = self.respond(recorder, base, None).await?;
        if let Some(key) = self
            .keys
            .primary
            .as_ref()
            .filter(|_| !answer.status().is_success() || elsewhere(base, &answer).is_some())
        {
            let header = self.key_header.as_deref().unwrap_or(header);
            answer = self
                .respond(recorder, base, Some((header.to_owned(), key.clone())))
                .await?;
        }
        match elsewhere(base, &answer) {
            Some(what) => Err(SuiteError::NotAnEntryPoint(what)),
            None => Ok(read(&answer)),
        }
    }

    /// Whether the links of the entry point refer to this machine. With a tunnel or a
    /// forwarded port they often do not.
    fn links_are_local(&self, entry: &Value) -> bool {
        let links = entry
            .get("_links")
            .and_then(Value::as_object)
            .into_iter()
            .flatten();
        let of_interface = links.filter(|(rel, _)| *rel == "self" || rel.contains(':'));
        let mut hrefs = of_interface.filter_map(|(_, link)| {
            address::resolve(self.target.base(), link.get("href")?.as_str()?)
        });
        hrefs.all(|url| self.target.is_local_url(&url))
    }

    /// Returns the entry point, and the declaration that it links.
    ///
    /// Requirements: UND-40.
    async fn published(&self, recorder: &Recorder) -> Result<(Value, Declaration), SuiteError> {
        let base = self.target.base();
        // Only the default header can be known here.
        let header = declared::Declaration::default().dialect.key_header;
        let entry = self.entry(recorder, &header).await?;
        if matches!(entry.0, 401 | 403) && self.keys.primary.is_some() && !self.trust_keys {
            let header = self.key_header.as_ref().unwrap_or(&header);
            return Err(refused("the key", "--key", base, header, entry.0));
        }
        let links = entry
            .1
            .get("_links")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let link = links.get("service-meta");
        let href = link
            .and_then(|link| link["href"].as_str())
            .and_then(|href| address::resolve(base, href));
        let none = || {
            SuiteError::NotPublished(format!(
                "the entry point {base} has no link `service-meta` to its capabilities"
            ))
        };
        let (status, document) = self.fetch(recorder, &href.ok_or_else(none)?, None).await?;
        if status != 200 {
            return Err(SuiteError::NotPublished(format!(
                "its URL returns {status}"
            )));
        }
        Ok((entry.1, declared::read(&document.to_string())?))
    }

    /// Returns the status and the JSON at a URL.
    pub(super) async fn fetch(
        &self,
        recorder: &Recorder,
        url: &str,
        key: Option<(String, String)>,
    ) -> Result<(u16, Value), SuiteError> {
        Ok(read(&self.respond(recorder, url, key).await?))
    }

    async fn respond(
        &self,
        recorder: &Recorder,
        url: &str,
        key: Option<(String, String)>,
    ) -> Result<Response<Bytes>, SuiteError> {
        let broken = || SuiteError::Usage(format!("`{url}` is not a valid URL"));
        let mut request = Request::get(url).body(Bytes::new()).map_err(|_| broken())?;
        if let Some((name, key)) = key {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| broken())?;
            request
                .headers_mut()
                .insert(name, key.parse().map_err(|_| broken())?);
        }
        let mut tries = 0_usize;
        loop {
            let began = Instant::now();
            let answer = self
                .target
                .send(
                    request.clone(),
                    self.settings.body_limit,
                    self.settings.timeout,
                )
                .await;
            recorder.record("declaration", &request, &answer, began.elapsed());
            let response = answer?;
            let wait = waiting(response.status().as_u16(), response.headers(), tries);
            let Some(wait) = wait.filter(|_| tries < MOST_RETRIES) else {
                return Ok(response);
            };
            tries = tries.saturating_add(1);
            self.target.wait(wait).await;
        }
    }
}

/// Returns the status and the JSON of a response.
fn read(answer: &Response<Bytes>) -> (u16, Value) {
    (
        answer.status().as_u16(),
        serde_json::from_slice(answer.body()).unwrap_or(Value::Null),
    )
}

/// Returns what is at the URL instead of an entry point, and what to do: a redirect or an HTML
/// page.
fn elsewhere(base: &str, answer: &Response<Bytes>) -> Option<String> {
    let header = |name: HeaderName| {
        answer
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    if answer.status().is_redirection() {
        let to = header(LOCATION).and_then(|to| address::resolve(base, to));
        let to = to.map_or_else(
            || "elsewhere".to_owned(),
            |to| format!("to {}", display_text(&to, 200)),
        );
        return Some(format!(
            "the entry point {base} redirects {to}: use the URL to which it redirects"
        ));
    }
    if answer.status() == StatusCode::TOO_MANY_REQUESTS {
        return Some(format!(
            "the entry point {base} returns 429, even after waiting: try again later, or with another key"
        ));
    }
    let is_page = header(CONTENT_TYPE).is_some_and(|media| {
        media
            .trim_start()
            .to_ascii_lowercase()
            .starts_with("text/html")
    });
    (answer.status().is_success() && is_page).then(|| {
        format!(
            "{base} is an HTML page (text/html): use the URL of the entry point, which returns JSON"
        )
    })
}

/// Returns a word that no other run has.
fn random() -> String {
    Seed::new(RandomState::new().hash_one("nonce")).token()
}

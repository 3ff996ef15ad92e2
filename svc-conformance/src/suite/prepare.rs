//! What comes before a run: the target is reached, its declaration read, and the journal opened.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::Request;
use http::header::HeaderName;
use serde_json::Value;

use super::access::refused;
use super::{Stated, Suite, SuiteError};
use crate::address;
use crate::client::{MOST_RETRIES, waiting};
use crate::declared::{self, Declaration, Declared, Source};
use crate::journal::{Journal, Started};
use crate::profile::Profile;
use crate::recorder::Recorder;
use crate::run::Run;
use crate::seed::Seed;

impl Suite {
    /// Reaches the target and finds out what it declares.
    pub(crate) async fn prepare(&self) -> Result<Run, SuiteError> {
        let recorder = Arc::new(Recorder::new(self.keys.secrets()));
        let mut settings = self.settings.clone();
        let (entry, mut text, source) = match &self.stated {
            Stated::Given(declaration, source) => {
                let entry = self.entry(&recorder, &declaration.dialect.key_header).await?;
                (entry.1, declaration.as_ref().clone(), *source)
            }
            Stated::Published => {
                let (entry, text) = self.published(&recorder).await?;
                (entry, text, Source::Published)
            }
        };
        let is_local = || self.target.is_local() && self.keeps_local(&entry);
        settings.writes = self.profile != Profile::ReadOnly && self.writes.unwrap_or_else(is_local);
        if let Some(prefix) = &self.prefix {
            text.dialect.prefix.clone_from(prefix);
        }
        if let Some(name) = &self.key_header {
            text.dialect.key_header.clone_from(name);
        }
        text.fixture.extend(self.fixtures.clone());
        let declared = Declared::new(text, source);
        let started = Started {
            token: self.nonce.clone().unwrap_or_else(random),
            base: self.target.base().to_owned(),
            prefix: declared.text.dialect.prefix.clone(),
            key_header: declared.text.dialect.key_header.clone(),
            identifiers: declared.has_identifiers(),
            began: chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        };
        let journal = Journal::open(self.journal.as_deref(), started)?;
        let mut run = Run::new(Arc::clone(&self.target), declared, (self.keys.clone(), recorder), settings, journal);
        run.fixtures = self.fixtures(&run).await?;
        run.fixtures.values().for_each(|record| run.keep(record));
        Ok(run)
    }

    /// The entry point, with the key where strangers do not see it.
    async fn entry(&self, recorder: &Recorder, header: &str) -> Result<(u16, Value), SuiteError> {
        let entry = self.fetch(recorder, self.target.base(), None).await?;
        let header = self.key_header.as_deref().unwrap_or(header);
        match &self.keys.primary {
            Some(key) if !(200..300).contains(&entry.0) => {
                self.fetch(recorder, self.target.base(), Some((header.to_owned(), key.clone()))).await
            }
            _ => Ok(entry),
        }
    }

    /// Whether the relations of the interface lead to this machine: what a tunnel or a forwarded port leads to often does not.
    fn keeps_local(&self, entry: &Value) -> bool {
        let links = entry.get("_links").and_then(Value::as_object).into_iter().flatten();
        let of_interface = links.filter(|(rel, _)| *rel == "self" || rel.contains(':'));
        let mut hrefs =
            of_interface.filter_map(|(_, link)| address::resolve(self.target.base(), link.get("href")?.as_str()?));
        hrefs.all(|url| self.target.keeps_local(&url))
    }

    /// The entry point, and the declaration that it links (UND-40).
    async fn published(&self, recorder: &Recorder) -> Result<(Value, Declaration), SuiteError> {
        let base = self.target.base();
        // The default header is the only one that can be known here.
        let header = declared::Declaration::default().dialect.key_header;
        let entry = self.entry(recorder, &header).await?;
        if matches!(entry.0, 401 | 403) && self.keys.primary.is_some() && !self.trust_keys {
            let header = self.key_header.as_ref().unwrap_or(&header);
            return Err(refused(("the key", "--key"), base, header, entry.0));
        }
        let links = entry.1.get("_links").and_then(Value::as_object).cloned().unwrap_or_default();
        let link = links.get("service-meta");
        let href = link.and_then(|link| link["href"].as_str()).and_then(|href| address::resolve(base, href));
        let none = || {
            SuiteError::NotPublished(format!("the entry point {base} has no link `service-meta` to its capabilities"))
        };
        let (status, document) = self.fetch(recorder, &href.ok_or_else(none)?, None).await?;
        if status != 200 {
            return Err(SuiteError::NotPublished(format!("its address answers {status}")));
        }
        Ok((entry.1, declared::read(&document.to_string())?))
    }

    pub(super) async fn fetch(
        &self,
        recorder: &Recorder,
        url: &str,
        key: Option<(String, String)>,
    ) -> Result<(u16, Value), SuiteError> {
        let broken = || SuiteError::Usage(format!("`{url}` is no address"));
        let mut request = Request::get(url).body(Bytes::new()).map_err(|_| broken())?;
        if let Some((name, key)) = key {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| broken())?;
            request.headers_mut().insert(name, key.parse().map_err(|_| broken())?);
        }
        let mut tries = 0_usize;
        let response = loop {
            let began = Instant::now();
            let answer = self.target.send(request.clone(), self.settings.body_limit, self.settings.timeout).await;
            recorder.record("declaration", &request, &answer, began.elapsed());
            let response = answer?;
            let wait = waiting(response.status().as_u16(), response.headers()).filter(|_| tries < MOST_RETRIES);
            let Some(wait) = wait else { break response };
            tries = tries.saturating_add(1);
            self.target.wait(wait.min(self.settings.timeout)).await;
        };
        Ok((response.status().as_u16(), serde_json::from_slice(response.body()).unwrap_or(Value::Null)))
    }
}

/// A word that no other run has.
fn random() -> String {
    Seed::new(RandomState::new().hash_one("nonce")).token()
}

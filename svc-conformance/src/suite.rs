//! The suite as a library: a target, a declaration, keys, and a run that ends in a report.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http::header::HeaderName;
use serde_json::Value;

use crate::address;
use crate::catalogue::{Catalogue, Row};
use crate::check::{Check, Intensity};
use crate::checks;
use crate::clean_up;
use crate::condition::Met;
use crate::declared::{self, Declaration, DeclarationError, Declared, Source};
use crate::journal::{Journal, Started};
use crate::plan::{Plan, Planned};
use crate::profile::Profile;
use crate::recorder::Recorder;
use crate::report::Report;
use crate::run::{Run, Settings};
use crate::runner;
use crate::seed::Seed;
use crate::select::{Selection, Waiver};
use crate::target::{Target, TargetError};

/// The keys that a run may use.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Keys {
    pub(crate) primary: Option<String>,
    pub(crate) other_tenant: Option<String>,
    pub(crate) restricted: Option<(String, String)>,
}

impl Keys {
    /// No key: only what needs none can be judged.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The key that may do everything the server declares.
    #[must_use]
    pub fn primary(key: impl Into<String>) -> Self {
        Self { primary: Some(key.into()), ..Self::default() }
    }

    /// A key whose data is apart from that of the primary key (COL-02, AUT-02).
    #[must_use]
    pub fn other_tenant(mut self, key: impl Into<String>) -> Self {
        self.other_tenant = Some(key.into());
        self
    }

    /// A key that lacks one operation, such as `people.create` (AUT-04).
    #[must_use]
    pub fn restricted(mut self, key: impl Into<String>, lacks: impl Into<String>) -> Self {
        self.restricted = Some((key.into(), lacks.into()));
        self
    }

    /// Every key with the name that stands for it in recordings.
    pub(crate) fn secrets(&self) -> Vec<(String, String)> {
        let restricted = self.restricted.as_ref().map(|(key, _)| key);
        let keys = [
            (self.primary.as_ref(), "<key>"),
            (self.other_tenant.as_ref(), "<other key>"),
            (restricted, "<restricted key>"),
        ];
        keys.into_iter().filter_map(|(key, name)| Some((key?.clone(), name.to_owned()))).collect()
    }
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys")
            .field("primary", &self.primary.is_some())
            .field("other_tenant", &self.other_tenant.is_some())
            .field("restricted", &self.restricted.as_ref().map(|(_, lacks)| lacks))
            .finish()
    }
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The check that comes next; empty at the end, before clean-up.
    pub check: String,
    /// Checks that are done or left out.
    pub done: usize,
    /// Checks of the run.
    pub all: usize,
    /// Requests sent so far.
    pub requests: usize,
    /// Rows that were found not to hold so far.
    pub broken: usize,
}

/// Somebody who is told of progress.
#[derive(Clone)]
pub(crate) struct Watch(pub(crate) Arc<dyn Fn(&Progress) + Send + Sync>);

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

/// Where the declaration comes from.
#[derive(Debug, Clone)]
enum Stated {
    Given(Box<Declaration>, Source),
    Published,
}

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The target does not answer (exit code 4).
    #[error(transparent)]
    Target(#[from] TargetError),
    /// There is no declaration to judge the server against (exit code 2).
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
    /// The server publishes no declaration (exit code 2).
    #[error("the server publishes no declaration: {0}")]
    NotPublished(String),
    /// The settings contradict each other or name what does not exist (exit code 2).
    #[error("{0}")]
    Usage(String),
    /// The journal cannot be written: nothing is created that could not be found again (exit code 5).
    #[error("the journal cannot be written: {0}")]
    Journal(#[from] std::io::Error),
}

impl SuiteError {
    /// The exit code of the program.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Target(_) => 4,
            Self::Declaration(_) | Self::NotPublished(_) | Self::Usage(_) => 2,
            Self::Journal(_) => 5,
        }
    }
}

/// A run of the suite before it starts.
#[derive(Debug, Clone)]
pub struct Suite {
    target: Arc<dyn Target>,
    stated: Stated,
    keys: Keys,
    profile: Profile,
    pub(crate) settings: Settings,
    selection: Selection,
    waivers: Vec<Waiver>,
    journal: Option<PathBuf>,
    clean_up: bool,
    prefix: Option<String>,
    key_header: Option<String>,
    pub(crate) progress: Option<Watch>,
    writes: Option<bool>,
}

impl Suite {
    /// A suite against a target, with the declaration that the server publishes.
    pub fn new(target: impl Target + 'static) -> Self {
        Self::over(Arc::new(target))
    }

    /// As [`Suite::new`], for a target that is shared.
    pub fn over(target: Arc<dyn Target>) -> Self {
        Self {
            target,
            stated: Stated::Published,
            keys: Keys::none(),
            profile: Profile::Full,
            settings: Settings::default(),
            selection: Selection::default(),
            waivers: Vec::new(),
            journal: None,
            clean_up: true,
            prefix: None,
            key_header: None,
            progress: None,
            writes: None,
        }
    }

    /// What the server supports, such as `svc_core::export::capabilities(..)` gives it (CAP-04).
    #[must_use]
    pub fn declaration(mut self, declaration: Declaration) -> Self {
        self.stated = Stated::Given(Box::new(declaration), Source::Given);
        self
    }

    /// What the server supports, with where it comes from.
    #[must_use]
    pub fn declaration_from(mut self, declaration: Declaration, source: Source) -> Self {
        self.stated = Stated::Given(Box::new(declaration), source);
        self
    }

    /// The keys that the run may use.
    #[must_use]
    pub fn keys(mut self, keys: Keys) -> Self {
        self.keys = keys;
        self
    }

    /// The least that the claim needs.
    #[must_use]
    pub const fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// How much the run does.
    #[must_use]
    pub const fn intensity(mut self, intensity: Intensity) -> Self {
        self.settings.intensity = intensity;
        self
    }

    /// The seed of everything random: the same seed sends the same requests.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Only rows, areas or checks that match: an id, an area, or a pattern with `*`.
    #[must_use]
    pub fn only(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.selection.only.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Without rows, areas or checks that match.
    #[must_use]
    pub fn except(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.selection.except.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Ends the run at the first confirmed failure of a MUST row, or, if rows are named, of one of them; checks that can
    /// observe those rows come first.
    #[must_use]
    pub fn stop_at_failure(mut self, rows: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.selection.stop_at = Some(rows.into_iter().map(Into::into).collect());
        self
    }

    /// Deviations that are known and accepted for now.
    #[must_use]
    pub fn waivers(mut self, waivers: impl IntoIterator<Item = Waiver>) -> Self {
        self.waivers.extend(waivers);
        self
    }

    /// Keeps a journal on disk, so that what a crashed run created can be removed.
    #[must_use]
    pub fn journal(mut self, path: impl Into<PathBuf>) -> Self {
        self.journal = Some(path.into());
        self
    }

    /// Whether created records are removed at the end; they are unless this says otherwise.
    #[must_use]
    pub const fn clean_up(mut self, clean_up: bool) -> Self {
        self.clean_up = clean_up;
        self
    }

    /// Whether anything may be written; by default only to targets on this machine.
    #[must_use]
    pub const fn allow_writes(mut self, allow: bool) -> Self {
        self.writes = Some(allow);
        self
    }

    /// Whether triggers and scheduling may be used, which may send messages to people. They are by default in process.
    #[must_use]
    pub const fn allow_side_effects(mut self, allow: bool) -> Self {
        self.settings.side_effects = allow;
        self
    }

    /// Longest wait for one answer; 10 s by default.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// Requests in a second at most.
    #[must_use]
    pub const fn rate(mut self, per_second: f64) -> Self {
        self.settings.rate = Some(per_second);
        self
    }

    /// Records that the run creates at most.
    #[must_use]
    pub const fn max_records(mut self, records: usize) -> Self {
        self.settings.records = records;
        self
    }

    /// Prefix of relations, where the declaration's is not the one in use.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Name of the key header, where the declaration's is not the one in use.
    #[must_use]
    pub fn key_header(mut self, name: impl Into<String>) -> Self {
        self.key_header = Some(name.into());
        self
    }

    /// Is told before each check how far the run is.
    #[must_use]
    pub fn on_progress(mut self, watch: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Watch(Arc::new(watch)));
        self
    }

    /// Runs every check that applies, cleans up, and reports. Needs a tokio runtime with time enabled.
    ///
    /// # Errors
    /// The target does not answer at all, there is no declaration, or the settings make no sense.
    pub async fn run(self) -> Result<Report, SuiteError> {
        let began = Instant::now();
        let catalogue = Catalogue::built_in().map_err(|error| SuiteError::Usage(error.to_string()))?;
        let all = checks::all();
        self.selection.verify(catalogue, &all)?;
        let run = Arc::new(self.prepare().await?);
        let ran = runner::run(&run, catalogue, &all, &self.selection, self.progress.as_ref()).await;
        let cleaned = if self.clean_up { clean_up::clean(&run).await } else { clean_up::kept(&run) };
        Ok(Report::new(&run, catalogue, &ran, cleaned, &self.selection, &self.waivers, self.profile, began.elapsed()))
    }

    /// What a run would look at and send. Nothing is sent but what reads the declaration.
    ///
    /// # Errors
    /// As for [`Suite::run`].
    pub async fn plan(&self) -> Result<Plan, SuiteError> {
        let catalogue = Catalogue::built_in().map_err(|error| SuiteError::Usage(error.to_string()))?;
        let all = checks::all();
        self.selection.verify(catalogue, &all)?;
        let bare = Self { journal: None, ..self.clone() };
        let run = bare.prepare().await?;
        let rows = catalogue.rows().iter().filter(|row| run.facts().applies(&row.id, &row.condition).is_ok()).count();
        let planned = |check| {
            let rows: Vec<&Row> = catalogue.rows().iter().filter(|row| Check::covers(check, row)).collect();
            let left_out = runner::reason_not_to_run(&run, catalogue, &all, &self.selection, check);
            let intensity = run.settings.intensity;
            Planned::new(check, left_out.map(|end| end.reason().to_owned()), &rows, intensity)
        };
        Ok(Plan::new(run.target.base(), rows, all.iter().map(planned).collect()))
    }

    /// Reaches the target and finds out what it declares.
    async fn prepare(&self) -> Result<Run, SuiteError> {
        let recorder = Arc::new(Recorder::new(self.keys.secrets()));
        let mut settings = self.settings.clone();
        settings.writes = self.profile != Profile::ReadOnly && self.writes.unwrap_or_else(|| self.target.is_local());
        let (mut text, source) = match &self.stated {
            Stated::Given(declaration, source) => {
                self.fetch(&recorder, self.target.base(), None).await?;
                (declaration.as_ref().clone(), *source)
            }
            Stated::Published => (self.published(&recorder).await?, Source::Published),
        };
        if let Some(prefix) = &self.prefix {
            text.dialect.prefix.clone_from(prefix);
        }
        if let Some(name) = &self.key_header {
            text.dialect.key_header.clone_from(name);
        }
        let token = Seed::new(settings.seed).of("run").token();
        let declared = Declared::new(text, source);
        let started = Started {
            token: token.clone(),
            base: self.target.base().to_owned(),
            prefix: declared.text.dialect.prefix.clone(),
            key_header: declared.text.dialect.key_header.clone(),
            identifiers: declared.has_identifiers(),
            began: chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        };
        let journal = Journal::open(self.journal.as_deref(), started)?;
        Ok(Run {
            target: Arc::clone(&self.target),
            declared,
            keys: self.keys.clone(),
            settings,
            token,
            recorder,
            journal,
            met: Met::default(),
            relations: crate::passive::Relations::default(),
            firsts: Mutex::default(),
            choices: Mutex::new(BTreeMap::new()),
            pace: Mutex::default(),
        })
    }

    /// The declaration that the entry point links (UND-40).
    async fn published(&self, recorder: &Recorder) -> Result<Declaration, SuiteError> {
        let base = self.target.base();
        let mut entry = self.fetch(recorder, base, None).await?;
        if !(200..300).contains(&entry.0) {
            // Some servers show nothing to strangers; the default header is the only one that can be known here.
            let header = self.key_header.clone().unwrap_or_else(|| declared::Declaration::default().dialect.key_header);
            let key = self.keys.primary.as_ref().map(|key| (header, key.clone()));
            entry = self.fetch(recorder, base, key).await?;
        }
        let links = entry.1.get("_links").and_then(Value::as_object).cloned().unwrap_or_default();
        let link = links.iter().find(|(rel, _)| rel.ends_with(":capabilities"));
        let href = link.and_then(|(_, link)| link["href"].as_str()).and_then(|href| address::resolve(base, href));
        let none = || SuiteError::NotPublished(format!("the entry point {base} has no link to its capabilities"));
        let (status, document) = self.fetch(recorder, &href.ok_or_else(none)?, None).await?;
        if status != 200 {
            return Err(SuiteError::NotPublished(format!("its address answers {status}")));
        }
        Ok(declared::read(&document.to_string())?)
    }

    async fn fetch(
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
        let began = Instant::now();
        let answer = self.target.send(request.clone(), self.settings.body_limit, self.settings.timeout).await;
        recorder.record("declaration", &request, &answer, began.elapsed());
        let response = answer?;
        Ok((response.status().as_u16(), serde_json::from_slice(response.body()).unwrap_or(Value::Null)))
    }
}

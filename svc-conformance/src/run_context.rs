//! The data that all checks of a run share.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::catalogue::{Catalogue, Level, Requirement};
use crate::condition::{ConditionInputs, Encounters};
use crate::declared::DeclaredApi;
use crate::delays::Delays;
use crate::journal::Journal;
use crate::keys::Keys;
use crate::kinds::{HELPERS, HelperFixture};
use crate::linked_resources::LinkedResources;
use crate::progress::{Progress, ProgressFn};
use crate::receiver::Receiver;
use crate::recorder::Recorder;
use crate::response::Representation;
use crate::seed::Seed;
use crate::settings::RunSettings;
use crate::target::Target;

/// The number of digits of a seed in a word.
const SEED_DIGITS: usize = 6;

/// The data that all checks of a run share.
#[derive(Debug)]
pub(crate) struct RunContext {
    pub(crate) target: Arc<dyn Target>,
    pub(crate) declared: DeclaredApi,
    pub(crate) keys: Keys,
    pub(crate) settings: RunSettings,
    /// A part of every marker identifier of this run.
    pub(crate) token: String,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) journal: Journal,
    pub(crate) met: Encounters,
    /// The resources of the URLs met so far.
    pub(crate) relations: LinkedResources,
    /// The fixtures by name.
    pub(crate) fixtures: BTreeMap<String, Representation>,
    /// The URLs of helper fixtures to which a request has succeeded.
    worked: Mutex<BTreeSet<String>>,
    /// The webhook receiver, if the run has one.
    pub(crate) receiver: Option<Receiver>,
    /// The URLs of records that existed before. The run does not change them.
    kept: Mutex<BTreeSet<String>>,
    /// The first status of each operation, which must stay the same.
    ///
    /// Requirements: CRU-13.
    pub(crate) firsts: Mutex<BTreeMap<String, u16>>,
    /// The maximum page size according to the entry point; 0 before it was read.
    published_limit: AtomicU64,
    pub(crate) choices: Mutex<BTreeMap<&'static str, BTreeSet<String>>>,
    /// When the next request may be sent, if there is a rate limit.
    pub(crate) pace: Mutex<RateLimiter>,
    pub(crate) delays: Delays,
    /// The number of requests whose connection was closed before the response. It is unknown
    /// whether they were processed.
    pub(crate) closed: AtomicUsize,
    /// The message about a target that was stopped during the run.
    pub(crate) gone: OnceLock<String>,
    /// The progress of the run, and the function that receives it.
    pub(crate) progress: Mutex<(Progress, Option<ProgressFn>)>,
    /// The approximate number of requests of the run.
    pub(crate) expected: AtomicUsize,
}

/// The schedule of requests, if there is a rate limit.
#[derive(Debug, Default)]
pub(crate) struct RateLimiter {
    /// When the next request may be sent.
    turn: Option<Instant>,
    /// How long requests have waited for the rate limit so far.
    waited: Duration,
}

impl RunContext {
    /// Creates a run without observations.
    pub(crate) fn new(
        target: Arc<dyn Target>,
        declared: DeclaredApi,
        keys: Keys,
        recorder: Arc<Recorder>,
        settings: RunSettings,
        journal: Journal,
    ) -> Self {
        Self {
            target,
            declared,
            keys,
            settings,
            token: journal.started().token,
            recorder,
            journal,
            met: Encounters::default(),
            relations: LinkedResources::default(),
            fixtures: BTreeMap::new(),
            worked: Mutex::default(),
            receiver: None,
            kept: Mutex::default(),
            firsts: Mutex::default(),
            published_limit: AtomicU64::new(0),
            choices: Mutex::default(),
            pace: Mutex::default(),
            delays: Delays::default(),
            closed: AtomicUsize::new(0),
            gone: OnceLock::new(),
            progress: Mutex::default(),
            expected: AtomicUsize::new(0),
        }
    }

    pub(crate) const fn facts(&self) -> ConditionInputs<'_> {
        ConditionInputs {
            declared: &self.declared,
            keys: &self.keys,
            met: &self.met,
            has_receiver: self.receiver.is_some(),
        }
    }

    /// Records an existing record, which the run does not change.
    pub(crate) fn protect(&self, record: &Representation) {
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(record.link("self"));
    }

    /// Whether a URL identifies a record that existed before.
    pub(crate) fn is_protected(&self, url: &str) -> bool {
        self.kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(url)
    }

    /// Returns the name of the helper fixture with this URL.
    pub(crate) fn helper_fixture_at(&self, url: &str) -> Option<&str> {
        let of_helper = |fixture: &HelperFixture| {
            self.fixtures
                .get(&fixture.name)
                .is_some_and(|named| named.url == url)
        };
        HELPERS
            .iter()
            .find(|fixture| of_helper(fixture))
            .map(|fixture| fixture.name.as_str())
    }

    /// Whether a request to the URL of a helper has ever succeeded, including this one.
    pub(crate) fn has_worked(&self, url: &str, succeeds: bool) -> bool {
        let mut worked = self.worked.lock().unwrap_or_else(PoisonError::into_inner);
        if succeeds {
            worked.insert(url.to_owned());
        }
        worked.contains(url)
    }

    /// Whether a confirmed failure of this requirement ends the run.
    pub(crate) fn ends_at(&self, id: &str) -> bool {
        let Some(rows) = &self.settings.stop_at else {
            return false;
        };
        (rows.is_empty() || rows.contains(id))
            && self
                .applicable(id)
                .is_some_and(|row| row.level == Level::Must)
    }

    /// Returns the requirement with this id, if it applies to this server.
    pub(crate) fn applicable(&self, id: &str) -> Option<&'static Requirement> {
        let row = Catalogue::built_in().ok()?.requirement(id)?;
        self.facts().applies(&row.applies_if).is_ok().then_some(row)
    }

    /// Returns the nonce and the start of the name of a seed, as a word that is unique to the run.
    pub(crate) fn word(&self, seed: Seed) -> String {
        format!(
            "{}{}",
            self.token,
            seed.token().get(..SEED_DIGITS).unwrap_or_default()
        )
    }

    /// Returns the maximum page size: the published one, or the declared one if the entry point was
    /// not read yet.
    ///
    /// Requirements: LIM-01.
    pub(crate) fn page_limit(&self) -> Option<u64> {
        let declared = u64::from(self.declared.text.limits.max_pagesize);
        let published = self.published_limit.load(Ordering::Relaxed);
        [published, declared].into_iter().find(|most| *most > 0)
    }

    /// Records the maximum that the entry point publishes to the primary key.
    pub(crate) fn learn_page_limit(&self, most: u64) {
        self.published_limit.store(most, Ordering::Relaxed);
    }

    /// Returns the first status of an operation, and records this one if it is the first.
    pub(crate) fn consistent(&self, operation: &str, status: u16) -> Option<u16> {
        let mut firsts = self.firsts.lock().unwrap_or_else(PoisonError::into_inner);
        let before = firsts.get(operation).copied();
        firsts.entry(operation.to_owned()).or_insert(status);
        before
    }

    /// Waits until the rate limit allows another request.
    pub(crate) async fn wait_for_rate(&self) {
        let Some(rate) = self.settings.rate.filter(|rate| *rate > 0.0) else {
            return;
        };
        let Ok(gap) = Duration::try_from_secs_f64(rate.recip()) else {
            return;
        };
        let now = Instant::now();
        let turn = {
            let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = pace.turn.unwrap_or(now).max(now);
            pace.turn = turn.checked_add(gap);
            pace.waited = pace
                .waited
                .saturating_add(turn.saturating_duration_since(now));
            turn
        };
        tokio::time::sleep_until(turn).await;
    }

    /// Waits as long as the target asks with a status. This time is not counted for any check.
    pub(crate) async fn wait_for_target(&self, status: u16, wait: Duration) {
        self.exclude(wait);
        self.delays.waited(status, wait);
        self.report_delays();
        self.target.wait(wait).await;
    }

    /// Excludes a time from the time limits of checks.
    pub(crate) fn exclude(&self, time: Duration) {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        pace.waited = pace.waited.saturating_add(time);
    }

    /// Reports once, as progress, what makes the run slow.
    pub(crate) fn report_delays(&self) {
        let requests = self.recorder.count();
        let left = self
            .expected
            .load(Ordering::Relaxed)
            .saturating_sub(requests);
        let (progress, watch) = self
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let (Some(ProgressFn(watch)), Some(line)) = (watch, self.delays.line(left)) {
            watch(&Progress {
                notice: Some(line),
                requests,
                ..progress
            });
        }
    }

    /// Returns how long requests have waited so far. This time is not counted for any check.
    pub(crate) fn waited(&self) -> Duration {
        self.pace
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .waited
    }

    /// Records which of several allowed forms the server uses.
    pub(crate) fn choose(&self, what: &'static str, form: String) {
        self.choices
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(what)
            .or_default()
            .insert(form);
    }
}

//! What every check of a run shares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::catalogue::{Level, Row};
use crate::check::{Cx, Intensity};
use crate::condition::{Facts, Met};
use crate::declared::Declared;
use crate::journal::Journal;
use crate::passive::Relations;
use crate::recorder::Recorder;
use crate::suite::Keys;
use crate::target::Target;

/// Bounds and permissions of a run.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) seed: u64,
    pub(crate) intensity: Intensity,
    pub(crate) writes: bool,
    pub(crate) side_effects: bool,
    /// Longest wait for one answer.
    pub(crate) timeout: Duration,
    /// Longest time for one attempt at one check.
    pub(crate) check_timeout: Duration,
    pub(crate) body_limit: usize,
    pub(crate) requests: usize,
    pub(crate) requests_per_check: usize,
    pub(crate) records: usize,
    /// Requests in a second at most.
    pub(crate) rate: Option<f64>,
    /// How far the server's clock may be from this one (TYP-15).
    pub(crate) clock_tolerance: Duration,
    /// The rows at whose first confirmed failure the run ends; any MUST row where none is named.
    pub(crate) stop_at: Option<BTreeSet<String>>,
    /// Whether the run ends at the first failure of any row that is selected and not waived.
    pub(crate) fail_fast: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            intensity: Intensity::Default,
            writes: true,
            side_effects: true,
            timeout: Duration::from_secs(10),
            check_timeout: Duration::from_mins(2),
            body_limit: 8 * 1024 * 1024,
            requests: 200_000,
            requests_per_check: 20_000,
            records: 50_000,
            rate: None,
            clock_tolerance: Duration::from_mins(5),
            stop_at: None,
            fail_fast: false,
        }
    }
}

/// What every check of a run shares.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) target: Arc<dyn Target>,
    pub(crate) declared: Declared,
    pub(crate) keys: Keys,
    pub(crate) settings: Settings,
    /// Part of every marker identifier of this run.
    pub(crate) token: String,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) journal: Journal,
    pub(crate) met: Met,
    /// What the addresses met so far lead to.
    pub(crate) relations: Relations,
    /// The first status of each operation, which must stay the same (CRU-13).
    pub(crate) firsts: Mutex<BTreeMap<String, u16>>,
    pub(crate) choices: Mutex<BTreeMap<&'static str, BTreeSet<String>>>,
    /// When the next request may be sent, where there is a rate.
    pub(crate) pace: Mutex<Pace>,
}

/// The turns of requests, where there is a rate.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// When the next request may be sent.
    turn: Option<Instant>,
    /// How long requests have waited for their turn so far.
    waited: Duration,
}

impl Run {
    pub(crate) const fn facts(&self) -> Facts<'_> {
        Facts { declared: &self.declared, keys: &self.keys, met: &self.met }
    }

    /// Whether a failure of this row, once confirmed, ends the run.
    pub(crate) fn ends_at(&self, id: &str) -> bool {
        let Some(rows) = &self.settings.stop_at else { return false };
        let binds = |row: &Row| row.level == Level::Must && self.facts().applies(&row.id, &row.condition).is_ok();
        (rows.is_empty() || rows.contains(id)) && Cx::row(id).is_some_and(binds)
    }

    /// The most records of a page (LIM-01), as declared.
    pub(crate) fn page_limit(&self) -> Option<u64> {
        Some(u64::from(self.declared.text.limits.max_pagesize)).filter(|most| *most > 0)
    }

    /// The status with which an operation answered first; notes this one if it is the first.
    pub(crate) fn consistent(&self, operation: &str, status: u16) -> Option<u16> {
        let mut firsts = self.firsts.lock().unwrap_or_else(PoisonError::into_inner);
        let before = firsts.get(operation).copied();
        firsts.entry(operation.to_owned()).or_insert(status);
        before
    }

    /// Waits until the rate lets another request go.
    pub(crate) async fn keep_pace(&self) {
        let Some(rate) = self.settings.rate.filter(|rate| *rate > 0.0) else { return };
        let Ok(gap) = Duration::try_from_secs_f64(rate.recip()) else { return };
        let now = Instant::now();
        let turn = {
            let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = pace.turn.unwrap_or(now).max(now);
            pace.turn = turn.checked_add(gap);
            pace.waited = pace.waited.saturating_add(turn.saturating_duration_since(now));
            turn
        };
        tokio::time::sleep_until(turn).await;
    }

    /// How long requests have waited for their turn so far: time that no check is charged with.
    pub(crate) fn waited(&self) -> Duration {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner).waited
    }

    /// Notes which of several allowed forms the server uses.
    pub(crate) fn choose(&self, what: &'static str, form: String) {
        self.choices.lock().unwrap_or_else(PoisonError::into_inner).entry(what).or_default().insert(form);
    }
}

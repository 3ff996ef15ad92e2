//! One check: what it proves, when it runs, and what it works with.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::Method;
use serde_json::{Value, json};

use crate::catalogue::Requirement;
use crate::cause::Cause;
use crate::declared::DeclaredApi;
use crate::diagnosis;
use crate::kinds::kind;
use crate::outcome::{CheckStop, Finding, ObservationVerdict, Observations};
use crate::response::Representation;
use crate::run_context::RunContext;
use crate::seed::{Rng, Seed};
use crate::settings::Intensity;

/// Attempts at a check that fails, with the numbers from 0; a row must break in two of them. If a
/// connection was closed in the first one, it is replaced by another one with this number.
pub(crate) const ATTEMPTS: usize = 3;

/// Findings of one kind that are kept for one row of one check.
const KEPT: usize = 5;

/// What the future of a check gives.
pub type CheckFuture<'c> = Pin<Box<dyn Future<Output = Result<(), CheckStop>> + Send + 'c>>;

/// One check: its name, the rows that it can observe, and an async function. Those of the suite
/// stand in the tables of `checks`, one of your own is run by [`Suite::run_custom`](crate::Suite::run_custom).
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Its name: the area, a slash, and what it looks at.
    pub(crate) id: &'static str,
    /// The rows it can observe: ids, or `field:<owner>.` and `link:<owner>.` for every row with
    /// such a condition.
    pub(crate) rows: &'static [&'static str],
    /// When it has anything to do: a condition as in the catalogue, where `<kind>` stands for the
    /// collection of what it is about.
    needs: &'static str,
    /// What it is about where one function serves many checks, such as a kind.
    pub(crate) subject: &'static str,
    /// The least intensity at which it runs.
    pub(crate) intensity: Intensity,
    pub(crate) writes: bool,
    pub(crate) side_effects: bool,
    /// Whether what it sends is the same whatever is there, so that its answers can be pinned.
    pub(crate) pinned: bool,
    pub(crate) run: for<'c> fn(&'c CheckContext) -> CheckFuture<'c>,
}

/// A check of a table: its name, its rows, and the async function that looks at them.
macro_rules! check {
    ($id:expr, [$($row:ident),* $(,)?], $look:path) => {
        check!($id, &[$($crate::ids::$row),*], $look)
    };
    ($id:expr, $rows:expr, $look:path) => {
        $crate::check::Check::new($id, $rows, |cx| Box::pin($look(cx)))
    };
}

impl Check {
    /// A check of your own, with a name such as `own/tags`: it writes, and runs at every intensity.
    /// Of the rows, it observes those that every answer shows.
    #[must_use]
    pub const fn custom(
        id: &'static str,
        run: for<'c> fn(&'c CheckContext) -> CheckFuture<'c>,
    ) -> Self {
        Self::new(id, &[], run)
    }

    /// A check of this name that observes these rows, by their ids: it writes, always has something
    /// to do, and runs at every intensity.
    pub(crate) const fn new(
        id: &'static str,
        rows: &'static [&'static str],
        run: for<'c> fn(&'c CheckContext) -> CheckFuture<'c>,
    ) -> Self {
        let intensity = Intensity::Quick;
        Self {
            id,
            rows,
            needs: "always",
            subject: "",
            intensity,
            writes: true,
            side_effects: false,
            pinned: true,
            run,
        }
    }

    pub(crate) const fn needs(self, needs: &'static str) -> Self {
        Self { needs, ..self }
    }

    pub(crate) const fn about(self, subject: &'static str) -> Self {
        Self { subject, ..self }
    }

    pub(crate) const fn at(self, intensity: Intensity) -> Self {
        Self { intensity, ..self }
    }

    pub(crate) const fn only_reads(self) -> Self {
        Self {
            writes: false,
            ..self
        }
    }

    pub(crate) const fn sends_what_is_missing(self) -> Self {
        Self {
            pinned: false,
            ..self
        }
    }

    pub(crate) const fn has_side_effects(self) -> Self {
        Self {
            side_effects: true,
            ..self
        }
    }

    /// When it has anything to do: a condition of words that the declaration and the keys answer
    /// before the run.
    pub(crate) fn condition(&self) -> Cow<'static, str> {
        match kind(self.subject).filter(|_| self.needs.contains("<kind>")) {
            Some(kind) => Cow::Owned(self.needs.replace("<kind>", kind.many)),
            None => Cow::Borrowed(self.needs),
        }
    }

    /// Whether the check can observe a row.
    pub(crate) fn covers(&self, row: &Requirement) -> bool {
        self.rows.iter().any(|pattern| {
            *pattern == row.id || (pattern.contains(':') && row.applies_if.starts_with(pattern))
        })
    }
}

/// What one attempt at one check works with.
#[derive(Debug)]
pub struct CheckContext {
    pub(crate) run: Arc<RunContext>,
    pub(crate) check: Check,
    /// 0 for the first attempt; each further one has another number.
    pub(crate) attempt: usize,
    seed: Seed,
    markers: AtomicUsize,
    requests: AtomicUsize,
    first: AtomicUsize,
    last: AtomicUsize,
    seen: Mutex<BTreeMap<String, Observations>>,
    /// The entry point as each caller of this attempt read it, by the key.
    pub(crate) entry_points: Mutex<BTreeMap<Option<String>, Representation>>,
    /// What the server chose where it has a choice, for [`crate::pins`].
    pins: Mutex<BTreeSet<String>>,
    /// What rows had no look, with what was missing for it.
    lacks: Mutex<BTreeMap<String, String>>,
    /// A row broke at whose failure the run ends: there is nothing more to see.
    enough: AtomicBool,
}

impl CheckContext {
    pub(crate) fn new(run: Arc<RunContext>, check: Check, attempt: usize) -> Self {
        let seed = Seed::new(run.settings.seed).of(check.id);
        Self {
            run,
            check,
            attempt,
            seed,
            markers: AtomicUsize::new(0),
            requests: AtomicUsize::new(0),
            first: AtomicUsize::new(0),
            last: AtomicUsize::new(0),
            seen: Mutex::default(),
            entry_points: Mutex::default(),
            pins: Mutex::default(),
            lacks: Mutex::default(),
            enough: AtomicBool::new(false),
        }
    }

    pub(crate) fn id(&self) -> String {
        self.check.id.to_owned()
    }

    /// Whether this attempt only shows if a failure of the first one occurs again.
    pub(crate) fn is_repetition(&self) -> bool {
        (1..ATTEMPTS).contains(&self.attempt)
    }

    pub(crate) fn declared(&self) -> &DeclaredApi {
        &self.run.declared
    }

    /// Random numbers of this check, under a name.
    pub(crate) fn rng(&self, name: &str) -> Rng {
        self.seed.of(name).rng()
    }

    /// The seed of something named within this check; the same in both attempts.
    pub(crate) fn seed(&self, name: &str) -> Seed {
        self.seed.of(name)
    }

    /// An identifier that nothing else in the run has. Every created record carries one.
    ///
    /// Requirements: TYP-13.
    pub(crate) fn marker(&self) -> String {
        format!("{}:{}", crate::journal::SYSTEM, self.unique())
    }

    /// Letters, digits and dashes that nothing else in the run has.
    pub(crate) fn unique(&self) -> String {
        let number = self.markers.fetch_add(1, Ordering::Relaxed);
        format!(
            "{}-{}-{number}",
            self.run.token,
            self.seed.of(&self.attempt.to_string()).token()
        )
    }

    /// A short word that no other body has, of this run or of another one: the nonce, and what
    /// follows from the seed.
    pub(crate) fn token(&self, name: &str) -> String {
        self.run
            .word(self.seed.of(&format!("{name} {}", self.attempt)))
    }

    /// How many cases a generated check runs at this run's intensity.
    pub(crate) fn cases(&self, quick: usize, default: usize, deep: usize) -> usize {
        match self.run.settings.intensity {
            Intensity::Quick => quick,
            Intensity::Default => default,
            Intensity::Deep => deep,
        }
    }

    /// Records a look at a row; whether it holds.
    pub(crate) fn observe(&self, row: &str, holds: bool, found: impl Fn() -> String) -> bool {
        self.observe_with_cause(row, holds, found, || None)
    }

    /// As [`CheckContext::observe`], with the cause of a row that does not hold.
    pub(crate) fn observe_with_cause(
        &self,
        row: &str,
        holds: bool,
        found: impl Fn() -> String,
        cause: impl FnOnce() -> Option<Cause>,
    ) -> bool {
        if holds {
            self.count_pass(row);
        } else {
            self.saw_otherwise(row, ObservationVerdict::Breaks, &found, &[], cause());
        }
        holds
    }

    /// Records a look at a row; a row that does not hold ends the check.
    pub(crate) fn must(
        &self,
        row: &str,
        holds: bool,
        found: impl Fn() -> String,
    ) -> Result<(), CheckStop> {
        if self.observe(row, holds, found) {
            Ok(())
        } else {
            Err(CheckStop::Failed)
        }
    }

    /// Records a look at a row that a server may deviate from: a warning at most.
    pub(crate) fn prefers(&self, row: &str, holds: bool, found: impl Fn() -> String) -> bool {
        if holds {
            self.count_pass(row);
        } else {
            self.saw_otherwise(row, ObservationVerdict::Deviates, &found, &[], None);
        }
        holds
    }

    /// Records a row that does not hold with the fewest steps that show it.
    pub(crate) fn breaks(
        &self,
        row: &str,
        found: impl Fn() -> String,
        smallest: &[String],
        cause: Option<Cause>,
    ) {
        self.saw_otherwise(row, ObservationVerdict::Breaks, &found, smallest, cause);
    }

    /// Notes what was missing for a look at a row.
    pub(crate) fn note_missing(&self, row: &str, what: impl Into<String>) {
        let what = self.run.recorder.redacted(&what.into());
        self.lacks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(row.to_owned())
            .or_insert(what);
    }

    /// What was missing for a look, by row.
    pub(crate) fn lacking(&self) -> BTreeMap<String, String> {
        self.lacks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Records which of several allowed forms the server uses.
    pub(crate) fn chose(&self, what: &'static str, form: impl Into<String>) {
        let form = self.run.recorder.redacted(&form.into());
        self.pin(|| [format!("{what}: {form}")]);
        self.run.choose(what, form);
    }

    /// Notes what the server chose, one line each, where the run is held against pins.
    pub(crate) fn pin<L: IntoIterator<Item = String>>(&self, lines: impl FnOnce() -> L) {
        if self.check.pinned && self.run.settings.pins {
            self.pins
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(lines().into_iter().map(|line| {
                    self.run
                        .recorder
                        .redacted(&line)
                        .replace(&self.run.token, "NONCE")
                }));
        }
    }

    /// Everything that the server was seen to choose so far.
    pub(crate) fn pins(&self) -> BTreeSet<String> {
        self.pins
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Counts a look at a row that holds. Not inlined: the checks have a thousand looks.
    #[inline(never)]
    fn count_pass(&self, row: &str) {
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = match all.get_mut(row) {
            // Nearly all looks are at a row that was looked at before.
            Some(seen) => seen,
            None => all.entry(row.to_owned()).or_default(),
        };
        seen.passed = seen.passed.saturating_add(1);
    }

    /// Keeps what was seen of a row that does not hold.
    #[inline(never)]
    fn saw_otherwise(
        &self,
        row: &str,
        verdict: ObservationVerdict,
        found: &dyn Fn() -> String,
        smallest: &[String],
        cause: Option<Cause>,
    ) {
        if verdict == ObservationVerdict::Breaks && self.run.ends_at(row) {
            self.enough.store(true, Ordering::Relaxed);
        }
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = all.entry(row.to_owned()).or_default();
        let list = if verdict == ObservationVerdict::Breaks {
            &mut seen.violations
        } else {
            &mut seen.deviations
        };
        if list.len() < KEPT {
            let exchange = self.last.load(Ordering::Relaxed);
            // What a check says of a value in an answer may be a key that the server sent back.
            let told = |text: &str| self.run.recorder.redacted(text);
            let smallest = smallest.iter().map(|step| told(step)).collect();
            let seen = || {
                (verdict == ObservationVerdict::Breaks)
                    .then(|| diagnosis::seen(&self.run, row, exchange))
                    .flatten()
            };
            let cause = cause.or_else(seen);
            let refused = diagnosis::refused(&self.run, exchange);
            list.push(Finding {
                check: self.id(),
                message: told(&found()),
                exchange,
                smallest,
                cause,
                refused,
            });
        }
    }

    /// Everything seen so far, by row.
    pub(crate) fn seen(&self) -> BTreeMap<String, Observations> {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// What the first row that does not hold was seen to do instead.
    pub(crate) fn first_finding(&self) -> Option<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.values()
            .find_map(|seen| seen.violations.first())
            .map(|finding| finding.message.clone())
    }

    /// Whether any row was seen not to hold.
    pub(crate) fn has_failed(&self) -> bool {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .any(|seen| !seen.violations.is_empty())
    }

    /// Numbers of the first and the last exchange of this attempt.
    pub(crate) fn span(&self) -> (usize, usize) {
        (
            self.first.load(Ordering::Relaxed),
            self.last.load(Ordering::Relaxed),
        )
    }

    pub(crate) fn saw(&self, number: usize) {
        let _ = self
            .first
            .compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
        self.last.store(number, Ordering::Relaxed);
    }

    /// Whether one more request may be sent: neither forbidden, nor over the budget, nor after all
    /// that a run was for.
    pub(crate) fn may_send(&self, method: &Method) -> Result<(), CheckStop> {
        if self.enough.load(Ordering::Relaxed) {
            return Err(CheckStop::Failed);
        }
        let settings = &self.run.settings;
        if !settings.writes && !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            return Err(CheckStop::Disabled(
                "writes are not allowed on this target".to_owned(),
            ));
        }
        let sent = self.requests.fetch_add(1, Ordering::Relaxed);
        if sent >= settings.requests_per_check || self.run.recorder.count() >= settings.requests {
            return Err(CheckStop::Inconclusive(format!(
                "the budget of requests is spent ({sent} in this check)"
            )));
        }
        if *method == Method::POST && self.run.journal.created() >= settings.records {
            return Err(CheckStop::Inconclusive(format!(
                "the budget of {} records is spent",
                settings.records
            )));
        }
        Ok(())
    }

    /// A body with a marker identifier before those it has.
    pub(crate) fn marked(&self, body: &Value) -> Value {
        let mut body = body.clone();
        if self.declared().has_identifiers()
            && let Some(members) = body.as_object_mut()
        {
            let list = members.entry("identifiers").or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.insert(0, self.marker().into());
            }
            // A server may make persons of the holders of tickets (RES-attendance-14): they are to
            // be found again, too.
            let tickets = members.get_mut("tickets").and_then(Value::as_array_mut);
            for holder in tickets
                .into_iter()
                .flatten()
                .filter_map(|ticket| ticket.get_mut("person")?.as_object_mut())
            {
                holder
                    .entry("identifiers")
                    .or_insert_with(|| json!([self.marker()]));
            }
        }
        body
    }
}

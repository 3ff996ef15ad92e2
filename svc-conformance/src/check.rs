//! A check: which requirements it proves, when it runs, and its context.

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

/// The maximum number of attempts at a failing check, numbered from 0. A requirement must fail in
/// two of them. If a connection was closed in the first attempt, another attempt with this number
/// replaces it.
pub(crate) const ATTEMPTS: usize = 3;

/// The maximum number of findings of one kind that are stored for one requirement of one check.
const KEPT: usize = 5;

/// The future that a check returns.
pub type CheckFuture<'c> = Pin<Box<dyn Future<Output = Result<(), CheckStop>> + Send + 'c>>;

/// A check: its name, the requirements that it can observe, and an async function. The checks of
/// the suite are in the tables of `checks`; [`Suite::run_custom`](crate::Suite::run_custom) runs a custom check.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// Its name: the area, a slash, and what it checks.
    pub(crate) id: &'static str,
    /// The requirements that it can observe: ids, or `field:<owner>.` and `link:<owner>.` for every
    /// requirement with such a condition.
    pub(crate) rows: &'static [&'static str],
    /// The condition under which it runs, as in the catalogue. `<kind>` is the collection of its
    /// subject.
    needs: &'static str,
    /// Its subject, if one function is used for many checks, such as a kind.
    pub(crate) subject: &'static str,
    /// The minimum intensity at which it runs.
    pub(crate) intensity: Intensity,
    pub(crate) writes: bool,
    pub(crate) side_effects: bool,
    /// Whether it always sends the same requests, so that its responses can be pinned.
    pub(crate) pinned: bool,
    pub(crate) run: for<'c> fn(&'c CheckContext) -> CheckFuture<'c>,
}

/// Creates an entry of a table of checks: the name, the requirements, and the async function.
macro_rules! check {
    ($id:expr, [$($row:ident),* $(,)?], $look:path) => {
        check!($id, &[$($crate::ids::$row),*], $look)
    };
    ($id:expr, $rows:expr, $look:path) => {
        $crate::check::Check::new($id, $rows, |cx| Box::pin($look(cx)))
    };
}

impl Check {
    /// Creates a custom check with a name such as `own/tags`. It writes, and runs at every
    /// intensity. It observes the requirements that every response shows.
    #[must_use]
    pub const fn custom(
        id: &'static str,
        run: for<'c> fn(&'c CheckContext) -> CheckFuture<'c>,
    ) -> Self {
        Self::new(id, &[], run)
    }

    /// Creates a check with this name that observes these requirements, by id. It writes, and runs
    /// always and at every intensity.
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

    /// Returns the condition under which it runs. All its terms are decided by the declaration and
    /// the keys, before the run.
    pub(crate) fn condition(&self) -> Cow<'static, str> {
        match kind(self.subject).filter(|_| self.needs.contains("<kind>")) {
            Some(kind) => Cow::Owned(self.needs.replace("<kind>", kind.many)),
            None => Cow::Borrowed(self.needs),
        }
    }

    /// Whether the check can observe a requirement.
    pub(crate) fn covers(&self, row: &Requirement) -> bool {
        self.rows.iter().any(|pattern| {
            *pattern == row.id || (pattern.contains(':') && row.applies_if.starts_with(pattern))
        })
    }
}

/// The context of one attempt at one check.
#[derive(Debug)]
pub struct CheckContext {
    pub(crate) run: Arc<RunContext>,
    pub(crate) check: Check,
    /// The number of the attempt, 0 for the first.
    pub(crate) attempt: usize,
    seed: Seed,
    markers: AtomicUsize,
    requests: AtomicUsize,
    first: AtomicUsize,
    last: AtomicUsize,
    seen: Mutex<BTreeMap<String, Observations>>,
    /// The entry point as each caller of this attempt received it, by key.
    pub(crate) entry_points: Mutex<BTreeMap<Option<String>, Representation>>,
    /// The choices of the server where it has one, for [`crate::pins`].
    pins: Mutex<BTreeSet<String>>,
    /// The requirements that could not be observed, each with what was missing.
    lacks: Mutex<BTreeMap<String, String>>,
    /// Set after the failure of a requirement at which the run ends. Further observations are then
    /// unnecessary.
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

    /// Whether this attempt only verifies that a failure of the first attempt occurs again.
    pub(crate) fn is_repetition(&self) -> bool {
        (1..ATTEMPTS).contains(&self.attempt)
    }

    pub(crate) fn declared(&self) -> &DeclaredApi {
        &self.run.declared
    }

    /// Returns a random number generator of this check for a name.
    pub(crate) fn rng(&self, name: &str) -> Rng {
        self.seed.of(name).rng()
    }

    /// Returns the seed for a name within this check. It is the same in all attempts.
    pub(crate) fn seed(&self, name: &str) -> Seed {
        self.seed.of(name)
    }

    /// Returns an identifier that is unique in the run. Every created record has one.
    ///
    /// Requirements: TYP-13.
    pub(crate) fn marker(&self) -> String {
        format!("{}:{}", crate::journal::SYSTEM, self.unique())
    }

    /// Returns letters, digits and dashes that are unique in the run.
    pub(crate) fn unique(&self) -> String {
        let number = self.markers.fetch_add(1, Ordering::Relaxed);
        format!(
            "{}-{}-{number}",
            self.run.token,
            self.seed.of(&self.attempt.to_string()).token()
        )
    }

    /// Returns a short word that no other body contains, in this run or another. It is derived from
    /// the nonce and the seed.
    pub(crate) fn token(&self, name: &str) -> String {
        self.run
            .word(self.seed.of(&format!("{name} {}", self.attempt)))
    }

    /// Returns how many cases a generated check runs at the intensity of this run.
    pub(crate) fn cases(&self, quick: usize, default: usize, deep: usize) -> usize {
        match self.run.settings.intensity {
            Intensity::Quick => quick,
            Intensity::Default => default,
            Intensity::Deep => deep,
        }
    }

    /// Records an observation of a requirement, and returns whether it holds.
    pub(crate) fn observe(&self, row: &str, holds: bool, found: impl Fn() -> String) -> bool {
        self.observe_with_cause(row, holds, found, || None)
    }

    /// Same as [`CheckContext::observe`], with the cause if the requirement does not hold.
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
            self.saw_otherwise(row, ObservationVerdict::Violation, &found, &[], cause());
        }
        holds
    }

    /// Records an observation of a requirement. If it does not hold, the check ends.
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

    /// Records an observation of a requirement that a server may violate. A violation is at most a
    /// warning.
    pub(crate) fn prefers(&self, row: &str, holds: bool, found: impl Fn() -> String) -> bool {
        if holds {
            self.count_pass(row);
        } else {
            self.saw_otherwise(row, ObservationVerdict::Deviation, &found, &[], None);
        }
        holds
    }

    /// Records a violated requirement with the shortest sequence of steps that shows it.
    pub(crate) fn breaks(
        &self,
        row: &str,
        found: impl Fn() -> String,
        smallest: &[String],
        cause: Option<Cause>,
    ) {
        self.saw_otherwise(row, ObservationVerdict::Violation, &found, smallest, cause);
    }

    /// Records what was missing to observe a requirement.
    pub(crate) fn note_missing(&self, row: &str, what: impl Into<String>) {
        let what = self.run.recorder.redacted(&what.into());
        self.lacks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(row.to_owned())
            .or_insert(what);
    }

    /// Returns what was missing for observations, by requirement.
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

    /// Records the choices of the server, one line each, if the run uses pins.
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

    /// Returns all choices of the server that were observed so far.
    pub(crate) fn pins(&self) -> BTreeSet<String> {
        self.pins
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Counts an observation of a requirement that holds. Not inlined, because the checks contain
    /// about a thousand calls.
    #[inline(never)]
    fn count_pass(&self, row: &str) {
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = match all.get_mut(row) {
            // Nearly all observations are of a requirement that was observed before.
            Some(seen) => seen,
            None => all.entry(row.to_owned()).or_default(),
        };
        seen.passed = seen.passed.saturating_add(1);
    }

    /// Stores the finding of a requirement that does not hold.
    #[inline(never)]
    fn saw_otherwise(
        &self,
        row: &str,
        verdict: ObservationVerdict,
        found: &dyn Fn() -> String,
        smallest: &[String],
        cause: Option<Cause>,
    ) {
        if verdict == ObservationVerdict::Violation && self.run.ends_at(row) {
            self.enough.store(true, Ordering::Relaxed);
        }
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = all.entry(row.to_owned()).or_default();
        let list = if verdict == ObservationVerdict::Violation {
            &mut seen.violations
        } else {
            &mut seen.deviations
        };
        if list.len() < KEPT {
            let exchange = self.last.load(Ordering::Relaxed);
            // A value of a response in the message of a check can be a key that the server
            // returned.
            let told = |text: &str| self.run.recorder.redacted(text);
            let smallest = smallest.iter().map(|step| told(step)).collect();
            let seen = || {
                (verdict == ObservationVerdict::Violation)
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

    /// Returns all observations so far, by requirement.
    pub(crate) fn seen(&self) -> BTreeMap<String, Observations> {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the finding of the first requirement that does not hold.
    pub(crate) fn first_finding(&self) -> Option<String> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.values()
            .find_map(|seen| seen.violations.first())
            .map(|finding| finding.message.clone())
    }

    /// Whether any requirement failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .any(|seen| !seen.violations.is_empty())
    }

    /// Returns the numbers of the first and the last exchange of this attempt.
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

    /// Whether another request may be sent: it is allowed, within the limits, and the run is not
    /// about to end.
    pub(crate) fn may_send(&self, method: &Method) -> Result<(), CheckStop> {
        if self.enough.load(Ordering::Relaxed) {
            return Err(CheckStop::Failed);
        }
        let settings = &self.run.settings;
        if !settings.writes && !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
            return Err(CheckStop::Disabled(
                "writes to this server are not allowed".to_owned(),
            ));
        }
        let sent = self.requests.fetch_add(1, Ordering::Relaxed);
        if sent >= settings.requests_per_check || self.run.recorder.count() >= settings.requests {
            return Err(CheckStop::Inconclusive(format!(
                "the budget of requests is used up ({sent} in this check)"
            )));
        }
        if *method == Method::POST && self.run.journal.created() >= settings.records {
            return Err(CheckStop::Inconclusive(format!(
                "the budget of {} records is used up",
                settings.records
            )));
        }
        Ok(())
    }

    /// Returns a body with a marker identifier before its other identifiers.
    pub(crate) fn marked(&self, body: &Value) -> Value {
        let mut body = body.clone();
        if self.declared().has_identifiers()
            && let Some(members) = body.as_object_mut()
        {
            let list = members.entry("identifiers").or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.insert(0, self.marker().into());
            }
            // A server may create people for the holders of tickets. These must be found again as
            // well.
            // Requirements: RES-attendance-14.
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

//! The report of a run, requirement by requirement.

mod advice;
mod causes;
mod clues;
mod known;
mod self_test_score;
mod text;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::PoisonError;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::{Catalogue, Level};
use crate::clean_up::CleanUpReport;
use crate::declared::{Declaration, DeclarationSource};
use crate::outcome::{Finding, RequirementOutcome};
use crate::pins;
use crate::profile::Profile;
use crate::recorder::Exchange;
use crate::run_context::RunContext;
use crate::runner::{CheckEnd, CheckResult, ENDED};
use crate::selection::{Selection, Waiver};
use crate::settings::Intensity;

pub use causes::CauseReport;
#[cfg(feature = "cli")]
pub(crate) use self_test_score::RESULTS;
pub use self_test_score::Score;
pub(crate) use text::{AREAS, AreaSummary, area, some, source};

/// The report of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The version of the suite.
    pub suite: String,
    /// The digest of the catalogue.
    pub catalogue: String,
    /// The URL of the entry point.
    pub target: String,
    /// The declared version of the API.
    pub interface: String,
    /// The source of the declaration.
    pub declaration: DeclarationSource,
    /// The claim that was verified.
    pub profile: Profile,
    /// The intensity of the run.
    pub intensity: Intensity,
    /// The seed of all random choices except the nonce.
    pub seed: u64,
    /// The random part of the identifiers, names and addresses of this run, which no other run has.
    #[serde(default)]
    pub nonce: String,
    /// All requirements of the catalogue, in its order.
    pub rows: Vec<RequirementReport>,
    /// The causes of the failed requirements, the one with the most requirements first.
    #[serde(default)]
    pub causes: Vec<CauseReport>,
    /// All checks, in the order of the run.
    pub checks: Vec<CheckReport>,
    /// The choices of this server where the specification accepts several forms.
    pub choices: BTreeMap<String, Vec<String>>,
    /// The number of requests sent.
    pub requests: usize,
    /// A digest of all requests in their order. Equal for runs with the same seed and nonce.
    pub digest: String,
    /// The start time of the run, in UTC.
    #[serde(default)]
    pub began: String,
    /// The duration of the run in seconds.
    pub seconds: f64,
    /// The result of the clean-up.
    pub clean_up: CleanUpReport,
    /// Waivers that are expired, or whose requirement did not fail.
    pub broken_waivers: Vec<String>,
    /// What the profile requires and the declaration lacks. A claim with such gaps is not met.
    pub profile_lacks: Vec<String>,
    /// The results of earlier reports, the oldest first, for the HTML page.
    #[serde(skip)]
    pub earlier: Vec<EarlierReport>,
    /// The normalized documents of the server by name, if
    /// [`Suite::snapshots`](crate::Suite::snapshots) asked for them. Members are in order, ids are
    /// ordinals, and dates of a clock are removed. [`differences`](crate::differences) compares
    /// two; differences do not affect conformance.
    #[serde(skip)]
    pub snapshots: BTreeMap<String, Value>,
    /// The URL of the catalogue pages, for links from the HTML and Markdown reports.
    #[serde(skip)]
    pub catalogue_url: Option<String>,
    /// The differences between the choices of the server and [`Suite::pins`](crate::Suite::pins),
    /// one sentence each. They do not affect conformance.
    #[serde(skip)]
    pub drift: Vec<String>,
    /// The declaration against which the server was judged.
    #[serde(rename = "capabilities", default)]
    pub(crate) declared: Declaration,
}

/// The result of an earlier report.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EarlierReport {
    /// The start time of its run, as the report states it.
    pub began: String,
    /// The number of requirements that passed.
    pub passed: usize,
    /// The number of requirements that failed.
    pub failed: usize,
}

impl EarlierReport {
    /// Returns what the page shows of a report.
    #[must_use]
    pub fn from_report(report: &Report) -> Self {
        Self {
            began: report.began.clone(),
            passed: report.count(RequirementOutcome::Pass),
            failed: report.count(RequirementOutcome::Fail),
        }
    }
}

/// Returns the start time of something that took this long.
fn began(took: Duration) -> String {
    let now = chrono::Utc::now();
    let took = chrono::TimeDelta::from_std(took).unwrap_or_default();
    now.checked_sub_signed(took)
        .unwrap_or(now)
        .to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}

/// The result of one requirement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequirementReport {
    /// The id of the requirement.
    pub id: String,
    /// The level of the requirement.
    pub level: String,
    /// The outcome.
    pub outcome: RequirementOutcome,
    /// The reason, for every outcome except a pass. For a pass, the check that was cut off before
    /// it could observe more.
    pub reason: String,
    /// What to do if the requirement could not be decided. Empty for every other outcome.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
    /// The number of observations of the requirement.
    pub observations: usize,
    /// The checks that observed it.
    pub checks: Vec<String>,
    /// The findings that violate the requirement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The replay file, if one was written. A file with `curl` commands is in the same folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckReport {
    /// The id of the check.
    pub id: String,
    /// `done`, or why the check did not finish.
    pub end: String,
    /// The number of requests that it sent.
    pub requests: usize,
    /// The number of records that it created.
    pub records: usize,
    /// Set if the check exceeded its time: the limit, and the requirements that pass in spite of
    /// that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CheckTimeout>,
    /// The exchanges of a failed attempt, without keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<Exchange>,
}

impl RequirementReport {
    /// Returns the reason and the advice.
    pub(crate) fn explanation(&self) -> String {
        if self.advice.is_empty() {
            self.reason.clone()
        } else {
            format!("{}. {}", self.reason, self.advice)
        }
    }

    /// Whether the requirement passes although a check was cut off that would have observed more.
    fn is_in_part(&self) -> bool {
        self.outcome == RequirementOutcome::Pass && !self.reason.is_empty()
    }
}

/// A check that exceeded its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckTimeout {
    /// The time limit in seconds.
    pub seconds: f64,
    /// The requirements that it would have observed further, and that pass because of other checks.
    pub passed: Vec<String>,
}

impl Report {
    /// Returns the causes computed without these known faults. Tests of the suite compare them.
    #[doc(hidden)]
    #[must_use]
    pub fn causes_without(&self, faults: &[&str]) -> Vec<CauseReport> {
        causes::of(&self.rows, &faults.iter().copied().collect())
    }

    pub(crate) fn new(
        run: &RunContext,
        catalogue: &Catalogue,
        ran: &[CheckResult],
        clean_up: CleanUpReport,
        selection: &Selection,
        waivers: &[Waiver],
        took: Duration,
    ) -> Self {
        let (rows, broken_waivers) = verdict::rows(run, catalogue, ran, selection, waivers);
        let choices = run.choices.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            suite: env!("CARGO_PKG_VERSION").to_owned(),
            catalogue: Catalogue::hash(Catalogue::TEXT),
            target: run.target.base().to_owned(),
            interface: run.declared.text.interface_version.clone(),
            declaration: run.declared.source,
            profile: selection.profile,
            intensity: run.settings.intensity,
            seed: run.settings.seed,
            nonce: run.token.clone(),
            checks: ran
                .iter()
                .map(|ran| CheckReport::new(ran, catalogue, &rows))
                .collect(),
            causes: causes::of(&rows, &BTreeSet::new()),
            rows,
            choices: choices
                .iter()
                .map(|(what, forms)| ((*what).to_owned(), forms.iter().cloned().collect()))
                .collect(),
            requests: run.recorder.count(),
            digest: format!("{:016x}", run.recorder.digest()),
            began: began(took),
            seconds: took.as_secs_f64(),
            clean_up,
            broken_waivers,
            profile_lacks: selection.profile.missing(&run.declared),
            earlier: Vec::new(),
            snapshots: BTreeMap::new(),
            drift: Vec::new(),
            catalogue_url: None,
            declared: run.declared.text.clone(),
        }
    }

    /// Returns the URL of the page of a requirement, if the catalogue pages have a URL.
    pub(crate) fn page(&self, row: &str) -> Option<String> {
        self.catalogue_url
            .as_ref()
            .map(|url| format!("{}/{row}.html", url.trim_end_matches('/')))
    }

    /// Returns the verdict: `conformant`, `conformant with deviations`, `not conformant` or
    /// `undecided`.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match (self.is_conformant(), self.count(RequirementOutcome::Waived)) {
            (true, 0) => "conformant",
            (true, _) => "conformant with deviations",
            (false, _) if self.exit_code() == 1 => "not conformant",
            (false, _) => "undecided",
        }
    }

    /// Returns the requirement with this id.
    #[must_use]
    pub fn requirement(&self, id: &str) -> Option<&RequirementReport> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// Returns the number of requirements with this outcome.
    #[must_use]
    pub fn count(&self, outcome: RequirementOutcome) -> usize {
        self.rows
            .iter()
            .filter(|row| row.outcome == outcome)
            .count()
    }

    /// Returns the number of requirements that apply and were to be checked.
    #[must_use]
    pub fn judged_count(&self) -> usize {
        let apart = self
            .count(RequirementOutcome::NotApplicable)
            .saturating_add(self.count(RequirementOutcome::Disabled));
        self.rows.len().saturating_sub(apart)
    }

    /// Returns the requirements with this outcome.
    pub fn with_outcome(
        &self,
        outcome: RequirementOutcome,
    ) -> impl Iterator<Item = &RequirementReport> {
        self.rows.iter().filter(move |row| row.outcome == outcome)
    }

    /// Returns the checks that exceeded their time.
    pub fn timed_out_checks(&self) -> impl Iterator<Item = (&CheckReport, &CheckTimeout)> {
        self.checks
            .iter()
            .filter_map(|check| check.cut.as_ref().map(|cut| (check, cut)))
    }

    /// Returns the inconclusive requirements of the level MUST. They apply, but the run could not
    /// decide whether the server fulfils them.
    pub fn inconclusive(&self) -> impl Iterator<Item = &RequirementReport> {
        self.with_outcome(RequirementOutcome::Inconclusive)
            .filter(|row| row.level == Level::Must.as_str())
    }

    /// Returns the exit code of the program: 0 conformant, 1 failure, 3 inconclusive or nothing
    /// selected, 5 error of the suite, 6 records left by the clean-up that could have been deleted.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if self.count(RequirementOutcome::Fail) > 0
            || !self.broken_waivers.is_empty()
            || !self.profile_lacks.is_empty()
        {
            1
        } else if self.count(RequirementOutcome::Error) > 0 {
            5
        } else if self.count(RequirementOutcome::Pass) == 0 || self.inconclusive().next().is_some()
        {
            3
        } else if self.clean_up.failed {
            6
        } else {
            0
        }
    }

    /// Whether no finding violates the specification, and every applicable MUST requirement was
    /// observed.
    #[must_use]
    pub fn is_conformant(&self) -> bool {
        matches!(self.exit_code(), 0 | 6)
    }

    /// Fails a test unless the server conforms.
    ///
    /// # Panics
    /// Panics with the short text report unless the server conforms.
    pub fn assert_conformant(&self) {
        assert!(self.is_conformant(), "{self}");
    }

    /// Fails a test if a check did not finish, such as one of [`Suite::run_custom`](crate::Suite::run_custom), or
    /// found a violated requirement.
    ///
    /// # Panics
    /// Panics with the findings.
    pub fn assert_complete(&self) {
        let unfinished = self.checks.iter().filter(|check| check.end != "done");
        let broken = [RequirementOutcome::Fail, RequirementOutcome::Error]
            .into_iter()
            .flat_map(|outcome| self.with_outcome(outcome));
        let found = unfinished.map(|check| format!("{}: {}", check.id, check.end));
        let found: Vec<String> = found
            .chain(broken.map(|row| format!("{}: {}", row.id, row.reason)))
            .collect();
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    /// Fails a test if the choices of the server differ from [`Suite::pins`](crate::Suite::pins).
    ///
    /// # Panics
    /// Panics with each difference, if there is one.
    pub fn assert_pins(&self) {
        assert!(self.drift.is_empty(), "{}", pins::explain(&self.drift));
    }
}

impl CheckReport {
    fn new(ran: &CheckResult, catalogue: &Catalogue, rows: &[RequirementReport]) -> Self {
        let cut = match &ran.end {
            CheckEnd::TimedOut { after, .. } => {
                Some(CheckTimeout::new(ran, *after, catalogue, rows))
            }
            _ => None,
        };
        let end = match &ran.end {
            CheckEnd::Done => "done".to_owned(),
            CheckEnd::NotApplicable(reason) => format!("not applicable: {reason}"),
            CheckEnd::Disabled(reason) => format!("disabled: {reason}"),
            CheckEnd::Inconclusive(reason) | CheckEnd::TimedOut { why: reason, .. } => {
                format!("inconclusive: {reason}")
            }
            CheckEnd::UnexpectedResponse(reason) => format!("failed: {reason}"),
            CheckEnd::Error(reason) => format!("error: {reason}"),
        };
        let trace = ran
            .trace
            .iter()
            .map(|exchange| exchange.as_ref().clone())
            .collect();
        Self {
            id: ran.check.id.to_owned(),
            end,
            requests: ran.requests,
            records: ran.records,
            cut,
            trace,
        }
    }
}

impl CheckReport {
    /// Whether the run ended at a failure before this check started.
    fn was_left_out_at_failure(&self) -> bool {
        self.end.strip_prefix("disabled: ") == Some(ENDED)
    }
}

impl CheckTimeout {
    fn new(
        ran: &CheckResult,
        after: Duration,
        catalogue: &Catalogue,
        rows: &[RequirementReport],
    ) -> Self {
        let its = catalogue
            .requirements()
            .iter()
            .filter(|row| ran.check.covers(row));
        let passed = its.filter(|row| {
            rows.iter()
                .any(|said| said.id == row.id && said.outcome == RequirementOutcome::Pass)
        });
        Self {
            seconds: after.as_secs_f64(),
            passed: passed.map(|row| row.id.clone()).collect(),
        }
    }

    /// Returns what a report contains about it apart from the requirements.
    pub(crate) fn said(&self, most: usize) -> String {
        let mut text = format!(
            "it was cut off after {:.1} s, before it finished",
            self.seconds
        );
        if !self.passed.is_empty() {
            let shown: Vec<&str> = self.passed.iter().take(most).map(String::as_str).collect();
            let more = self.passed.len().saturating_sub(most);
            let more = if more == 0 {
                String::new()
            } else {
                format!(" and {more} more")
            };
            let _ = write!(
                text,
                "; these requirements pass because of other checks: {}{more}",
                shown.join(", ")
            );
        }
        text + "; to allow more time, use --check-timeout"
    }
}

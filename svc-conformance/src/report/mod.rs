//! What a run found, row by row.

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
#[cfg(feature = "program")]
pub(crate) use self_test_score::RESULTS;
pub use self_test_score::Score;
pub(crate) use text::{AREAS, AreaSummary, area, some, source};

/// What a run found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Version of the suite.
    pub suite: String,
    /// Digest of the catalogue.
    pub catalogue: String,
    /// Address of the entry point.
    pub target: String,
    /// Version of the interface, as declared.
    pub interface: String,
    /// Where the declaration came from.
    pub declaration: DeclarationSource,
    /// The claim that was judged.
    pub profile: Profile,
    /// How much the run did.
    pub intensity: Intensity,
    /// Seed of everything random but the nonce.
    pub seed: u64,
    /// What stands in the identifiers, names and addresses of this run's records and of no other
    /// run.
    #[serde(default)]
    pub nonce: String,
    /// Every row of the catalogue, in its order.
    pub rows: Vec<RequirementReport>,
    /// What the failed rows have in common, the cause with the most of them first.
    #[serde(default)]
    pub causes: Vec<CauseReport>,
    /// Every check, in the order of the run.
    pub checks: Vec<CheckReport>,
    /// Where the interface accepts several forms: which ones this server uses.
    pub choices: BTreeMap<String, Vec<String>>,
    /// Requests sent.
    pub requests: usize,
    /// A digest of every request in its order: equal for equal runs with the same seed and nonce.
    pub digest: String,
    /// When the run began, in UTC.
    #[serde(default)]
    pub began: String,
    /// How long the run took.
    pub seconds: f64,
    /// What came of clean-up.
    pub clean_up: CleanUpReport,
    /// Waivers that are expired, or whose row did not fail.
    pub broken_waivers: Vec<String>,
    /// What the declaration lacks of the least that the profile needs; a claim without it is not
    /// met.
    pub profile_lacks: Vec<String>,
    /// How earlier reports went, the oldest first, for the page.
    #[serde(skip)]
    pub earlier: Vec<EarlierReport>,
    /// How documents of the server look, by name, where
    /// [`Suite::snapshots`](crate::Suite::snapshots) asked for them: members in order, ids as
    /// ordinals, no dates of a clock. [`differences`](crate::differences) compares two; none is of
    /// conformance.
    #[serde(skip)]
    pub snapshots: BTreeMap<String, Value>,
    /// Where the pages of the catalogue are, for links from the HTML and Markdown reports.
    #[serde(skip)]
    pub catalogue_url: Option<String>,
    /// Where the server chose otherwise than [`Suite::pins`](crate::Suite::pins) says, a sentence
    /// each; none is of conformance.
    #[serde(skip)]
    pub drift: Vec<String>,
    /// What the server was judged against.
    #[serde(rename = "capabilities", default)]
    pub(crate) declared: Declaration,
}

/// How an earlier report went.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EarlierReport {
    /// When its run began, as the report says.
    pub began: String,
    /// Rows that passed.
    pub passed: usize,
    /// Rows that failed.
    pub failed: usize,
}

impl EarlierReport {
    /// What the page shows of a report.
    #[must_use]
    pub fn from_report(report: &Report) -> Self {
        Self {
            began: report.began.clone(),
            passed: report.count(RequirementOutcome::Pass),
            failed: report.count(RequirementOutcome::Fail),
        }
    }
}

/// When something began that took so long.
fn began(took: Duration) -> String {
    let now = chrono::Utc::now();
    let took = chrono::TimeDelta::from_std(took).unwrap_or_default();
    now.checked_sub_signed(took)
        .unwrap_or(now)
        .to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
}

/// What a run says about one row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequirementReport {
    /// Id of the row.
    pub id: String,
    /// Level of the row.
    pub level: String,
    /// What the run says.
    pub outcome: RequirementOutcome,
    /// Why, for every outcome but a pass; for a pass, which check was cut that would have looked
    /// further.
    pub reason: String,
    /// What to do where the row could not be decided; empty for every other outcome.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub advice: String,
    /// Looks at the row.
    pub observations: usize,
    /// The checks that saw it.
    pub checks: Vec<String>,
    /// What was found that the row does not allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The file that `replay` reads, where one was written; beside it is a file of `curl` lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
}

/// What came of one check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckReport {
    /// Its id.
    pub id: String,
    /// `done`, or why it did not come to its end.
    pub end: String,
    /// Requests that it sent.
    pub requests: usize,
    /// Records that it created.
    pub records: usize,
    /// Where its time was over before it came to its end: after how long, and what passes in spite
    /// of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CheckTimeout>,
    /// The exchanges of an attempt that failed, without keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<Exchange>,
}

impl RequirementReport {
    /// Why, and what to do about it.
    pub(crate) fn explanation(&self) -> String {
        if self.advice.is_empty() {
            self.reason.clone()
        } else {
            format!("{}. {}", self.reason, self.advice)
        }
    }

    /// Whether the row passes though a check was cut that would have looked further.
    fn is_in_part(&self) -> bool {
        self.outcome == RequirementOutcome::Pass && !self.reason.is_empty()
    }
}

/// A check whose time was over before it came to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckTimeout {
    /// After how many seconds.
    pub seconds: f64,
    /// The rows that it would have looked at further, and that pass on what other checks saw.
    pub passed: Vec<String>,
}

impl Report {
    /// The causes, as they were if these faults of the suite's own tests were not known: what tests
    /// of the suite compare.
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
            catalogue: Catalogue::hash(),
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

    /// The address of a row's page, where the pages of the catalogue can be read.
    pub(crate) fn page(&self, row: &str) -> Option<String> {
        self.catalogue_url
            .as_ref()
            .map(|url| format!("{}/{row}.html", url.trim_end_matches('/')))
    }

    /// The result in words: `conformant`, `conformant with deviations`, `not conformant` or
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

    /// The row with this id.
    #[must_use]
    pub fn requirement(&self, id: &str) -> Option<&RequirementReport> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// How many rows have this outcome.
    #[must_use]
    pub fn count(&self, outcome: RequirementOutcome) -> usize {
        self.rows
            .iter()
            .filter(|row| row.outcome == outcome)
            .count()
    }

    /// How many rows apply and were to be looked at.
    #[must_use]
    pub fn judged_count(&self) -> usize {
        let apart = self
            .count(RequirementOutcome::NotApplicable)
            .saturating_add(self.count(RequirementOutcome::Disabled));
        self.rows.len().saturating_sub(apart)
    }

    /// The rows with this outcome.
    pub fn with_outcome(
        &self,
        outcome: RequirementOutcome,
    ) -> impl Iterator<Item = &RequirementReport> {
        self.rows.iter().filter(move |row| row.outcome == outcome)
    }

    /// The checks whose time was over before they came to their end.
    pub fn timed_out_checks(&self) -> impl Iterator<Item = (&CheckReport, &CheckTimeout)> {
        self.checks
            .iter()
            .filter_map(|check| check.cut.as_ref().map(|cut| (check, cut)))
    }

    /// The MUST rows that apply and were not observed, or not twice alike.
    pub fn inconclusive(&self) -> impl Iterator<Item = &RequirementReport> {
        self.with_outcome(RequirementOutcome::Inconclusive)
            .filter(|row| row.level == Level::Must.as_str())
    }

    /// The exit code of the program: 0 conformant, 1 failure, 3 inconclusive or nothing selected, 5
    /// error of the suite, 6 records left by clean-up though they could have been deleted.
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

    /// Whether nothing was found that the interface does not allow, and every MUST row that applies
    /// was observed.
    #[must_use]
    pub fn is_conformant(&self) -> bool {
        matches!(self.exit_code(), 0 | 6)
    }

    /// Ends a test unless the server conforms.
    ///
    /// # Panics
    /// With the short text report, unless the server conforms.
    pub fn assert_conformant(&self) {
        assert!(self.is_conformant(), "{self}");
    }

    /// Fails a test if a check did not come to its end, such as one of
    /// [`Suite::run_custom`](crate::Suite::run_custom), or saw a row that does not hold.
    ///
    /// # Panics
    /// With what was found.
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

    /// Ends a test where the server chose otherwise than [`Suite::pins`](crate::Suite::pins) says.
    ///
    /// # Panics
    /// With each difference, where there is one.
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
    /// Whether the run ended at a failure before this check had its turn.
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

    /// What a report says of it beside the rows.
    pub(crate) fn said(&self, most: usize) -> String {
        let mut text = format!(
            "its time was over after {:.1} s, before its end",
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
                "; on what other checks saw pass {}{more}",
                shown.join(", ")
            );
        }
        text + "; more time: --check-timeout"
    }
}

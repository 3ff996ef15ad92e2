//! The suite as a library: a target, a declaration, keys, and a run that ends in a report.

mod access;
mod custom;
mod fixtures;
mod prepare;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::catalogue::{Catalogue, Requirement};
use crate::check::Check;
use crate::checks;
use crate::clean_up;
use crate::declared::{Declaration, DeclarationSource};
use crate::error::SuiteError;
use crate::keys::Keys;
use crate::needed_fixtures::wanted;
use crate::observability;
use crate::pins::PinFile;
use crate::plan::{Fixture, PlannedCheck, RunPlan};
use crate::profile::Profile;
use crate::progress::{Progress, ProgressFn};
use crate::receiver::Address;
use crate::report::Report;
use crate::run_context::RunContext;
use crate::runner;
use crate::selection::{Selection, Waiver};
use crate::settings::{Intensity, RunSettings};
use crate::snapshot;
use crate::target::Target;

/// Where the declaration comes from.
#[derive(Debug, Clone)]
enum DeclarationInput {
    Given(Box<Declaration>, DeclarationSource),
    Published,
}

/// A run of the suite before it starts.
#[derive(Debug, Clone)]
pub struct Suite {
    target: Arc<dyn Target>,
    stated: DeclarationInput,
    keys: Keys,
    pub(crate) settings: RunSettings,
    selection: Selection,
    waivers: Vec<Waiver>,
    journal: Option<PathBuf>,
    clean_up: bool,
    prefix: Option<String>,
    key_header: Option<String>,
    pub(crate) progress: Option<ProgressFn>,
    writes: Option<bool>,
    snapshots: bool,
    pins: Option<PinFile>,
    trust_keys: bool,
    fixtures: BTreeMap<String, String>,
    /// Where messages of webhooks are received, where they are to be judged.
    receiver: Option<Address>,
    /// Part of every marker; another one for each run where none is set.
    nonce: Option<String>,
}

impl Suite {
    /// A suite against a target, with the declaration that the server publishes.
    pub fn new(target: impl Target + 'static) -> Self {
        Self::from_shared(Arc::new(target))
    }

    /// As [`Suite::new`], for a target that is shared.
    pub fn from_shared(target: Arc<dyn Target>) -> Self {
        Self {
            target,
            stated: DeclarationInput::Published,
            keys: Keys::none(),
            settings: RunSettings::default(),
            selection: Selection::default(),
            waivers: Vec::new(),
            journal: None,
            clean_up: true,
            prefix: None,
            key_header: None,
            progress: None,
            writes: None,
            snapshots: false,
            pins: None,
            trust_keys: false,
            fixtures: BTreeMap::new(),
            receiver: None,
            nonce: None,
        }
    }

    /// What the server supports, such as `svc_core::api::capabilities(..)` gives it.
    ///
    /// Requirements: CAP-04.
    #[must_use]
    pub fn declaration(mut self, declaration: Declaration) -> Self {
        self.stated = DeclarationInput::Given(Box::new(declaration), DeclarationSource::Given);
        self
    }

    /// What the server supports, with where it comes from.
    #[must_use]
    pub fn declaration_from(mut self, declaration: Declaration, source: DeclarationSource) -> Self {
        self.stated = DeclarationInput::Given(Box::new(declaration), source);
        self
    }

    /// The keys that the run may use.
    #[must_use]
    pub fn keys(mut self, keys: Keys) -> Self {
        self.keys = keys;
        self
    }

    /// Whether the keys are known to be good: a server that refuses them is judged row by row then,
    /// instead of ending the run.
    #[must_use]
    pub const fn trust_keys(mut self, trust: bool) -> Self {
        self.trust_keys = trust;
        self
    }

    /// A record that the run may use where it may not create one, besides those of the declaration:
    /// `name` is a kind such as `event`, or `ticketed_event`; it is found by its address, or by an
    /// identifier in its collection. A name such as `helper.record_signature` gives the address of
    /// a helper whose record cannot be read. A run records actions below it and removes them where
    /// that is declared; it neither changes nor deletes the record itself.
    #[must_use]
    pub fn fixture(mut self, name: impl Into<String>, address: impl Into<String>) -> Self {
        self.fixtures.insert(name.into(), address.into());
        self
    }

    /// The claim that is judged: what has to be declared at least, and which requirements have to
    /// hold.
    #[must_use]
    pub const fn profile(mut self, profile: Profile) -> Self {
        self.selection.profile = profile;
        self
    }

    /// How much the run does.
    #[must_use]
    pub const fn intensity(mut self, intensity: Intensity) -> Self {
        self.settings.intensity = intensity;
        self
    }

    /// The seed of everything random but the [nonce](Self::nonce): the same seed sends the same
    /// requests, about records with other identifiers.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Only rows, areas or checks that match: an id, an area, or a pattern with `*`.
    #[must_use]
    pub fn only(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.selection
            .only
            .extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Without rows, areas or checks that match.
    #[must_use]
    pub fn exclude(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.selection
            .except
            .extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Ends the run at the first confirmed failure of a MUST row, or, if rows are named, of one of
    /// them; checks that can observe those rows come first.
    #[must_use]
    pub fn stop_at_failure_of(mut self, rows: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.settings.stop_at = Some(rows.into_iter().map(Into::into).collect());
        self
    }

    /// Ends the run at the first confirmed failure of a MUST row that is selected and not waived.
    /// What was not run is reported as such, and what was created is removed.
    #[must_use]
    pub const fn fail_fast(mut self, fail_fast: bool) -> Self {
        self.settings.fail_fast = fail_fast;
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

    /// One check alone, and every row that it meets.
    #[cfg(feature = "harness")]
    pub(crate) fn exactly(mut self, check: &str) -> Self {
        self.selection.alone = Some(check.to_owned());
        self
    }

    /// Without a journal on disk.
    #[must_use]
    pub(crate) fn without_journal(mut self) -> Self {
        self.journal = None;
        self
    }

    /// Whether the key header was named.
    pub(crate) const fn names_header(&self) -> bool {
        self.key_header.is_some()
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

    /// Whether triggers and scheduling may be used, which may send messages to people. They are by
    /// default in process.
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

    /// Longest time for one attempt at one check; 2 minutes by default. What is cut by it is told
    /// in the report, and decides no row alone.
    #[must_use]
    pub const fn check_timeout(mut self, timeout: Duration) -> Self {
        self.settings.check_timeout = timeout;
        self
    }

    /// Starts a receiver of webhooks at this host and port while the suite runs, so that deliveries
    /// are judged: port 0 is any free one. The runtime needs I/O enabled.
    ///
    /// Requirements: HOOK-07, HOOK-08, HOOK-11, HOOK-12.
    #[must_use]
    pub fn webhook_receiver(mut self, listen: impl Into<String>) -> Self {
        self.receiver.get_or_insert_default().listen = listen.into();
        self
    }

    /// The URL by which the server reaches the [receiver](Self::webhook_receiver), where that is
    /// not the address at which it listens: that of a tunnel or a proxy. The last segment of a path
    /// must arrive unchanged.
    #[must_use]
    pub fn webhook_receiver_url(mut self, url: impl Into<String>) -> Self {
        self.receiver.get_or_insert_default().url = Some(url.into());
        self
    }

    /// Longest wait for one message of a webhook, another attempt included; 40 s by default. A
    /// third of the [check's time](Self::check_timeout) at most.
    #[must_use]
    pub const fn webhook_timeout(mut self, timeout: Duration) -> Self {
        self.settings.webhook_timeout = timeout;
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

    /// What stands in the identifiers, names and addresses of this run's records and of no other
    /// run: 8 to 32 lower-case letters and digits. By default it is random, so that a run meets
    /// nothing of an earlier one whose records could not be deleted. Everything else follows from
    /// the seed.
    #[must_use]
    pub fn nonce(mut self, nonce: impl Into<String>) -> Self {
        self.nonce = Some(nonce.into());
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

    /// Whether the report gets snapshots of the server's documents ([`Report::snapshots`]): after
    /// the checks, each kind's record is made once more.
    #[must_use]
    pub const fn snapshots(mut self, wanted: bool) -> Self {
        self.snapshots = wanted;
        self
    }

    /// Holds what the server chose, where the interface leaves a choice, against what a file pins:
    /// statuses, types, the codes, properties and texts of errors, and the choices of the report,
    /// by check. What differs is [`Report::drift`] and none of conformance. Where the environment
    /// has `UPDATE_PINS`, what was seen is pinned instead.
    #[must_use]
    pub fn pins(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.pins = true;
        self.pins = Some(PinFile {
            path: path.into(),
            update: std::env::var_os("UPDATE_PINS").is_some(),
        });
        self
    }

    /// Pins what this run sees, whatever the environment says.
    #[must_use]
    pub const fn update_pins(mut self) -> Self {
        if let Some(pins) = &mut self.pins {
            pins.update = true;
        }
        self
    }

    /// Is told before each check how far the run is.
    #[must_use]
    pub fn on_progress(mut self, watch: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(ProgressFn(Arc::new(watch)));
        self
    }

    /// Runs every check that applies, cleans up, and reports. Needs a tokio runtime with time
    /// enabled.
    ///
    /// # Errors
    /// The target does not answer or was stopped during the run, there is no declaration, or the
    /// settings make no sense.
    pub async fn run(self) -> Result<Report, SuiteError> {
        self.run_of(&checks::all()).await
    }

    /// Runs those of some checks that are selected and apply.
    async fn run_of(mut self, all: &[Check]) -> Result<Report, SuiteError> {
        let began = Instant::now();
        let catalogue =
            Catalogue::built_in().map_err(|error| SuiteError::Usage(error.to_string()))?;
        self.selection.verify(catalogue, all)?;
        if self.settings.fail_fast {
            self.settings.stop_at =
                Some(self.may_end_at(catalogue, all)).filter(|rows| !rows.is_empty());
        }
        let pinned = self
            .pins
            .as_ref()
            .map(|pins| pins.read(&self.settings))
            .transpose()?;
        let run = Arc::new(self.prepare().await?);
        if !self.trust_keys {
            self.verify_keys(&run).await?;
        }
        let ran = runner::run(
            &run,
            catalogue,
            all,
            &self.selection,
            self.progress.as_ref(),
        )
        .await?;
        let taken = if self.snapshots {
            snapshot::take(&run).await
        } else {
            BTreeMap::new()
        };
        let cleaned = if self.clean_up {
            clean_up::clean(&run).await
        } else {
            clean_up::skipped(&run)
        };
        let drift = self
            .pins
            .as_ref()
            .zip(pinned)
            .map(|(pins, pinned)| pins.drift(pinned, all, &run.settings, &ran));
        let took = began.elapsed();
        let report = Report::new(
            &run,
            catalogue,
            &ran,
            cleaned,
            &self.selection,
            &self.waivers,
            took,
        );
        Ok(Report {
            snapshots: taken,
            drift: drift.unwrap_or_default(),
            ..report
        })
    }

    /// The rows at whose failure a run ends that fails fast.
    fn may_end_at(&self, catalogue: &Catalogue, all: &[Check]) -> BTreeSet<String> {
        let accepted = |row: &&Requirement| {
            !self
                .waivers
                .iter()
                .any(|waiver| waiver.row == row.id && !waiver.is_expired())
        };
        let rows = catalogue
            .requirements()
            .iter()
            .filter(|row| self.selection.has_row(row, all))
            .filter(accepted);
        rows.map(|row| row.id.clone()).collect()
    }

    /// What a run would look at and send. Nothing is sent but what reads the declaration.
    ///
    /// # Errors
    /// As for [`Suite::run`].
    pub async fn plan(&self) -> Result<RunPlan, SuiteError> {
        let catalogue =
            Catalogue::built_in().map_err(|error| SuiteError::Usage(error.to_string()))?;
        let all = checks::all();
        self.selection.verify(catalogue, &all)?;
        let bare = Self {
            journal: None,
            ..self.clone()
        };
        let run = bare.prepare().await?;
        let facts = run.facts();
        let applies = |row: &&Requirement| {
            facts.applies(&row.applies_if).is_ok()
                && observability::can_show(&facts, catalogue, &all, row).is_ok()
        };
        let rows: Vec<&Requirement> = catalogue.requirements().iter().filter(applies).collect();
        let fixtures = planned_fixtures(&run, &rows);
        let planned = |check| {
            let rows: Vec<&Requirement> = catalogue
                .requirements()
                .iter()
                .filter(|row| Check::covers(check, row))
                .collect();
            let left_out = runner::reason_not_to_run(&run, catalogue, &all, &self.selection, check);
            let intensity = run.settings.intensity;
            PlannedCheck::new(
                check,
                left_out.map(|end| end.reason().to_owned()),
                &rows,
                intensity,
            )
        };
        Ok(RunPlan::new(
            run.target.base(),
            rows.len(),
            all.iter().map(planned).collect(),
            fixtures,
        ))
    }
}

/// The fixtures that are named, and those that rows need.
fn planned_fixtures(run: &RunContext, rows: &[&Requirement]) -> Vec<Fixture> {
    let mut all: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    all.extend(
        run.declared
            .text
            .fixture
            .keys()
            .map(|name| (name.as_str(), Vec::new())),
    );
    for row in rows {
        if let Some(name) = wanted(&run.declared, row) {
            all.entry(name).or_default().push(row.id.clone());
        }
    }
    let named = |name: &str| run.declared.text.fixture.get(name).cloned();
    all.into_iter()
        .map(|(name, rows)| Fixture {
            name: name.to_owned(),
            named: named(name),
            rows,
        })
        .collect()
}

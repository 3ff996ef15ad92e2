//! The suite as a library: a target, a declaration, keys, and a run that returns a report.

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

/// The source of the declaration.
#[derive(Debug, Clone)]
enum DeclarationInput {
    Given(Box<Declaration>, DeclarationSource),
    Published,
}

/// The configuration of a run.
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
    /// The address of the webhook receiver, if webhook messages are judged.
    receiver: Option<Address>,
    /// A part of every marker. Random if it is not set.
    nonce: Option<String>,
}

impl Suite {
    /// Creates a suite for a target, with the declaration that the server publishes.
    pub fn new(target: impl Target + 'static) -> Self {
        Self::from_shared(Arc::new(target))
    }

    /// Same as [`Suite::new`], for a shared target.
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

    /// Sets what the server supports, such as the result of `svc_core::api::capabilities(..)`.
    ///
    /// Requirements: CAP-04.
    #[must_use]
    pub fn declaration(mut self, declaration: Declaration) -> Self {
        self.stated = DeclarationInput::Given(Box::new(declaration), DeclarationSource::Given);
        self
    }

    /// Sets what the server supports, with the source of this declaration.
    #[must_use]
    pub fn declaration_from(mut self, declaration: Declaration, source: DeclarationSource) -> Self {
        self.stated = DeclarationInput::Given(Box::new(declaration), source);
        self
    }

    /// Sets the keys that the run may use.
    #[must_use]
    pub fn keys(mut self, keys: Keys) -> Self {
        self.keys = keys;
        self
    }

    /// Sets whether the keys are known to be valid. If the server rejects a trusted key, every
    /// requirement is judged, instead of ending the run.
    #[must_use]
    pub const fn trust_keys(mut self, trust: bool) -> Self {
        self.trust_keys = trust;
        self
    }

    /// Adds a record that the run may use if it cannot create one, in addition to those of the
    /// declaration. `name` is a kind such as `event`, or `ticketed_event`. The record is found by
    /// its URL, or by an identifier in its collection. For a name such as
    /// `helper.record_signature`, `address` is the URL of a helper whose record cannot be read. A
    /// run records actions in the record, and deletes them if deletion is declared. It neither
    /// changes nor deletes the record itself.
    #[must_use]
    pub fn fixture(mut self, name: impl Into<String>, address: impl Into<String>) -> Self {
        self.fixtures.insert(name.into(), address.into());
        self
    }

    /// Sets the claim to verify: what must be declared at least, and which requirements must hold.
    #[must_use]
    pub const fn profile(mut self, profile: Profile) -> Self {
        self.selection.profile = profile;
        self
    }

    /// Sets how many requests and variants the run tries.
    #[must_use]
    pub const fn intensity(mut self, intensity: Intensity) -> Self {
        self.settings.intensity = intensity;
        self
    }

    /// Sets the seed of all random choices except the [nonce](Self::nonce). The same seed sends the
    /// same requests, but for records with other identifiers.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Includes only matching requirements, areas or checks: ids, areas, or patterns with `*`, such
    /// as `["COL-17", "LIM", "col/*"]`.
    #[must_use]
    pub fn only(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.selection
            .only
            .extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Excludes matching requirements, areas or checks, such as `["COL-17", "LIM"]`.
    #[must_use]
    pub fn exclude(mut self, patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.selection
            .except
            .extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Ends the run at the first confirmed failure of a MUST requirement, or of one of the
    /// requirements in `rows`, if it is not empty. Checks that can observe those requirements run
    /// first.
    #[must_use]
    pub fn stop_at_failure_of(mut self, rows: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.settings.stop_at = Some(rows.into_iter().map(Into::into).collect());
        self
    }

    /// Ends the run at the first confirmed failure of a MUST requirement that is selected and not
    /// waived. The report lists what was not run, and the created records are deleted.
    #[must_use]
    pub const fn fail_fast(mut self, fail_fast: bool) -> Self {
        self.settings.fail_fast = fail_fast;
        self
    }

    /// Sets known deviations that are accepted for now.
    #[must_use]
    pub fn waivers(mut self, waivers: impl IntoIterator<Item = Waiver>) -> Self {
        self.waivers.extend(waivers);
        self
    }

    /// Writes a journal to disk, so that the records of a crashed run can be deleted.
    #[must_use]
    pub fn journal(mut self, path: impl Into<PathBuf>) -> Self {
        self.journal = Some(path.into());
        self
    }

    /// Runs only one check, and judges every requirement that it observes.
    #[cfg(feature = "harness")]
    pub(crate) fn exactly(mut self, check: &str) -> Self {
        self.selection.alone = Some(check.to_owned());
        self
    }

    /// Disables the journal on disk.
    #[must_use]
    pub(crate) fn without_journal(mut self) -> Self {
        self.journal = None;
        self
    }

    /// Whether the key header was set.
    pub(crate) const fn names_header(&self) -> bool {
        self.key_header.is_some()
    }

    /// Sets whether created records are deleted at the end. Default: `true`.
    #[must_use]
    pub const fn clean_up(mut self, clean_up: bool) -> Self {
        self.clean_up = clean_up;
        self
    }

    /// Sets whether the run may write. Default: only to targets on this machine.
    #[must_use]
    pub const fn allow_writes(mut self, allow: bool) -> Self {
        self.writes = Some(allow);
        self
    }

    /// Sets whether triggers and scheduling may be used, which can send messages to people.
    /// Default: only in process.
    #[must_use]
    pub const fn allow_side_effects(mut self, allow: bool) -> Self {
        self.settings.side_effects = allow;
        self
    }

    /// Sets the maximum time to wait for one response. Default: 10 s.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    /// Sets the maximum time for one attempt at one check. Default: 2 minutes. A check that exceeds
    /// it is cut off. The report lists it, and it decides no requirement alone.
    #[must_use]
    pub const fn check_timeout(mut self, timeout: Duration) -> Self {
        self.settings.check_timeout = timeout;
        self
    }

    /// Starts a webhook receiver on this host and port while the suite runs, so that deliveries are
    /// judged. Port 0 is any free port. The runtime needs I/O enabled.
    ///
    /// Requirements: HOOK-07, HOOK-08, HOOK-11, HOOK-12.
    #[must_use]
    pub fn webhook_receiver(mut self, listen: impl Into<String>) -> Self {
        self.receiver.get_or_insert_default().listen = listen.into();
        self
    }

    /// Sets the URL at which the server reaches the [receiver](Self::webhook_receiver), such as
    /// that of a tunnel or a proxy. Default: the address on which the receiver listens. The last
    /// path segment must arrive unchanged.
    #[must_use]
    pub fn webhook_receiver_url(mut self, url: impl Into<String>) -> Self {
        self.receiver.get_or_insert_default().url = Some(url.into());
        self
    }

    /// Sets the maximum time to wait for one webhook message, including another attempt. Default:
    /// 40 s. At most a third of the [time of a check](Self::check_timeout).
    #[must_use]
    pub const fn webhook_timeout(mut self, timeout: Duration) -> Self {
        self.settings.webhook_timeout = timeout;
        self
    }

    /// Sets the maximum number of requests per second.
    #[must_use]
    pub const fn rate(mut self, per_second: f64) -> Self {
        self.settings.rate = Some(per_second);
        self
    }

    /// Sets the maximum number of records that the run creates.
    #[must_use]
    pub const fn max_records(mut self, records: usize) -> Self {
        self.settings.records = records;
        self
    }

    /// Sets the part of identifiers, names and addresses that is unique to the records of this run:
    /// 8 to 32 lower-case letters and digits. Random by default, so that a run does not match
    /// records of an earlier run that could not be deleted. Everything else depends on the seed.
    #[must_use]
    pub fn nonce(mut self, nonce: impl Into<String>) -> Self {
        self.nonce = Some(nonce.into());
        self
    }

    /// Sets the prefix of relations, if it differs from the declared one.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Sets the name of the key header, if it differs from the declared one.
    #[must_use]
    pub fn key_header(mut self, name: impl Into<String>) -> Self {
        self.key_header = Some(name.into());
        self
    }

    /// Sets whether the report contains snapshots of the documents of the server
    /// ([`Report::snapshots`]). For these, the run creates one more record of each kind after the
    /// checks.
    #[must_use]
    pub const fn snapshots(mut self, wanted: bool) -> Self {
        self.snapshots = wanted;
        self
    }

    /// Compares the choices of the server, where the specification leaves a choice, with the pins
    /// in a file. Pins contain statuses, media types, the codes, properties and texts of errors,
    /// and the choices in the report, by check. Differences are in [`Report::drift`] and do not
    /// affect conformance. If the environment variable `UPDATE_PINS` is set, the choices are
    /// written to the file instead.
    #[must_use]
    pub fn pins(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.pins = true;
        self.pins = Some(PinFile {
            path: path.into(),
            update: std::env::var_os("UPDATE_PINS").is_some(),
        });
        self
    }

    /// Writes the choices of this run to the file, whatever the environment.
    #[must_use]
    pub const fn update_pins(mut self) -> Self {
        if let Some(pins) = &mut self.pins {
            pins.update = true;
        }
        self
    }

    /// Sets a function that receives the progress of the run before each check.
    #[must_use]
    pub fn on_progress(mut self, watch: impl Fn(&Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(ProgressFn(Arc::new(watch)));
        self
    }

    /// Runs every check that applies, cleans up, and returns the report. Requires a tokio runtime
    /// with time enabled.
    ///
    /// # Errors
    /// Returns an error if the target does not respond or was stopped during the run, there is no
    /// declaration, or the settings are invalid.
    pub async fn run(self) -> Result<Report, SuiteError> {
        self.run_of(&checks::all()).await
    }

    /// Runs the given checks that are selected and apply.
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

    /// Returns the requirements at whose failure a fail-fast run ends.
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

    /// Returns what a run would check and send. Only the request for the declaration is sent.
    ///
    /// # Errors
    /// Same as [`Suite::run`].
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

/// Returns the given fixtures, and those that requirements need.
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

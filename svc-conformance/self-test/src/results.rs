//! The results of the runs against mutants and unusual servers, and the results file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::detections::Detection;
use super::mutants::{BaseServer, Mutant};
use super::progress::FinishedJob;
use super::settings::SelfTestSettings;
use super::smallest::SmallestCase;
use svc_conformance::Intensity;
use svc_conformance::catalogue::Catalogue;

/// Runs against one mutant.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MutantRuns {
    /// The seeds whose run failed one of the requirements that the fault breaks.
    pub killed: Vec<u64>,
    /// The other seeds, with the results of their runs.
    pub survived: BTreeMap<u64, String>,
}

impl MutantRuns {
    pub(super) fn took(&mut self, seed: u64, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.killed.push(seed),
            Err(why) => drop(self.survived.insert(seed, why)),
        }
    }

    /// Returns the number of runs.
    #[must_use]
    pub fn all(&self) -> usize {
        self.killed.len().saturating_add(self.survived.len())
    }
}

impl fmt::Display for MutantRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.killed.len(), self.all())
    }
}

/// The results of one mutant.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MutantScore {
    /// The name of the mutant.
    pub name: String,
    /// The family of the mutant.
    pub family: String,
    /// Where the fault is applied.
    pub place: String,
    /// The service that the fault is applied to.
    pub over: String,
    /// The requirements that the fault breaks.
    pub rows: Vec<String>,
    /// The runs at the selected intensity.
    pub runs: MutantRuns,
    /// The runs at the lowest intensity.
    pub quick: MutantRuns,
    /// The requirements that failed, expected or not.
    pub failed: BTreeSet<String>,
    /// Seconds of all runs.
    pub seconds: f64,
}

impl MutantScore {
    pub(super) fn of(fault: &Mutant) -> Self {
        Self {
            name: fault.name.clone(),
            family: fault.family.to_owned(),
            place: fault.place.as_str().to_owned(),
            over: match fault.over {
                BaseServer::SecondServer(_) => "second service",
                BaseServer::Reference(_) | BaseServer::Sending => "reference server",
            }
            .to_owned(),
            rows: fault.rows.clone(),
            runs: MutantRuns::default(),
            quick: MutantRuns::default(),
            failed: BTreeSet::new(),
            seconds: 0.0,
        }
    }
}

/// The results of one unusual server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UnusualScore {
    /// The name of the server.
    pub name: String,
    /// The number of runs.
    pub runs: usize,
    /// The requirements that failed incorrectly, with the reason.
    pub accused: BTreeMap<String, String>,
    /// The binding requirements without a verdict.
    pub inconclusive: BTreeSet<String>,
    /// Runs that did not finish, with the reason.
    pub broken: Vec<String>,
    /// Seconds of all runs.
    pub seconds: f64,
}

impl UnusualScore {
    pub(super) fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            runs: 0,
            accused: BTreeMap::new(),
            inconclusive: BTreeSet::new(),
            broken: Vec::new(),
            seconds: 0.0,
        }
    }
}

/// The results so far.
#[derive(Debug, Default)]
pub(super) struct SelfTestResults {
    mutants: Vec<MutantScore>,
    unusual: Vec<UnusualScore>,
    smallest: Vec<SmallestCase>,
    detections: Vec<Detection>,
    /// The number of servers whose runs were aborted.
    pub(super) aborted: usize,
}

impl SelfTestResults {
    pub(super) fn add(&mut self, finished: FinishedJob) {
        match finished {
            FinishedJob::Unusual(score) => self.unusual.push(score),
            FinishedJob::Mutant(score) => self.mutants.push(score),
            FinishedJob::Smallest(found) => self.smallest.push(found),
            FinishedJob::Detection(detection) => self.detections.push(detection),
        }
    }
}

/// The mutants of one family.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct MutantFamily {
    /// The name of the family.
    pub family: String,
    /// The number of its mutants.
    pub servers: usize,
    /// The number of runs.
    pub runs: usize,
    /// The number of runs that failed a requirement which the fault breaks.
    pub killed: usize,
}

/// The score of the suite: the content of the results file.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SelfTestScore {
    /// Version of the suite.
    pub suite: &'static str,
    /// The day of the run.
    pub date: String,
    /// Digest of the catalogue.
    pub catalogue: String,
    /// Number of requirements in the catalogue.
    pub rows: usize,
    /// The intensity of each run.
    pub intensity: Intensity,
    /// First seed, and the one after the last.
    pub seeds: (u64, u64),
    /// Number of mutants.
    pub servers: usize,
    /// Runs of mutants.
    pub runs: usize,
    /// Runs of mutants that failed an expected requirement.
    pub killed: usize,
    /// Runs of mutants at the lowest intensity.
    pub quick_runs: usize,
    /// Runs of mutants at the lowest intensity that failed an expected requirement.
    pub quick_killed: usize,
    /// Number of unusual servers.
    pub odd: usize,
    /// Runs of unusual servers, at both intensities.
    pub odd_runs: usize,
    /// Unusual servers with a failed requirement in any run.
    pub accused: usize,
    /// Runs of unusual servers that did not finish, and servers whose runs were aborted.
    pub broken: usize,
    /// Seconds of the runs of mutants and unusual servers. Several run at the same time.
    pub seconds: u64,
    /// The results of the stateful search for the planted faults.
    pub smallest: Vec<SmallestCase>,
    /// Binding requirements, each with the mutant whose run failed it.
    pub seen: BTreeMap<String, String>,
    /// Binding requirements that did not fail for any mutant made for them.
    pub unseen: Vec<String>,
    /// Each family of mutants, by name.
    pub families: Vec<MutantFamily>,
    /// Mutants that were not detected in every run, by name, with the seeds of the runs at the
    /// selected intensity that missed them.
    pub survivors: BTreeMap<String, Vec<u64>>,
    /// Unusual servers with failed requirements.
    pub accusations: BTreeMap<String, Vec<String>>,
    /// Mutants, with the requirements that their runs failed before they stopped.
    pub failed: BTreeMap<String, String>,
}

impl SelfTestScore {
    /// Summarizes the results.
    pub(super) fn of(settings: &SelfTestSettings, results: SelfTestResults) -> Self {
        let SelfTestResults {
            mutants: faults,
            unusual: odd,
            mut smallest,
            detections,
            aborted,
        } = results;
        let mut families: BTreeMap<&str, MutantFamily> = BTreeMap::new();
        for one in &faults {
            let family = families.entry(&one.family).or_default();
            family.family.clone_from(&one.family);
            family.servers = family.servers.saturating_add(1);
            family.runs = family.runs.saturating_add(one.runs.all());
            family.killed = family.killed.saturating_add(one.runs.killed.len());
        }
        smallest.sort_by(|a, b| a.name.cmp(&b.name));
        let missed = faults.iter().filter(|one| !one.runs.survived.is_empty());
        let accused = odd.iter().filter(|one| !one.accused.is_empty());
        let seconds = faults.iter().map(|one| one.seconds);
        let seconds = seconds.chain(odd.iter().map(|one| one.seconds));
        let (seen, unseen): (Vec<Detection>, Vec<Detection>) = detections
            .into_iter()
            .partition(|detection| detection.fault.is_some());
        Self {
            suite: env!("CARGO_PKG_VERSION"),
            date: chrono::Utc::now().date_naive().to_string(),
            catalogue: Catalogue::hash(Catalogue::TEXT),
            rows: Catalogue::built_in().map_or(0, |catalogue| catalogue.requirements().len()),
            intensity: settings.intensity,
            seeds: (settings.seeds.start, settings.seeds.end),
            servers: faults.len(),
            runs: faults.iter().map(|one| one.runs.all()).sum(),
            killed: faults.iter().map(|one| one.runs.killed.len()).sum(),
            quick_runs: faults.iter().map(|one| one.quick.all()).sum(),
            quick_killed: faults.iter().map(|one| one.quick.killed.len()).sum(),
            odd: odd.len(),
            odd_runs: odd.iter().map(|one| one.runs).sum(),
            accused: accused.clone().count(),
            broken: odd
                .iter()
                .map(|one| one.broken.len())
                .fold(aborted, usize::saturating_add),
            seconds: Duration::try_from_secs_f64(seconds.sum()).map_or(0, |all| all.as_secs()),
            smallest,
            seen: seen
                .into_iter()
                .filter_map(|detection| Some((detection.row, detection.fault?)))
                .collect(),
            unseen: unseen
                .into_iter()
                .map(|detection| detection.row)
                .collect::<BTreeSet<String>>()
                .into_iter()
                .collect(),
            families: families.into_values().collect(),
            survivors: missed
                .map(|one| {
                    (
                        one.name.clone(),
                        one.runs.survived.keys().copied().collect(),
                    )
                })
                .collect(),
            accusations: accused
                .map(|one| (one.name.clone(), one.accused.keys().cloned().collect()))
                .collect(),
            failed: faults
                .iter()
                .map(|one| (one.name.clone(), joined(&one.failed)))
                .collect(),
        }
    }

    /// Returns whether no unusual server failed, and the mutants were detected.
    ///
    /// At the lowest intensity nine of ten mutants must be detected, otherwise all of them. The
    /// planted faults must be found with cases of at most one step more than necessary. Each
    /// requirement must fail for a mutant made for it.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        let most = |killed: usize, runs: usize| killed.saturating_mul(10) >= runs.saturating_mul(9);
        let caught = if self.intensity == Intensity::Quick {
            most(self.killed, self.runs)
        } else {
            let near = self.smallest.iter().all(SmallestCase::is_near);
            self.killed == self.runs
                && most(self.quick_killed, self.quick_runs)
                && near
                && self.unseen.is_empty()
        };
        caught && self.accused == 0 && self.broken == 0
    }

    /// Returns the content of the results file.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

fn joined(rows: &BTreeSet<String>) -> String {
    rows.iter()
        .map(String::as_str)
        .collect::<Vec<&str>>()
        .join(" ")
}

//! The results of the runs against mutants and unusual servers, and the results file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::mutants::{BaseServer, Mutant};
use super::settings::SelfTestSettings;
use super::smallest::SmallestCase;
use svc_conformance::Intensity;
use svc_conformance::catalogue::Catalogue;

/// Runs against one mutant.
#[derive(Debug, Clone, Default)]
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
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MutantScore {
    /// The name of the mutant.
    pub name: String,
    /// The family of the mutant.
    pub family: &'static str,
    /// Where the fault is applied.
    pub place: &'static str,
    /// The service that the fault is applied to.
    pub over: &'static str,
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
            family: fault.family,
            place: fault.place.as_str(),
            over: match fault.over {
                BaseServer::SecondServer(_) => "second service",
                BaseServer::Reference(_) | BaseServer::Sending => "reference server",
            },
            rows: fault.rows.clone(),
            runs: MutantRuns::default(),
            quick: MutantRuns::default(),
            failed: BTreeSet::new(),
            seconds: 0.0,
        }
    }
}

/// The results of one unusual server.
#[derive(Debug, Clone)]
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
    /// Runs of unusual servers that did not finish.
    pub broken: usize,
    /// Seconds from start to end.
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
    /// Summarizes the results of all servers.
    pub(super) fn of(
        settings: &SelfTestSettings,
        took: Duration,
        faults: &[MutantScore],
        odd: &[UnusualScore],
        smallest: Vec<SmallestCase>,
        rows: &BTreeMap<String, Option<String>>,
    ) -> Self {
        let mut families: BTreeMap<&str, MutantFamily> = BTreeMap::new();
        for one in faults {
            let family = families.entry(one.family).or_default();
            one.family.clone_into(&mut family.family);
            family.servers = family.servers.saturating_add(1);
            family.runs = family.runs.saturating_add(one.runs.all());
            family.killed = family.killed.saturating_add(one.runs.killed.len());
        }
        let missed = faults.iter().filter(|one| !one.runs.survived.is_empty());
        let accused = odd.iter().filter(|one| !one.accused.is_empty());
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
            broken: odd.iter().map(|one| one.broken.len()).sum(),
            seconds: took.as_secs(),
            smallest,
            seen: rows
                .iter()
                .filter_map(|(row, fault)| Some((row.clone(), fault.clone()?)))
                .collect(),
            unseen: rows
                .iter()
                .filter(|(_, fault)| fault.is_none())
                .map(|(row, _)| row.clone())
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

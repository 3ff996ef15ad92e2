//! What came of the runs against faulty and odd servers, and the results file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::faults::{BaseServer, Mutant};
use super::settings::SelfTestSettings;
use super::smallest::SmallestCase;
use svc_conformance::Intensity;
use svc_conformance::catalogue::Catalogue;

/// Runs against one faulty server.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct MutantRuns {
    /// The seeds whose run failed one of the rows that the fault breaks.
    pub killed: Vec<u64>,
    /// The seeds whose run did not, with what it said.
    pub survived: BTreeMap<u64, String>,
}

impl MutantRuns {
    pub(super) fn took(&mut self, seed: u64, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.killed.push(seed),
            Err(why) => drop(self.survived.insert(seed, why)),
        }
    }

    /// How many there were.
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

/// What came of one faulty server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MutantScore {
    /// Its name.
    pub name: String,
    /// Its family.
    pub family: &'static str,
    /// Where the fault is applied.
    pub place: &'static str,
    /// The service behind it.
    pub over: &'static str,
    /// The rows that it breaks.
    pub rows: Vec<String>,
    /// The runs at the intensity that was asked for.
    pub runs: MutantRuns,
    /// The runs at the least intensity.
    pub quick: MutantRuns,
    /// The rows that failed, expected or not.
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

/// What came of one odd server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UnusualScore {
    /// Its name.
    pub name: String,
    /// How many runs there were.
    pub runs: usize,
    /// The rows it was accused under, with the reason.
    pub accused: BTreeMap<String, String>,
    /// The rows that bind and stayed without a verdict.
    pub inconclusive: BTreeSet<String>,
    /// Runs that did not come to their end, with the reason.
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

/// The faulty servers of one family.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct MutantFamily {
    /// Its name.
    pub family: String,
    /// How many faulty servers it has.
    pub servers: usize,
    /// How many runs there were.
    pub runs: usize,
    /// Those that failed a row which the fault breaks.
    pub killed: usize,
}

/// The score of the suite: what the results file has.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SelfTestScore {
    /// Version of the suite.
    pub suite: &'static str,
    /// The day.
    pub date: String,
    /// Digest of the catalogue.
    pub catalogue: String,
    /// Rows of the catalogue.
    pub rows: usize,
    /// How much each run did.
    pub intensity: Intensity,
    /// First seed and the one after the last.
    pub seeds: (u64, u64),
    /// Faulty servers.
    pub servers: usize,
    /// Runs of faulty servers.
    pub runs: usize,
    /// Those that failed an expected row.
    pub killed: usize,
    /// Runs of faulty servers at the least intensity.
    pub quick_runs: usize,
    /// Those that failed an expected row.
    pub quick_killed: usize,
    /// Odd servers.
    pub odd: usize,
    /// Runs of odd servers, at both intensities.
    pub odd_runs: usize,
    /// Odd servers that were accused of something in any run.
    pub accused: usize,
    /// Runs of odd servers that did not come to their end.
    pub broken: usize,
    /// Seconds from beginning to end.
    pub seconds: u64,
    /// What the stateful search made of the planted faults.
    pub smallest: Vec<SmallestCase>,
    /// Rows that bind, each with the faulty server whose run failed it.
    pub seen: BTreeMap<String, String>,
    /// Rows that bind and that no faulty server made for them was seen to fail.
    pub unseen: Vec<String>,
    /// Each family of faulty servers, by name.
    pub families: Vec<MutantFamily>,
    /// Faulty servers that were not caught in every run, by name, with the runs at the intensity
    /// asked for that missed them.
    pub survivors: BTreeMap<String, Vec<u64>>,
    /// Odd servers that were accused, with the rows.
    pub accusations: BTreeMap<String, Vec<String>>,
    /// Faulty servers, with the rows that their runs failed before they stopped.
    pub failed: BTreeMap<String, String>,
}

impl SelfTestScore {
    /// Counts what came of all servers.
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
            catalogue: Catalogue::hash(),
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

    /// Whether no odd server was accused, and the faulty ones were caught: at the least intensity
    /// nine of ten, at any other all of them, the planted ones with cases of at most one step more
    /// than they take, and each row by a fault made for it.
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

    /// The results file.
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

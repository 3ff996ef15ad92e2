//! Runs the suite against faulty and odd servers, and keeps the score.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::faults::{self, Fault, Over};
use super::odd::{self, Odd};
use super::subject::Subject;
use crate::Intensity;
use crate::catalogue::{Catalogue, Level};
use crate::outcome::Outcome;
use crate::report::Report;
use crate::suite::{Keys, Suite};
use crate::target::InProcess;

/// What is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The seeds; each faulty server is run with each.
    pub seeds: Range<u64>,
    /// The seeds of the odd servers' full runs at the same intensity.
    pub odd_seeds: Range<u64>,
    /// How much each run does.
    pub intensity: Intensity,
    /// Only servers whose name or family contains this.
    pub only: Option<String>,
    /// Runs at the same time.
    pub workers: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { seeds: 0..20, odd_seeds: 0..3, intensity: Intensity::Default, only: None, workers: 2 }
    }
}

/// What came of one faulty server.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct FaultScore {
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
    /// The seeds whose run failed one of these rows.
    pub killed: Vec<u64>,
    /// The seeds whose run did not, with what it said.
    pub survived: BTreeMap<u64, String>,
    /// The rows that failed, expected or not.
    pub failed: BTreeSet<String>,
    /// Seconds of all runs.
    pub seconds: f64,
}

/// What came of one odd server.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct OddScore {
    /// Its name.
    pub name: &'static str,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The rows it was accused under, with the reason.
    pub accused: BTreeMap<String, String>,
    /// The rows that bind and stayed without a verdict.
    pub inconclusive: BTreeSet<String>,
    /// Runs that did not come to their end, with the reason.
    pub broken: Vec<String>,
    /// Seconds of all runs.
    pub seconds: f64,
}

/// The score of the suite.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Score {
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
    /// Runs of faulty servers.
    pub runs: usize,
    /// Those that failed an expected row.
    pub killed: usize,
    /// Odd servers.
    pub odd: usize,
    /// Those that were accused of something.
    pub accused: usize,
    /// Seconds from beginning to end.
    pub seconds: f64,
    /// Each faulty server.
    pub faults: Vec<FaultScore>,
    /// Each odd server.
    pub odd_servers: Vec<OddScore>,
}

impl Score {
    /// Whether every faulty server was caught with every seed and no odd one accused.
    #[must_use]
    pub fn is_perfect(&self) -> bool {
        self.killed == self.runs && self.accused == 0 && self.odd_servers.iter().all(|odd| odd.broken.is_empty())
    }

    /// The results file.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

/// A digest of the catalogue that is built in: two equal ones mean the same rows.
#[must_use]
pub fn catalogue_digest() -> String {
    Catalogue::hash()
}

/// Runs everything; `tell` is called with a line for each server as it is done.
pub async fn run(settings: &Settings, mut tell: impl FnMut(&str)) -> Score {
    let began = Instant::now();
    let wanted = |name: &str, family: &str| {
        settings.only.as_ref().is_none_or(|only| name.contains(only.as_str()) || family.contains(only.as_str()))
    };
    let faults: Vec<Fault> = faults::registry().into_iter().filter(|fault| wanted(&fault.name, fault.family)).collect();
    let odd: Vec<Odd> = odd::registry().into_iter().filter(|odd| wanted(odd.name, "odd")).collect();
    let room = Arc::new(Semaphore::new(settings.workers.max(1)));
    let mut running = JoinSet::new();
    for (at, fault) in faults.into_iter().enumerate() {
        let (room, settings) = (Arc::clone(&room), settings.clone());
        running.spawn(async move {
            let _place = room.acquire_owned().await;
            (at, Either::Fault(one_fault(&fault, &settings).await))
        });
    }
    for (at, odd) in odd.into_iter().enumerate() {
        let (room, settings) = (Arc::clone(&room), settings.clone());
        running.spawn(async move {
            let _place = room.acquire_owned().await;
            (at, Either::Odd(one_odd(&odd, &settings).await))
        });
    }
    let (mut faults, mut odd) = (BTreeMap::new(), BTreeMap::new());
    while let Some(done) = running.join_next().await {
        match done {
            Ok((at, Either::Fault(score))) => {
                tell(&line(&score));
                faults.insert(at, score);
            }
            Ok((at, Either::Odd(score))) => {
                tell(&odd_line(&score));
                odd.insert(at, score);
            }
            Err(error) => tell(&format!("a run broke off: {error}")),
        }
    }
    let faults: Vec<FaultScore> = faults.into_values().collect();
    let odd_servers: Vec<OddScore> = odd.into_values().collect();
    Score {
        suite: env!("CARGO_PKG_VERSION"),
        date: chrono::Utc::now().date_naive().to_string(),
        catalogue: catalogue_digest(),
        rows: Catalogue::built_in().map_or(0, |catalogue| catalogue.rows().len()),
        intensity: settings.intensity,
        seeds: (settings.seeds.start, settings.seeds.end),
        runs: faults.iter().map(|one| one.killed.len().saturating_add(one.survived.len())).sum(),
        killed: faults.iter().map(|one| one.killed.len()).sum(),
        odd: odd_servers.len(),
        accused: odd_servers.iter().filter(|one| !one.accused.is_empty()).count(),
        seconds: began.elapsed().as_secs_f64(),
        faults,
        odd_servers,
    }
}

enum Either {
    Fault(FaultScore),
    Odd(OddScore),
}

fn line(score: &FaultScore) -> String {
    let runs = score.killed.len().saturating_add(score.survived.len());
    let verdict = if score.survived.is_empty() { "killed " } else { "ALIVE  " };
    let first = score.survived.iter().next().map(|(seed, why)| format!(": seed {seed}: {why}")).unwrap_or_default();
    format!("{verdict} {}/{runs} {:6.2} s  {} ({}){first}", score.killed.len(), score.seconds, score.name, score.family)
}

fn odd_line(score: &OddScore) -> String {
    let clean = score.accused.is_empty() && score.broken.is_empty();
    let verdict = if clean { "fair   " } else { "ACCUSED" };
    let mut text = format!("{verdict} {:6.2} s  {}", score.seconds, score.name);
    for (row, reason) in score.accused.iter().take(12) {
        let _ = write!(text, "\n          {row}: {reason}");
    }
    for why in score.broken.iter().take(2) {
        let _ = write!(text, "\n          {why}");
    }
    if !score.inconclusive.is_empty() {
        let rows: Vec<&str> = score.inconclusive.iter().map(String::as_str).take(15).collect();
        let _ = write!(text, "\n          without a verdict ({}): {}", score.inconclusive.len(), rows.join(", "));
    }
    text
}

async fn one_fault(fault: &Fault, settings: &Settings) -> FaultScore {
    let began = Instant::now();
    let rows = expected(fault);
    let mut score = FaultScore {
        name: fault.name.clone(),
        family: fault.family,
        place: fault.place.as_str(),
        over: match fault.over {
            Over::Mirror(_) => "second service",
            Over::Reference(_) => "reference server",
        },
        rows: fault.rows.clone(),
        killed: Vec::new(),
        survived: BTreeMap::new(),
        failed: BTreeSet::new(),
        seconds: 0.0,
    };
    for seed in settings.seeds.clone() {
        let report = match fault.start().await {
            Ok(subject) => suite(&subject, settings, seed).stop_at_failure(rows.clone()).run().await,
            Err(error) => {
                score.survived.insert(seed, error.to_string());
                continue;
            }
        };
        match report {
            Ok(report) => {
                let failed: BTreeSet<String> = failed(&report).map(|row| row.id.clone()).collect();
                if failed.iter().any(|row| rows.contains(row)) {
                    score.killed.push(seed);
                } else {
                    score.survived.insert(seed, format!("{} rows failed, none expected", failed.len()));
                }
                score.failed.extend(failed);
            }
            Err(error) => {
                score.survived.insert(seed, error.to_string());
            }
        }
    }
    score.seconds = began.elapsed().as_secs_f64();
    score
}

async fn one_odd(odd: &Odd, settings: &Settings) -> OddScore {
    let began = Instant::now();
    let mut score = OddScore {
        name: odd.name,
        seeds: settings.odd_seeds.clone().collect(),
        accused: BTreeMap::new(),
        inconclusive: BTreeSet::new(),
        broken: Vec::new(),
        seconds: 0.0,
    };
    for seed in settings.odd_seeds.clone() {
        let report = match odd.start().await {
            Ok(subject) => suite(&subject, settings, seed).run().await.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match report {
            Ok(report) => {
                let accused = failed(&report).map(|row| {
                    let found = row.findings.first().map(|finding| format!("{finding:?}"));
                    (row.id.clone(), found.unwrap_or_else(|| row.reason.clone()).chars().take(600).collect())
                });
                score.accused.extend(accused);
                score.inconclusive.extend(report.inconclusive().map(|row| row.id.clone()));
                let errors = report.with(Outcome::Error).map(|row| format!("{}: {}", row.id, row.reason));
                score.broken.extend(errors);
            }
            Err(why) => score.broken.push(why),
        }
    }
    score.seconds = began.elapsed().as_secs_f64();
    score
}

/// The rows of a report that failed.
fn failed(report: &Report) -> impl Iterator<Item = &crate::report::RowReport> {
    report.with(Outcome::Fail)
}

/// The MUST rows that a fault breaks, one by one.
fn expected(fault: &Fault) -> Vec<String> {
    let rows = Catalogue::built_in().map(Catalogue::rows).unwrap_or_default();
    let binds = rows.iter().filter(|row| row.level == Level::Must && fault.breaks(&row.id));
    binds.map(|row| row.id.clone()).collect()
}

/// A run of the suite against a service.
#[must_use]
pub fn suite(subject: &Subject, settings: &Settings, seed: u64) -> Suite {
    let mut keys = Keys::primary(&subject.key);
    if let Some(other) = &subject.other_key {
        keys = keys.other_tenant(other);
    }
    if let Some((key, lacks)) = &subject.restricted_key {
        keys = keys.restricted(key, lacks);
    }
    let target = InProcess::new(subject.wire.clone()).base(subject.base.clone());
    Suite::new(target).keys(keys).intensity(settings.intensity).seed(seed).clean_up(false).allow_side_effects(true)
}

//! Runs the suite against mutants and unusual servers.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::time::Instant;

use super::detections::{self, DetectionTarget};
use super::mutants::{self, Mutant, SequenceMutant};
use super::pool::{Pool, Room};
use super::progress::{FinishedJob, JobName, Progress};
use super::results::{MutantScore, SelfTestResults, SelfTestScore, UnusualScore};
use super::settings::SelfTestSettings;
use super::smallest::{self, SmallestCase};
use super::trial::{failed, faulty, suite};
use super::unusual::{self, UnusualServer};
use svc_conformance::Intensity;
use svc_conformance::RequirementOutcome;
use svc_conformance::catalogue::{Catalogue, Level};

/// Number of simultaneous jobs whose server sends messages, for each other job. Their runs mostly
/// wait for these messages.
const WAITING: usize = 8;

/// Runs everything that `progress` has no result of; `tell` is called with a line for each server
/// when it is finished.
///
/// The servers that send messages run before the others. A message that is late because the
/// machine is busy is like one that was not sent.
///
/// # Errors
/// Returns an error if a result cannot be written to the file of `progress`.
pub async fn run(
    settings: &SelfTestSettings,
    progress: &mut Progress,
    mut tell: impl FnMut(&str),
) -> io::Result<SelfTestScore> {
    let mut results = SelfTestResults::default();
    let (sending, others): (Vec<Job>, Vec<Job>) = jobs(settings).into_iter().partition(Job::sends);
    let more = settings.workers.saturating_mul(WAITING);
    for (jobs, workers) in [(sending, more), (others, settings.workers)] {
        let (room, mut running) = (Room::of(workers), Pool::new());
        for job in jobs {
            if let Some(finished) = progress.take(&job.name()) {
                finished.line().iter().for_each(|line| tell(line));
                results.add(finished);
            } else {
                running.start(&room, job.run(settings.clone()));
            }
        }
        while let Some(ended) = running.next().await {
            match ended {
                Ok(finished) => {
                    finished.line().iter().for_each(|line| tell(line));
                    progress.add(&finished)?;
                    results.add(finished);
                }
                Err(error) => {
                    tell(&format!("a run was aborted: {error}"));
                    results.aborted = results.aborted.saturating_add(1);
                }
            }
        }
    }
    Ok(SelfTestScore::of(settings, results))
}

/// The runs of one server, or those that search for the failure of one requirement.
enum Job {
    Unusual(UnusualServer),
    Mutant(Mutant),
    Smallest(SequenceMutant),
    Detection(DetectionTarget),
}

impl Job {
    /// Returns what identifies the result.
    fn name(&self) -> JobName {
        match self {
            Self::Unusual(server) => JobName::Unusual(server.name.clone()),
            Self::Mutant(fault) => JobName::Mutant(fault.name.clone()),
            Self::Smallest(planted) => JobName::Smallest(planted.fault.name.clone()),
            Self::Detection(target) => JobName::Detection(target.row.clone()),
        }
    }

    /// Returns whether a server sends the messages of its webhooks.
    fn sends(&self) -> bool {
        match self {
            Self::Unusual(server) => server.sends(),
            Self::Mutant(fault) => fault.over.sends(),
            Self::Smallest(planted) => planted.fault.over.sends(),
            Self::Detection(target) => target.faults.iter().any(|fault| fault.over.sends()),
        }
    }

    async fn run(self, settings: SelfTestSettings) -> FinishedJob {
        let intensity = settings.intensity;
        match self {
            Self::Unusual(server) => FinishedJob::Unusual(one_odd(&server, &settings).await),
            Self::Mutant(fault) => FinishedJob::Mutant(one_fault(&fault, &settings).await),
            Self::Smallest(planted) => {
                FinishedJob::Smallest(smallest::search(&planted, intensity, settings.seeds).await)
            }
            Self::Detection(target) => FinishedJob::Detection(
                detections::see(&target, intensity, settings.seeds.start).await,
            ),
        }
    }
}

/// Returns the selected jobs, the long ones first, so that none of them runs alone at the end.
fn jobs(settings: &SelfTestSettings) -> Vec<Job> {
    let is_selected = |name: &str, family: &str| {
        settings
            .only
            .as_ref()
            .is_none_or(|only| name.contains(only.as_str()) || family.contains(only.as_str()))
    };
    let faults: Vec<Mutant> = mutants::registry()
        .into_iter()
        .filter(|fault| is_selected(&fault.name, fault.family))
        .collect();
    let targets = detections::sought(&faults).into_iter().map(Job::Detection);
    let planted = mutants::planted()
        .into_iter()
        .filter(|planted| is_selected(&planted.fault.name, "smallest"))
        .map(Job::Smallest);
    // At the lowest intensity the search is too short.
    let is_long = settings.intensity != Intensity::Quick;
    let searches: Vec<Job> = planted.chain(targets).filter(|_| is_long).collect();
    let odd = unusual::registry()
        .into_iter()
        .filter(|odd| is_selected(&odd.name, "odd"))
        .map(Job::Unusual);
    odd.chain(faults.into_iter().map(Job::Mutant))
        .chain(searches)
        .collect()
}

impl FinishedJob {
    /// Returns what to print.
    fn line(&self) -> Option<String> {
        match self {
            Self::Unusual(score) => Some(odd_line(score)),
            Self::Mutant(score) => Some(line(score)),
            Self::Smallest(found) => Some(smallest_line(found)),
            Self::Detection(seen) => seen
                .fault
                .is_none()
                .then(|| format!("UNSEEN  {}: {:?}", seen.row, seen.missed)),
        }
    }
}

fn smallest_line(found: &SmallestCase) -> String {
    let SmallestCase {
        name,
        shortest,
        seeds,
        found: times,
        longest,
        missed,
        ..
    } = found;
    let verdict = if found.is_near() {
        "near   "
    } else {
        "FAR    "
    };
    let why = missed
        .iter()
        .next()
        .map(|(seed, why)| format!("\n          seed {seed}: {why}"))
        .unwrap_or_default();
    format!(
        "{verdict} {times}/{seeds} at most {longest} steps, {shortest} are necessary  {name} \
            (smallest case){why}"
    )
}

fn line(score: &MutantScore) -> String {
    let all = score.runs.survived.iter().chain(&score.quick.survived);
    let verdict = if score.runs.survived.is_empty() && score.quick.survived.is_empty() {
        "killed "
    } else {
        "ALIVE  "
    };
    let first = all
        .into_iter()
        .next()
        .map(|(seed, why)| format!(": seed {seed}: {why}"))
        .unwrap_or_default();
    let MutantScore {
        name,
        family,
        seconds,
        ..
    } = score;
    format!(
        "{verdict} {} + {} quick {seconds:6.2} s  {name} ({family}){first}",
        score.runs, score.quick
    )
}

fn odd_line(score: &UnusualScore) -> String {
    let clean = score.accused.is_empty() && score.broken.is_empty();
    let verdict = if clean { "fair   " } else { "ACCUSED" };
    let mut text = format!(
        "{verdict} {} runs {:6.2} s  {}",
        score.runs, score.seconds, score.name
    );
    for (row, reason) in score.accused.iter().take(12) {
        let _ = write!(text, "\n          {row}: {reason}");
    }
    for why in score.broken.iter().take(2) {
        let _ = write!(text, "\n          {why}");
    }
    if !score.inconclusive.is_empty() {
        let rows: Vec<&str> = score
            .inconclusive
            .iter()
            .map(String::as_str)
            .take(15)
            .collect();
        let _ = write!(
            text,
            "\n          without a verdict ({}): {}",
            score.inconclusive.len(),
            rows.join(", ")
        );
    }
    text
}

async fn one_fault(fault: &Mutant, settings: &SelfTestSettings) -> MutantScore {
    let began = Instant::now();
    let rows = expected(fault);
    let mut score = MutantScore::of(fault);
    let quick = settings
        .quick_seeds
        .clone()
        .map(|seed| (Intensity::Quick, seed));
    let quick = quick.filter(|_| settings.intensity != Intensity::Quick);
    for (intensity, seed) in settings
        .seeds
        .clone()
        .map(|seed| (settings.intensity, seed))
        .chain(quick)
    {
        let outcome = match faulty(fault, intensity, seed, &rows).await {
            Ok(report) => {
                let failed: BTreeSet<String> = failed(&report).map(|row| row.id.clone()).collect();
                let hit = failed.iter().any(|row| rows.contains(row));
                let why = format!(
                    "{} requirements failed, none of them expected: {failed:?}",
                    failed.len()
                );
                score.failed.extend(failed);
                if hit { Ok(()) } else { Err(why) }
            }
            Err(error) => Err(error),
        };
        let runs = if intensity == settings.intensity {
            &mut score.runs
        } else {
            &mut score.quick
        };
        runs.took(seed, outcome);
    }
    score.seconds = began.elapsed().as_secs_f64();
    score
}

async fn one_odd(odd: &UnusualServer, settings: &SelfTestSettings) -> UnusualScore {
    let began = Instant::now();
    let mut score = UnusualScore::of(&odd.name);
    let full = settings
        .odd_seeds
        .clone()
        .map(|seed| (settings.intensity, seed));
    let quick = settings
        .odd_quick_seeds
        .clone()
        .map(|seed| (Intensity::Quick, seed));
    for (intensity, seed) in full.chain(quick) {
        let report = match odd.start().await {
            Ok(subject) => suite(&subject, intensity, seed)
                .run()
                .await
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        score.runs = score.runs.saturating_add(1);
        match report {
            Ok(report) => {
                let accused = failed(&report).map(|row| {
                    let found = row.findings.first().map(|finding| format!("{finding:?}"));
                    let found: String = found
                        .unwrap_or_else(|| row.reason.clone())
                        .chars()
                        .take(900)
                        .collect();
                    (
                        row.id.clone(),
                        format!("{} seed {seed}: {found}", intensity.as_str()),
                    )
                });
                score.accused.extend(accused);
                score
                    .inconclusive
                    .extend(report.inconclusive().map(|row| row.id.clone()));
                let errors = report
                    .with_outcome(RequirementOutcome::Error)
                    .map(|row| format!("{}: {}", row.id, row.reason));
                score.broken.extend(errors);
            }
            Err(why) => score.broken.push(why),
        }
    }
    score.seconds = began.elapsed().as_secs_f64();
    score
}

/// Returns the ids of the MUST requirements that a fault breaks.
fn expected(fault: &Mutant) -> Vec<String> {
    let rows = Catalogue::built_in()
        .map(Catalogue::requirements)
        .unwrap_or_default();
    let binds = rows
        .iter()
        .filter(|row| row.level == Level::Must && fault.breaks(&row.id));
    binds.map(|row| row.id.clone()).collect()
}

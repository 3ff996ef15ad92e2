//! Runs the suite against mutants and unusual servers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Instant;

use super::detections::{self, Detection};
use super::mutants::{self, BaseServer, Mutant};
use super::pool::{Pool, Room};
use super::results::{MutantScore, SelfTestScore, UnusualScore};
use super::settings::SelfTestSettings;
use super::smallest::{self, SmallestCase};
use super::trial::{failed, faulty, suite};
use super::unusual::{self, UnusualServer};
use svc_conformance::Intensity;
use svc_conformance::RequirementOutcome;
use svc_conformance::catalogue::{Catalogue, Level};

/// Number of simultaneous runs of servers with long waits, for each other run.
const WAITING: usize = 4;

/// Runs everything; `tell` is called with a line for each server when it is finished.
pub async fn run(settings: &SelfTestSettings, mut tell: impl FnMut(&str)) -> SelfTestScore {
    let began = Instant::now();
    let wanted = |name: &str, family: &str| {
        settings
            .only
            .as_ref()
            .is_none_or(|only| name.contains(only.as_str()) || family.contains(only.as_str()))
    };
    let faults: Vec<Mutant> = mutants::registry()
        .into_iter()
        .filter(|fault| wanted(&fault.name, fault.family))
        .collect();
    let sought = detections::sought(&faults);
    let odd: Vec<UnusualServer> = unusual::registry()
        .into_iter()
        .filter(|odd| wanted(&odd.name, "odd"))
        .collect();
    let room = Room::of(settings.workers);
    // These runs wait for messages of webhooks most of the time.
    let room_to_wait = Room::of(settings.workers.saturating_mul(WAITING));
    let mut running = Pool::new();
    // The long runs start first, so that none of them runs alone at the end.
    for (at, odd) in odd.into_iter().enumerate() {
        let settings = settings.clone();
        running.start(&room, async move {
            (at, Either::Odd(one_odd(&odd, &settings).await))
        });
    }
    for (at, fault) in faults.into_iter().enumerate() {
        let room = if matches!(fault.over, BaseServer::Sending) {
            &room_to_wait
        } else {
            &room
        };
        let settings = settings.clone();
        running.start(room, async move {
            (at, Either::Fault(one_fault(&fault, &settings).await))
        });
    }
    // At the lowest intensity the search is too short.
    for (at, planted) in mutants::planted()
        .into_iter()
        .enumerate()
        .filter(|_| settings.intensity != Intensity::Quick)
    {
        if wanted(&planted.fault.name, "smallest") {
            let settings = settings.clone();
            running.start(&room, async move {
                (
                    at,
                    Either::Smallest(
                        smallest::search(&planted, settings.intensity, settings.seeds).await,
                    ),
                )
            });
        }
    }
    for sought in sought
        .into_iter()
        .filter(|_| settings.intensity != Intensity::Quick)
    {
        let (intensity, seed) = (settings.intensity, settings.seeds.start);
        running.start(&room, async move {
            (
                0,
                Either::Seen(detections::see(&sought, intensity, seed).await),
            )
        });
    }
    let (mut faults, mut odd, mut smallest) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut rows = BTreeMap::new();
    while let Some(done) = running.next().await {
        match done {
            Ok((at, Either::Fault(score))) => {
                tell(&line(&score));
                faults.insert(at, score);
            }
            Ok((at, Either::Odd(score))) => {
                tell(&odd_line(&score));
                odd.insert(at, score);
            }
            Ok((at, Either::Smallest(found))) => {
                tell(&smallest_line(&found));
                smallest.insert(at, found);
            }
            Ok((_, Either::Seen(seen))) => {
                if seen.fault.is_none() {
                    tell(&format!("UNSEEN  {}: {:?}", seen.row, seen.missed));
                }
                rows.insert(seen.row, seen.fault);
            }
            Err(error) => tell(&format!("a run was aborted: {error}")),
        }
    }
    let faults: Vec<MutantScore> = faults.into_values().collect();
    let odd: Vec<UnusualScore> = odd.into_values().collect();
    SelfTestScore::of(
        settings,
        began.elapsed(),
        &faults,
        &odd,
        smallest.into_values().collect(),
        &rows,
    )
}

enum Either {
    Fault(MutantScore),
    Odd(UnusualScore),
    Smallest(SmallestCase),
    Seen(Detection),
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

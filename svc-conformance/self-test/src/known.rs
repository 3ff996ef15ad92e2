//! Which rows fail for each faulty server: what the suite knows of faults when it looks for causes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

use svc_conformance::Intensity;
use svc_conformance::catalogue::Catalogue;

use super::faults::registry;
use super::pool::{Pool, Room};
use super::trial::{failed, faulty};

/// The rows that failed for a fault in each run so far.
type Runs = Vec<BTreeSet<String>>;

/// Runs the faulty servers whose name or family contains `only` at the least intensity with each seed, and puts what failed into a
/// file of known faults; the lines of the others stay, those of servers that are no longer there go. `tell` is called with each run.
pub async fn updated(
    text: &str,
    only: Option<&str>,
    seeds: Range<u64>,
    workers: usize,
    mut tell: impl FnMut(&str),
) -> String {
    let faults = registry();
    let names: BTreeSet<String> = faults.iter().map(|fault| fault.name.clone()).collect();
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    let mut known: BTreeMap<String, String> = lines
        .filter(|(name, _)| names.contains(*name))
        .map(|(name, rows)| (name.to_owned(), rows.to_owned()))
        .collect();
    let (room, mut running) = (Room::of(workers), Pool::new());
    let is_meant = |text: &str| only.is_none_or(|only| text.contains(only));
    for fault in faults.into_iter().filter(|fault| is_meant(&fault.name) || is_meant(fault.family)) {
        for seed in seeds.clone() {
            let fault = fault.clone();
            running.start(&room, async move {
                let report = faulty(&fault, Intensity::Quick, seed, &[]).await;
                (fault.name, seed, report.map(|report| failed(&report).map(|row| row.id.clone()).collect()))
            });
        }
    }
    let mut runs: BTreeMap<String, Runs> = BTreeMap::new();
    while let Some(ended) = running.next().await {
        match ended {
            Ok((name, seed, failed)) => {
                let failed: BTreeSet<String> = failed.unwrap_or_else(|error| {
                    tell(&format!("{name}: seed {seed}: {error}"));
                    BTreeSet::new()
                });
                tell(&format!("{name}: seed {seed}: {} rows fail", failed.len()));
                runs.entry(name).or_default().push(failed);
            }
            Err(error) => tell(&format!("a run broke off: {error}")),
        }
    }
    for (name, runs) in runs {
        known.remove(&name);
        known.extend(line(&runs).map(|rows| (name, rows)));
    }
    let mut text = String::new();
    for (name, rows) in known {
        let _ = writeln!(text, "{name}\t{rows}");
    }
    text
}

/// The rows that fail in every run, and after a tab those that fail in some; nothing where none fails.
fn line(runs: &Runs) -> Option<String> {
    let any: BTreeSet<&str> = runs.iter().flatten().map(String::as_str).collect();
    let (always, sometimes): (BTreeSet<&str>, BTreeSet<&str>) =
        any.iter().partition(|row| runs.iter().all(|run| run.contains(**row)));
    let line =
        if sometimes.is_empty() { ranges(&always) } else { format!("{}\t{}", ranges(&always), ranges(&sometimes)) };
    (!any.is_empty()).then_some(line)
}

/// Rows in the order of the catalogue; `HAL-02..05` are four of them.
fn ranges(rows: &BTreeSet<&str>) -> String {
    let all = Catalogue::built_in().map(Catalogue::rows).unwrap_or_default();
    let mut ranges: Vec<(&str, u16, u16)> = Vec::new();
    for id in all.iter().map(|row| row.id.as_str()).filter(|id| rows.contains(id)) {
        let Some((area, number)) = id.rsplit_once('-') else { continue };
        let Ok(number) = number.parse::<u16>() else { continue };
        match ranges.last_mut() {
            Some((of, _, last)) if *of == area && last.checked_add(1) == Some(number) => *last = number,
            _ => ranges.push((area, number, number)),
        }
    }
    let written = ranges.into_iter().map(|(area, first, last)| {
        let rest = if first == last { String::new() } else { format!("..{last:02}") };
        format!("{area}-{first:02}{rest}")
    });
    written.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Runs, line};

    fn runs(runs: &[&[&str]]) -> Runs {
        runs.iter().map(|run| run.iter().map(ToString::to_string).collect::<BTreeSet<_>>()).collect()
    }

    #[test]
    fn neighbours_are_written_as_a_range_and_what_fails_in_some_runs_apart() {
        assert_eq!(
            line(&runs(&[&["HAL-03", "HAL-02", "COL-31", "HAL-06"]])).as_deref(),
            Some("HAL-02..03 HAL-06 COL-31")
        );
        assert_eq!(
            line(&runs(&[&["HAL-02", "HAL-03"], &["HAL-02", "ENT-01"]])).as_deref(),
            Some("HAL-02\tHAL-03 ENT-01")
        );
        assert_eq!(line(&runs(&[&["HAL-02"], &[]])).as_deref(), Some("\tHAL-02"));
        assert_eq!(line(&runs(&[&[], &[]])), None);
    }
}

//! Three faults planted in one server: whether the report has three findings, each with the
//! failures of one fault.

use std::collections::BTreeSet;

use svc_conformance::{Intensity, Report};

use super::mutants::{BaseServer, Mutant, registry};
use super::pool::{Pool, Room};
use super::subject::{SubjectError, TestSubject};
use super::trial::{failed, suite};

/// The results of one triple.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Triple {
    /// The names of the faults.
    pub faults: Vec<String>,
    /// The requirements of each finding, with its sentence.
    pub findings: Vec<(String, BTreeSet<String>)>,
    /// The requirements that fail for each fault alone.
    pub alone: Vec<BTreeSet<String>>,
    /// Why the run was not evaluated, for example because a run with this seed does not detect one
    /// of the faults.
    pub trouble: Option<String>,
}

impl Triple {
    /// Returns whether there is exactly one finding for each fault, and all requirements of the
    /// finding fail for that fault alone.
    #[must_use]
    pub fn is_right(&self) -> bool {
        let fits = |finding: &BTreeSet<String>, fault: &BTreeSet<String>| finding.is_subset(fault);
        let Self {
            findings, alone, ..
        } = self;
        self.trouble.is_none()
            && findings.len() == alone.len()
            && alone
                .iter()
                .all(|fault| findings.iter().any(|(_, rows)| fits(rows, fault)))
            && findings
                .iter()
                .all(|(_, rows)| alone.iter().any(|fault| fits(rows, fault)))
    }
}

/// Random numbers of a seed (`SplitMix64`).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut one = self.0;
        one = (one ^ (one >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        one = (one ^ (one >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let one = usize::try_from((one ^ (one >> 31)) >> 1).unwrap_or(usize::MAX);
        one.checked_rem(most).unwrap_or(0)
    }
}

/// Returns random triples of faults of one server; each of the three breaks another requirement
/// than the other two.
#[must_use]
pub fn chosen(count: usize, seed: u64) -> Vec<[Mutant; 3]> {
    let of_second = |fault: &Mutant| matches!(fault.over, BaseServer::SecondServer(_));
    let (second, reference): (Vec<Mutant>, Vec<Mutant>) =
        registry().into_iter().partition(of_second);
    let mut numbers = Numbers(seed);
    let mut triples = Vec::new();
    while triples.len() < count {
        let all = second.len().saturating_add(reference.len());
        let list = if numbers.below(all) < second.len() {
            &second
        } else {
            &reference
        };
        let mut pick = || list.get(numbers.below(list.len()));
        let (Some(one), Some(two), Some(three)) = (pick(), pick(), pick()) else {
            continue;
        };
        let apart = |a: &Mutant, b: &Mutant| a.rows.iter().all(|row| !b.rows.contains(row));
        if apart(one, two) && apart(two, three) && apart(one, three) {
            triples.push([one.clone(), two.clone(), three.clone()]);
        }
    }
    triples
}

/// The settings of the runs of triples.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// The seed of each run.
    pub seed: u64,
    /// The number of simultaneous runs.
    pub workers: usize,
    /// Whether the report may use the known failures of the three faults. Otherwise it treats them
    /// as unknown faults.
    pub are_known: bool,
}

/// Runs triples; `tell` is called with each one when it is finished.
pub async fn run(
    triples: Vec<[Mutant; 3]>,
    how: How,
    mut tell: impl FnMut(&Triple),
) -> Vec<Triple> {
    let (room, mut running) = (Room::of(how.workers), Pool::new());
    for faults in triples {
        running.start(&room, async move { one(&faults, how).await });
    }
    let mut done = Vec::new();
    while let Some(ended) = running.next().await {
        let Ok(triple) = ended else { continue };
        tell(&triple);
        done.push(triple);
    }
    done
}

async fn one(faults: &[Mutant; 3], how: How) -> Triple {
    let mut triple = Triple {
        faults: faults.iter().map(|fault| fault.name.clone()).collect(),
        findings: Vec::new(),
        alone: Vec::new(),
        trouble: None,
    };
    for fault in faults {
        match report(std::slice::from_ref(fault), how.seed).await {
            Ok(report) => {
                let rows = rows(&report);
                if rows.is_empty() {
                    triple.trouble = Some(format!(
                        "a quick run with this seed does not detect: {}",
                        fault.name
                    ));
                    return triple;
                }
                triple.alone.push(rows);
            }
            Err(error) => triple.trouble = Some(format!("{}: {error}", fault.name)),
        }
    }
    match report(faults, how.seed).await {
        Ok(report) => {
            let strange: Vec<&str> = faults
                .iter()
                .filter(|_| !how.are_known)
                .map(|fault| fault.name.as_str())
                .collect();
            let causes = report.causes_without(&strange).into_iter();
            triple.findings = causes
                .map(|one| (one.what, one.rows.into_iter().collect()))
                .collect();
        }
        Err(error) => triple.trouble = Some(error),
    }
    triple
}

fn rows(report: &Report) -> BTreeSet<String> {
    failed(report).map(|row| row.id.clone()).collect()
}

/// Runs the suite completely at the lowest intensity against a server with these faults.
async fn report(faults: &[Mutant], seed: u64) -> Result<Report, String> {
    let subject = start(faults).await.map_err(|error| error.to_string())?;
    suite(&subject, Intensity::Quick, seed)
        .run()
        .await
        .map_err(|error| error.to_string())
}

/// Returns a server with several faults, the first one closest to the service.
async fn start(faults: &[Mutant]) -> Result<TestSubject, SubjectError> {
    let mut subject = BaseServer::start_all(faults.iter().map(|fault| fault.over)).await?;
    for fault in faults {
        let (twist, base) = ((fault.twist)(), subject.base.clone());
        subject = subject.behind(|wire, prefix| twist.over(wire, prefix, &base));
    }
    Ok(subject)
}

//! The smallest cases of the planted faults: whether the stateful search finds each of them, and
//! with how many steps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::mutants::SequenceMutant;
use super::trial::suite;
use svc_conformance::Intensity;

/// The results of the stateful search for one planted fault.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SmallestCase {
    /// The name of the fault.
    pub name: String,
    /// The number of steps of the shortest possible case.
    pub shortest: usize,
    /// The number of seeds.
    pub seeds: usize,
    /// The number of seeds that found the fault.
    pub found: usize,
    /// The number of steps of the longest case that was found.
    pub longest: usize,
    /// The results of the runs that did not find the fault, by seed.
    #[serde(skip)]
    pub missed: BTreeMap<u64, String>,
}

impl SmallestCase {
    /// Returns whether every seed found the fault with at most one step more than necessary.
    #[must_use]
    pub const fn is_near(&self) -> bool {
        self.found == self.seeds && self.longest <= self.shortest.saturating_add(1)
    }
}

/// Searches for a planted fault with each seed.
pub async fn search(
    planted: &SequenceMutant,
    intensity: Intensity,
    seeds: impl Iterator<Item = u64>,
) -> SmallestCase {
    let mut all = SmallestCase {
        name: planted.fault.name.clone(),
        shortest: planted.steps,
        seeds: 0,
        found: 0,
        longest: 0,
        missed: BTreeMap::new(),
    };
    for seed in seeds {
        all.seeds = all.seeds.saturating_add(1);
        match steps(planted, intensity, seed).await {
            Ok(steps) => {
                all.found = all.found.saturating_add(1);
                all.longest = all.longest.max(steps);
            }
            Err(why) => drop(all.missed.insert(seed, why)),
        }
    }
    all
}

/// Returns the number of steps of the smallest case that one run found.
async fn steps(planted: &SequenceMutant, intensity: Intensity, seed: u64) -> Result<usize, String> {
    let subject = planted
        .fault
        .start()
        .await
        .map_err(|error| error.to_string())?;
    let run = suite(&subject, intensity, seed)
        .only(["mod/sequences"])
        .stop_at_failure_of(planted.fault.rows.clone());
    let report = run.run().await.map_err(|error| error.to_string())?;
    let rows = report
        .rows
        .iter()
        .filter(|row| planted.fault.breaks(&row.id));
    let cases = rows
        .flat_map(|row| &row.findings)
        .map(|finding| finding.smallest.len());
    cases
        .filter(|steps| *steps > 0)
        .min()
        .ok_or_else(|| format!("the fault was not found:\n{report}"))
}

//! Which requirements fail: for each binding requirement, a mutant whose run fails that
//! requirement.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::mutants::Mutant;
use super::trial::{failed, faulty};
use svc_conformance::Intensity;
use svc_conformance::catalogue::{Catalogue, Level};

/// A binding requirement with the mutants that name it, those that break the fewest requirements
/// first.
#[derive(Debug, Clone)]
pub struct DetectionTarget {
    /// The id of the requirement.
    pub row: String,
    /// The mutants.
    pub faults: Vec<Mutant>,
}

/// The result of the search for one requirement.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Detection {
    /// The id of the requirement.
    pub row: String,
    /// The mutant whose run failed the requirement.
    pub fault: Option<String>,
    /// The results of the other runs, by the name of the mutant.
    pub missed: BTreeMap<String, String>,
}

/// Returns every binding requirement that a mutant exists for.
#[must_use]
pub fn sought(faults: &[Mutant]) -> Vec<DetectionTarget> {
    let rows = Catalogue::built_in()
        .map(Catalogue::requirements)
        .unwrap_or_default();
    let of = |row: &str| {
        let mut named: Vec<Mutant> = faults
            .iter()
            .filter(|fault| fault.rows.iter().any(|one| one == row))
            .cloned()
            .collect();
        named.sort_by_key(|fault| fault.rows.len());
        named
    };
    let binding = rows.iter().filter(|row| row.level == Level::Must);
    let sought = binding.map(|row| DetectionTarget {
        row: row.id.clone(),
        faults: of(&row.id),
    });
    sought.filter(|sought| !sought.faults.is_empty()).collect()
}

/// Runs the suite against the mutants, one after the other, until one of them fails the
/// requirement.
pub async fn see(sought: &DetectionTarget, intensity: Intensity, seed: u64) -> Detection {
    let rows = [sought.row.clone()];
    let mut missed = BTreeMap::new();
    for fault in &sought.faults {
        match faulty(fault, intensity, seed, &rows).await {
            Ok(report) if failed(&report).any(|row| row.id == sought.row) => {
                return Detection {
                    row: sought.row.clone(),
                    fault: Some(fault.name.clone()),
                    missed,
                };
            }
            Ok(report) => {
                let others: Vec<&str> = failed(&report).map(|row| row.id.as_str()).collect();
                missed.insert(fault.name.clone(), format!("failed {others:?}"));
            }
            Err(error) => drop(missed.insert(fault.name.clone(), error)),
        }
    }
    Detection {
        row: sought.row.clone(),
        fault: None,
        missed,
    }
}

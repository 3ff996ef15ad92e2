//! Which rows were seen to fail: for each row that binds, a faulty server that is run until it
//! fails that very row.

use std::collections::BTreeMap;

use super::faults::Mutant;
use super::trial::{failed, faulty};
use svc_conformance::Intensity;
use svc_conformance::catalogue::{Catalogue, Level};

/// A row that binds, with the faulty servers that name it: those that break the fewest rows first.
#[derive(Debug, Clone)]
pub struct DetectionTarget {
    /// Its id.
    pub row: String,
    /// The faulty servers.
    pub faults: Vec<Mutant>,
}

/// What came of the search for one row.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Detection {
    /// Its id.
    pub row: String,
    /// The faulty server whose run failed the row.
    pub fault: Option<String>,
    /// What the other runs said, by the name of the faulty server.
    pub missed: BTreeMap<String, String>,
}

/// Every row that binds and that a faulty server is made for.
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

/// Runs the suite against one faulty server after the other until one fails the row.
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

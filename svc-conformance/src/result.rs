//! The result file of a run: a short summary for publication, without traffic, keys, URLs and
//! records.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::catalogue::Catalogue;
use crate::outcome::RequirementOutcome;
use crate::profile::Profile;
use crate::report::Report;
use crate::settings::Intensity;

/// The version of the file format.
const VERSION: u32 = 1;

/// The content of a result file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultFile {
    result_version: u32,
    /// The name of the server, as given by the caller.
    pub(crate) name: Option<String>,
    /// The date on which the run started.
    pub(crate) date: String,
    /// The version of the suite.
    pub(crate) suite: String,
    /// The digest of the catalogue.
    pub(crate) catalogue: String,
    /// The declared version of the API.
    pub(crate) interface: String,
    pub(crate) profile: Profile,
    pub(crate) intensity: Intensity,
    pub(crate) verdict: String,
    /// The collections that the server declares.
    pub(crate) collections: Vec<String>,
    /// The helpers that the server declares.
    pub(crate) helpers: Vec<String>,
    /// The number of requirements of the profile with each outcome.
    pub(crate) counts: BTreeMap<String, usize>,
    pub(crate) failed: Vec<String>,
    pub(crate) waived: Vec<String>,
    /// What the profile requires and the declaration lacks.
    pub(crate) lacks: Vec<String>,
    /// The SHA-256 of the file with this member empty.
    digest: String,
}

/// Error returned when a result file is rejected.
#[cfg(feature = "cli")]
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ResultError {
    #[error("it is not a result file of this version: {0}")]
    Unreadable(String),
    #[error(
        "its digest is wrong: the file was changed after the run that wrote it. Run the suite again"
    )]
    Changed,
    #[error(
        "its catalogue {0} is not the catalogue {1} of this program, so the results cannot be \
         compared. Run the suite again with this version"
    )]
    OtherCatalogue(String, String),
}

impl ResultFile {
    /// Creates the result of a report, with the name of the server if it is given.
    pub(crate) fn of(report: &Report, name: Option<&str>) -> Self {
        let ids = |outcome| {
            report
                .with_outcome(outcome)
                .map(|row| row.id.clone())
                .collect()
        };
        let catalogue = Catalogue::built_in().ok();
        let row = |id: &str| catalogue.and_then(|catalogue| catalogue.requirement(id));
        let is_part = |id: &str| row(id).is_none_or(|row| report.profile.has_row(row));
        let count = |outcome| {
            report
                .with_outcome(outcome)
                .filter(|row| is_part(&row.id))
                .count()
        };
        let counts = RequirementOutcome::ALL
            .map(|outcome| (outcome.as_str().replace(' ', "_"), count(outcome)));
        let result = Self {
            result_version: VERSION,
            name: name.map(ToOwned::to_owned),
            date: report.began.chars().take(10).collect(),
            suite: report.suite.clone(),
            catalogue: report.catalogue.clone(),
            interface: report.interface.clone(),
            profile: report.profile,
            intensity: report.intensity,
            verdict: report.verdict().to_owned(),
            collections: report.declared.collections.keys().cloned().collect(),
            helpers: report.declared.helpers.keys().cloned().collect(),
            counts: counts.into_iter().collect(),
            failed: ids(RequirementOutcome::Fail),
            waived: ids(RequirementOutcome::Waived),
            lacks: report.profile_lacks.clone(),
            digest: String::new(),
        };
        Self {
            digest: result.sum(),
            ..result
        }
    }

    /// Returns the text of the file.
    pub(crate) fn written(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a file that a run with this catalogue wrote and that was not changed.
    #[cfg(feature = "cli")]
    pub(crate) fn read(text: &str) -> Result<Self, ResultError> {
        let result: Self = serde_json::from_str(text)
            .map_err(|error| ResultError::Unreadable(error.to_string()))?;
        if result.result_version != VERSION {
            return Err(ResultError::Unreadable(format!(
                "it has result_version {}",
                result.result_version
            )));
        }
        if result.digest != result.sum() {
            return Err(ResultError::Changed);
        }
        let own = Catalogue::hash(Catalogue::TEXT);
        if result.catalogue != own {
            return Err(ResultError::OtherCatalogue(result.catalogue, own));
        }
        Ok(result)
    }

    /// Returns the number of requirements with an outcome.
    #[cfg(feature = "cli")]
    pub(crate) fn count(&self, outcome: RequirementOutcome) -> usize {
        self.counts
            .get(&outcome.as_str().replace(' ', "_"))
            .copied()
            .unwrap_or_default()
    }

    /// Returns the digest of everything else.
    fn sum(&self) -> String {
        let bare = Self {
            digest: String::new(),
            ..self.clone()
        };
        let text = serde_json::to_vec(&bare).unwrap_or_default();
        let digest: Vec<String> = Sha256::digest(&text)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("sha256:{}", digest.concat())
    }
}

impl Report {
    /// Returns the result file of the report, for publication, with the name of the server if it is
    /// given. It contains no traffic, keys, URLs or records. Its digest detects accidental changes,
    /// but does not protect against forgery.
    #[must_use]
    pub fn result_file(&self, name: Option<&str>) -> String {
        ResultFile::of(self, name).written()
    }
}

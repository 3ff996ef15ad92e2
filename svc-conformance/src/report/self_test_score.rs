//! The quality of the suite itself: the results of its self-test, which are built into this
//! program.

use std::fmt;

use serde::Deserialize;

use crate::catalogue::Catalogue;

/// The results file of the last self-test.
pub(crate) const RESULTS: &str = include_str!("../../self-test.json");

/// The results of the last self-test of this version: how many mutants were detected, and how many
/// unusual but conformant servers were wrongly failed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Score {
    /// The version of the suite.
    pub suite: String,
    /// The digest of the catalogue with which it was measured.
    pub catalogue: String,
    /// The date of the measurement.
    pub date: String,
    /// The number of runs against mutants, with all seeds.
    pub runs: usize,
    /// The number of those runs that detected the fault.
    pub killed: usize,
    /// The number of unusual but conformant servers.
    pub odd: usize,
    /// The number of those that were wrongly failed with any seed.
    pub accused: usize,
}

impl Score {
    /// Returns the score with its date and catalogue for the header of a report, or `not measured`.
    #[must_use]
    pub fn built_in_text() -> String {
        Self::read(RESULTS)
    }

    /// Formats the score of a results file. A file of another version or catalogue is not used.
    fn read(text: &str) -> String {
        let fits = |score: &Self| {
            score.catalogue == Catalogue::hash(Catalogue::TEXT)
                && score.suite == env!("CARGO_PKG_VERSION")
        };
        let score = serde_json::from_str(text)
            .ok()
            .filter(fits)
            .filter(|score: &Self| score.runs > 0);
        score.map_or_else(
            || "kill score not measured".to_owned(),
            |score| score.to_string(),
        )
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: usize, whole: usize| {
            let hundredths = part.saturating_mul(100).checked_div(whole).unwrap_or(0);
            format!(
                "{}.{:02}",
                hundredths.checked_div(100).unwrap_or(0),
                hundredths.checked_rem(100).unwrap_or(0)
            )
        };
        write!(
            f,
            "kill score {} ({}/{}), false alarms {}/{}, {} with catalogue {}",
            share(self.killed, self.runs),
            self.killed,
            self.runs,
            self.accused,
            self.odd,
            self.date,
            self.catalogue
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Score;
    use crate::catalogue::Catalogue;

    #[test]
    fn results_of_another_catalogue_are_not_shown() {
        let with = |catalogue: &str| {
            format!(
                "{{\"catalogue\":\"{catalogue}\",\"suite\":\"{}\",\"date\":\"2026-01-02\",\"runs\":200,\
                 \"killed\":199,\"odd\":27,\"accused\":0}}",
                env!("CARGO_PKG_VERSION")
            )
        };
        let hash = Catalogue::hash(Catalogue::TEXT);
        let expected = format!(
            "kill score 0.99 (199/200), false alarms 0/27, 2026-01-02 with catalogue {hash}"
        );
        assert_eq!(Score::read(&with(&hash)), expected);
        for text in [with("0"), "{}".to_owned(), String::new()] {
            assert_eq!(Score::read(&text), "kill score not measured");
        }
    }
}

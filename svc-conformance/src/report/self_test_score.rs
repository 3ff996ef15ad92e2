//! How well the suite itself does: the results of its self-test that are built into this program.

use std::fmt;

use serde::Deserialize;

use crate::catalogue::Catalogue;

/// The results file of the last self-test.
pub(crate) const RESULTS: &str = include_str!("../../self-test.json");

/// The results of the last self-test of this version: how many faulty servers were found out, and
/// how many odd but conformant ones were accused.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Score {
    /// Version of the suite.
    pub suite: String,
    /// Digest of the catalogue that it was measured with.
    pub catalogue: String,
    /// The day.
    pub date: String,
    /// Runs of faulty servers, with all seeds.
    pub runs: usize,
    /// Of those, how many found the fault.
    pub killed: usize,
    /// Odd but conformant servers.
    pub odd: usize,
    /// Of those, how many were accused with any seed.
    pub accused: usize,
}

impl Score {
    /// What the report header says of the suite: the score with its date and catalogue, or
    /// `not measured`.
    #[must_use]
    pub fn built_in_text() -> String {
        Self::read(RESULTS)
    }

    /// The words for a results file; one of another version or catalogue says nothing about this
    /// one.
    fn read(text: &str) -> String {
        let fits = |score: &Self| {
            score.catalogue == Catalogue::hash() && score.suite == env!("CARGO_PKG_VERSION")
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
        let hash = Catalogue::hash();
        let expected = format!(
            "kill score 0.99 (199/200), false alarms 0/27, 2026-01-02 with catalogue {hash}"
        );
        assert_eq!(Score::read(&with(&hash)), expected);
        for text in [with("0"), "{}".to_owned(), String::new()] {
            assert_eq!(Score::read(&text), "kill score not measured");
        }
    }
}

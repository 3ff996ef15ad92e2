//! Which requirements and checks a run includes, and which deviations are accepted.

use serde::{Deserialize, Serialize};

use crate::catalogue::{Catalogue, Requirement};
use crate::check::Check;
use crate::error::SuiteError;
use crate::profile::Profile;

/// The requirements and checks that a run includes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// The claim that is verified.
    pub(crate) profile: Profile,
    pub(crate) only: Vec<String>,
    pub(crate) except: Vec<String>,
    /// Only this check. Every requirement that it observes is judged.
    pub(crate) alone: Option<String>,
}

impl Selection {
    /// Returns an error if a pattern matches nothing. Otherwise, a mistyped filter would pass
    /// everything.
    pub(crate) fn verify(&self, catalogue: &Catalogue, checks: &[Check]) -> Result<(), SuiteError> {
        for pattern in self.only.iter().chain(&self.except) {
            let row = catalogue
                .requirements()
                .iter()
                .any(|row| is_row(pattern, row));
            if !row && !checks.iter().any(|check| matches(pattern, check.id)) {
                return Err(SuiteError::Usage(format!(
                    "`{pattern}` matches no requirement, area or check"
                )));
            }
        }
        Ok(())
    }

    /// Whether nothing is excluded.
    pub(crate) fn is_everything(&self) -> bool {
        self.profile.kinds().is_none() && self.only.is_empty() && self.except.is_empty()
    }

    /// Whether a requirement is included.
    pub(crate) fn has_row(&self, row: &Requirement, checks: &[Check]) -> bool {
        if self.alone.is_some() {
            return true;
        }
        let hit = |pattern: &String| {
            is_row(pattern, row)
                || checks
                    .iter()
                    .any(|check| matches(pattern, check.id) && check.covers(row))
        };
        let is_named = self.only.is_empty() || self.only.iter().any(hit);
        self.profile.has_row(row)
            && is_named
            && !self.except.iter().any(|pattern| is_row(pattern, row))
    }

    /// Whether a check observes an included requirement and is not excluded itself.
    pub(crate) fn has_check(&self, check: &Check, rows: &[&Requirement], checks: &[Check]) -> bool {
        if let Some(alone) = &self.alone {
            return check.id == alone;
        }
        if self.except.iter().any(|pattern| matches(pattern, check.id)) {
            return false;
        }
        if !rows.is_empty() && !rows.iter().any(|row| self.profile.has_row(row)) {
            return false;
        }
        if self.only.is_empty() || self.only.iter().any(|pattern| matches(pattern, check.id)) {
            return true;
        }
        // A requirement that is included only by a named check does not include other checks that
        // can observe it.
        rows.iter().any(|row| {
            self.only.iter().any(|pattern| is_row(pattern, row)) && self.has_row(row, checks)
        })
    }
}

/// Whether a pattern matches a requirement: by its id, its area, or the area in reports (`RES` of
/// `RES-person`).
fn is_row(pattern: &str, row: &Requirement) -> bool {
    let whole = row.area().split('-').next().unwrap_or_default();
    [row.id.as_str(), row.area(), whole]
        .into_iter()
        .any(|name| matches(pattern, name))
}

/// Whether a pattern matches a name, case-insensitively. `*` in it matches any characters.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = rest
            .get(at.saturating_add(part.len())..)
            .unwrap_or_default();
    }
    true
}

/// A known deviation that is accepted until a date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// The requirement that is expected to fail.
    pub row: String,
    /// Why the deviation is accepted.
    pub reason: String,
    /// The last day on which it is accepted, as `YYYY-MM-DD`.
    pub expires: String,
}

/// A file of waivers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaiverFile {
    waiver: Vec<Waiver>,
}

impl Waiver {
    /// Whether the last day is over.
    pub(crate) fn is_expired(&self) -> bool {
        self.expires < chrono::Utc::now().date_naive().to_string()
    }

    /// Reads waivers from TOML (`[[waiver]]` tables) or JSON (`{"waiver": [...]}`).
    ///
    /// # Errors
    /// Returns an error if the text is neither format, a requirement is not in the catalogue, a
    /// reason is missing, or a date is invalid.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, SuiteError> {
        let broken = |why: &dyn ToString| {
            SuiteError::Usage(format!("the waivers cannot be read: {}", why.to_string()))
        };
        let waivers = if text.trim_start().starts_with('{') {
            serde_json::from_str::<WaiverFile>(text)
                .map_err(|error| broken(&error))?
                .waiver
        } else {
            toml::from_str::<WaiverFile>(text)
                .map_err(|error| broken(&error))?
                .waiver
        };
        let catalogue = Catalogue::built_in().map_err(|error| broken(&error))?;
        for waiver in &waivers {
            let Self {
                row,
                reason,
                expires,
            } = waiver;
            if catalogue.requirement(row).is_none() {
                return Err(broken(&format!("the catalogue has no requirement {row}")));
            }
            if reason.trim().is_empty() {
                return Err(broken(&format!("the waiver of {row} has no reason")));
            }
            if expires.len() != 10 || expires.parse::<chrono::NaiveDate>().is_err() {
                return Err(broken(&format!(
                    "the waiver of {row} expires on `{expires}`, which is not a date (YYYY-MM-DD)"
                )));
            }
        }
        Ok(waivers)
    }
}

#[cfg(test)]
mod tests {
    use super::{Waiver, matches};

    #[test]
    fn waivers_say_what_they_waive() {
        let text = |row: &str, reason: &str, day: &str| {
            format!("[[waiver]]\nrow = \"{row}\"\nreason = \"{reason}\"\nexpires = \"{day}\"\n")
        };
        assert_eq!(
            Waiver::parse_all(&text("COL-23", "next month", "2030-01-31"))
                .ok()
                .map(|list| list.len()),
            Some(1)
        );
        let json = r#"{"waiver": [{"row": "COL-23", "reason": "r", "expires": "2030-01-31"}]}"#;
        assert_eq!(Waiver::parse_all(json).ok().map(|list| list.len()), Some(1));
        for text in [
            text("COL-99", "r", "2030-01-31"),
            text("COL-23", " ", "2030-01-31"),
            text("COL-23", "r", "2030-02-31"),
            text("COL-23", "r", "tomorrow"),
            "[[waiver]]\nrow = \"COL-23\"\n".to_owned(),
        ] {
            assert!(Waiver::parse_all(&text).is_err(), "{text}");
        }
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("COL-23", "COL-23", true),
            ("col-23", "COL-23", true),
            ("COL", "COL-23", false),
            ("COL-*", "COL-23", true),
            ("*-23", "COL-23", true),
            ("C*L-*3", "COL-23", true),
            ("*", "", true),
            ("a*b", "ab", true),
            ("a*b", "abc", false),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}

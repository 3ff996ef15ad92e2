//! The catalogue of the Activist Data Exchange API: all requirements for a server, as data that is
//! built into the crate.
//!
//! ```
//! use svc_catalogue::{Catalogue, Level, ids};
//!
//! let row = Catalogue::built_in()?.requirement(ids::COL_20).ok_or("no such row")?;
//! assert_eq!((row.area(), row.level), ("COL", Level::Must));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Requirement`] is a field, a link or a rule, which is one block of `catalogue.toml`. Its
//! [`Condition`] is parsed with it, and an unknown term is an error. [`mod@ids`] has the id of each
//! requirement as a constant.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod ability;
mod condition;
mod describe;
mod file;
pub mod ids;
mod requirement;
mod types;
mod vocabulary;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

pub use ability::{ABILITIES, Ability};
pub use condition::{
    Condition, ConditionTerm, ConditionWord, Encounter, FILTERS, FUNCTIONS, HelperCondition,
    OPERATIONS, UnknownWordError,
};
pub use requirement::{CatalogueField, CatalogueLink, ObservationMethod, Requirement};
pub use types::CatalogueType;
pub use vocabulary::{Behaviour, CatalogueKindEntry};

use self::condition::Vocabulary;
use self::file::CatalogueFile;

/// How binding a requirement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// The specification requires it.
    Must,
    /// The specification recommends it, calls it usual or prefers it.
    Should,
    /// The server is free to choose, and declares its choice.
    May,
}

impl Level {
    /// Returns the level as the catalogue writes it: `MUST`, `SHOULD` or `MAY`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::May => "MAY",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Splits an id into area and number: an upper-case area, and at least two digits.
fn split(id: &str) -> Option<(&str, usize)> {
    let (area, number) = id.rsplit_once('-')?;
    let named = area.len() >= 3 && area.starts_with(|first: char| first.is_ascii_uppercase());
    let digits = number.len() >= 2 && number.bytes().all(|byte| byte.is_ascii_digit());
    (named && digits).then(|| number.parse().ok().map(|number| (area, number)))?
}

/// All requirements, in the order of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    rows: Vec<Requirement>,
    by_id: BTreeMap<String, usize>,
    words: Vocabulary,
}

/// Error returned when a catalogue cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// The text is not a catalogue.
    #[error("the catalogue cannot be read: {0}")]
    Unreadable(String),
    /// An id does not have the form of a requirement id.
    #[error(
        "`{0}` is not the id of a requirement: expected an area, a dash and at least two digits, such as COL-23"
    )]
    IdInvalid(String),
    /// Two requirements have the same id.
    #[error("the catalogue has two requirements {0}")]
    IdRepeated(String),
    /// A requirement contains an unknown name: a term of its condition, a kind, a helper, a shared
    /// object, or an area.
    #[error(
        "line {line} of the catalogue: requirement {row} contains `{word}`, which is unknown; allowed here: {known}"
    )]
    Word {
        /// The requirement.
        row: String,
        /// The line of its id, counted from 1.
        line: usize,
        /// The unknown name.
        word: String,
        /// The allowed names.
        known: String,
    },
}

/// The catalogue of this version, parsed once.
static BUILT_IN: LazyLock<Result<Catalogue, CatalogueError>> =
    LazyLock::new(|| Catalogue::parse(Catalogue::TEXT));

impl Catalogue {
    /// The text of the catalogue of this version of the specification, in TOML.
    pub const TEXT: &'static str = include_str!("../catalogue.toml");

    /// Returns the catalogue of this version of the specification.
    ///
    /// # Errors
    /// Never returns an error in a released crate, because its tests read the built-in text.
    pub fn built_in() -> Result<&'static Self, CatalogueError> {
        BUILT_IN.as_ref().map_err(Clone::clone)
    }

    /// Parses a catalogue from the text of a `catalogue.toml`.
    ///
    /// # Errors
    /// Returns an error if the text is not a catalogue or an id has the wrong form. The same is
    /// true if two requirements have the same id, or a requirement contains an unknown name.
    pub fn parse(text: &str) -> Result<Self, CatalogueError> {
        let written = toml::from_str::<CatalogueFile>(text)
            .map_err(|error| CatalogueError::Unreadable(error.to_string()))?;
        let (rows, words) = written.rows(text)?;
        let mut by_id = BTreeMap::new();
        for (index, row) in rows.iter().enumerate() {
            if by_id.insert(row.id.clone(), index).is_some() {
                return Err(CatalogueError::IdRepeated(row.id.clone()));
            }
        }
        Ok(Self { rows, by_id, words })
    }

    /// Returns all requirements, in the order of the catalogue.
    #[must_use]
    pub fn requirements(&self) -> &[Requirement] {
        &self.rows
    }

    /// Returns the requirement with this id.
    #[must_use]
    pub fn requirement(&self, id: &str) -> Option<&Requirement> {
        self.rows.get(*self.by_id.get(id)?)
    }

    /// Parses a condition with the terms of the catalogue.
    ///
    /// # Errors
    /// Returns an error if a term is unknown.
    pub fn condition(&self, text: &str) -> Result<Condition, UnknownWordError> {
        self.words.condition(text)
    }

    /// Returns the kinds of records, containers before their contents.
    #[must_use]
    pub fn kinds(&self) -> &[CatalogueKindEntry] {
        &self.words.kinds
    }

    /// Returns the behaviours that a declaration may list.
    #[must_use]
    pub fn behaviours(&self) -> &[Behaviour] {
        &self.words.behaviours
    }

    /// Returns a short digest of the requirements in the text of a catalogue, such as
    /// [`Catalogue::TEXT`]. It covers their ids, levels, conditions and checks, and the names and
    /// types of fields and links. A reworded statement does not change it. Results that were measured
    /// with other requirements are not shown.
    #[must_use]
    pub fn hash(text: &str) -> String {
        const TEXTS: [&str; 6] = [
            "#",
            "section = ",
            "statement = ",
            "means = ",
            "observed = ",
            "reference = ",
        ];
        let fold =
            |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let digest = text
            .split_inclusive('\n')
            .filter(|line| !TEXTS.iter().any(|start| line.starts_with(start)))
            .flat_map(str::bytes)
            .fold(0xcbf2_9ce4_8422_2325, fold);
        format!("{digest:016x}")
    }

    /// Returns the number of requirements with this level.
    #[must_use]
    pub fn count(&self, level: Level) -> usize {
        self.rows.iter().filter(|row| row.level == level).count()
    }

    /// Returns every area with its number of requirements, in the order of the catalogue.
    #[must_use]
    pub fn areas(&self) -> Vec<(&str, usize)> {
        let mut areas: Vec<(&str, usize)> = Vec::new();
        for row in &self.rows {
            match areas.last_mut() {
                Some((area, count)) if *area == row.area() => *count = count.saturating_add(1),
                _ => areas.push((row.area(), 1)),
            }
        }
        areas
    }
}

#[cfg(test)]
mod tests {
    use super::Catalogue;

    /// Returns the hash of the built-in catalogue after one replacement.
    fn hash_after(from: &str, to: &str) -> String {
        assert!(Catalogue::TEXT.contains(from), "{from}");
        let changed = Catalogue::TEXT.replacen(from, to, 1);
        assert!(Catalogue::parse(&changed).is_ok(), "{to}");
        Catalogue::hash(&changed)
    }

    #[test]
    fn a_reworded_statement_keeps_the_hash() {
        assert_eq!(
            hash_after("\nstatement = \"", "\nstatement = \"Reworded: "),
            Catalogue::hash(Catalogue::TEXT)
        );
    }

    #[test]
    fn another_condition_changes_the_hash() {
        assert_ne!(
            hash_after("\ncondition = \"*.list\"\n", "\ncondition = \"*.create\"\n"),
            Catalogue::hash(Catalogue::TEXT)
        );
    }
}

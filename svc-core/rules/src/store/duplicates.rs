//! Pages of people who may be the same person.

use super::StoredRecord;
use crate::{
    duplicates::{ComparedPerson, Comparison, Evidence},
    record::RawRecord,
    value::Id,
};

/// A request for a page of people who may be the same person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DuplicatesRequest {
    /// Limits the page to the pairs of one person.
    pub person: Option<Id>,
    /// The cursor of a previous page; the first page without it.
    pub after: Option<String>,
    /// The maximum number of entries.
    pub size: u32,
    /// The evidence that is not compared, because clients cannot read its fields.
    ///
    /// Requirements: DUP-03.
    pub hidden: Vec<Evidence>,
}

impl DuplicatesRequest {
    /// Creates a request for the first page of all pairs.
    #[must_use]
    pub fn new(size: u32) -> Self {
        Self {
            person: None,
            after: None,
            size,
            hidden: Vec::new(),
        }
    }

    /// Limits the page to the pairs of one person.
    #[must_use]
    pub fn of_person(mut self, person: Id) -> Self {
        self.person = Some(person);
        self
    }

    /// Sets the evidence that is not compared.
    #[must_use]
    pub fn without(mut self, hidden: impl IntoIterator<Item = Evidence>) -> Self {
        self.hidden = hidden.into_iter().collect();
        self
    }

    /// Sets the cursor of a previous page.
    #[must_use]
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.after = Some(cursor.into());
        self
    }
}

/// The response to a [`DuplicatesRequest`].
#[derive(Debug, Clone)]
pub enum DuplicatesResponse {
    /// A page.
    Page(DuplicatesPage),
    /// The cursor is not one of this store and request.
    UnknownCursor,
}

/// A page of people who may be the same person.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DuplicatesPage {
    /// The entries, in the order of their cursors.
    pub entries: Vec<DuplicatesEntry>,
    /// The cursor of the next page; `None` on the last one. A page with a next one can have fewer
    /// entries than requested, or none.
    pub next: Option<String>,
}

impl DuplicatesPage {
    /// Creates a page.
    #[must_use]
    pub fn new(entries: Vec<DuplicatesEntry>, next: Option<String>) -> Self {
        Self { entries, next }
    }
}

/// An entry of a page.
#[derive(Debug, Clone)]
pub enum DuplicatesEntry {
    /// Two people who may be the same person.
    Pair(Box<DuplicatePair>),
    /// More people have a value in common than are compared.
    ///
    /// Requirements: DUP-05.
    Crowd {
        /// The value that they have in common.
        evidence: Evidence,
        /// The number of people. It is a lower bound if it is large.
        people: u64,
    },
}

/// Two people who may be the same person.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DuplicatePair {
    /// The older one.
    pub older: RawRecord,
    /// The younger one.
    pub younger: RawRecord,
    /// What they have in common, and what differs.
    pub comparison: Comparison,
}

impl DuplicatePair {
    /// Creates a pair.
    #[must_use]
    pub fn new(older: RawRecord, younger: RawRecord, comparison: Comparison) -> Self {
        Self {
            older,
            younger,
            comparison,
        }
    }
}

/// Two stored people, and whether they are dismissed as a pair.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StoredPair {
    /// The older one.
    pub older: RawRecord,
    /// The younger one.
    pub younger: RawRecord,
    /// Whether a client stated that they are not the same person.
    ///
    /// Requirements: DUP-06.
    pub is_dismissed: bool,
}

impl StoredPair {
    /// Creates a pair of two people.
    #[must_use]
    pub fn new(one: StoredRecord, other: StoredRecord, is_dismissed: bool) -> Self {
        let (older, younger) = if one.row <= other.row {
            (one, other)
        } else {
            (other, one)
        };
        Self {
            older: older.record,
            younger: younger.record,
            is_dismissed,
        }
    }

    /// Returns the comparison of the two people without this evidence; `None` if they are not likely the
    /// same person.
    #[must_use]
    pub fn compare_without(&self, hidden: &[Evidence]) -> Option<Comparison> {
        let [one, other] = [&self.older, &self.younger].map(ComparedPerson::of_record);
        one.compare_without(&other, hidden)
    }
}

//! What the rulebook needs to know to decide a call, as plain data, and what a store answers.

use std::{cmp::Ordering, fmt, sync::Arc};

use super::{StoredRecord, StoredResponse, Totals};
use crate::{
    error::Error,
    filter::IndexKey,
    link::RecordAddress,
    model::Kind,
    value::{Id, Identifier},
};

/// Names one record of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LookupKey {
    /// The record with this id.
    Id(Kind, Id),
    /// The record with this unique name, compared exactly.
    ///
    /// Requirements: UND-02, UND-03.
    Name(Kind, String),
    /// The record that has this foreign identifier.
    ///
    /// Requirements: UND-24.
    Identifier(Kind, Identifier),
    /// The oldest person with this e-mail address, in normal form: see
    /// [`normalize_email`](crate::helper::normalize_email).
    Email(String),
    /// The record that a link of the record with this id leads to, by the link's name in the table.
    Link(Kind, Id, &'static str),
}

impl LookupKey {
    /// The kind of the record.
    #[must_use]
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Id(kind, _) | Self::Name(kind, _) | Self::Identifier(kind, _) => Some(*kind),
            Self::Email(_) => Some(Kind::Person),
            Self::Link(kind, _, name) => kind
                .schema()
                .references()
                .iter()
                .find(|reference| reference.name == *name)
                .map(|reference| reference.kind),
        }
    }
}

impl LookupKey {
    /// What a [`IndexKey`] of a filter on records of a kind leads to. An e-mail address leads to
    /// every person that has it.
    #[must_use]
    pub fn of_point(kind: Kind, point: &IndexKey) -> Self {
        match point {
            IndexKey::Id(id) => Self::Id(kind, id.clone()),
            IndexKey::Identifier(identifier) => Self::Identifier(kind, identifier.clone()),
            IndexKey::Email(address) => Self::Email(address.clone()),
            IndexKey::Name(name) => Self::Name(kind, name.clone()),
        }
    }
}

impl From<&RecordAddress> for LookupKey {
    /// The record at an address, whatever its parent.
    fn from(address: &RecordAddress) -> Self {
        Self::Id(address.kind, address.id.clone())
    }
}

/// One thing that a rule needs to know about the records of the call's tenant.
///
/// Questions are compared and hashed, so that a store that fetches them together asks each once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Lookup {
    /// Whether there is such a record, and where: [`LookupResult::Found`].
    Find(LookupKey),
    /// The whole record: [`LookupResult::Record`].
    Record(LookupKey),
    /// The records of `kind` that tie one of these people to one of these groups:
    /// [`LookupResult::Records`].
    ///
    /// Requirements: UND-38.
    Members {
        /// The kind of the membership, such as a tagging.
        kind: Kind,
        /// The groups, such as tags.
        groups: Vec<LookupKey>,
        /// The people.
        people: Vec<LookupKey>,
    },
    /// The answers of one of these people to one of these questions: [`LookupResult::Records`].
    Answered {
        /// The people.
        people: Vec<LookupKey>,
        /// The questions.
        questions: Vec<LookupKey>,
    },
    /// How many records of `kind` are under the record `of`: [`LookupResult::Number`].
    Count {
        /// The kind of the members.
        kind: Kind,
        /// The record that they are under.
        of: LookupKey,
    },
    /// What the counted members of a record come to in all: [`LookupResult::Sum`].
    Sum(LookupKey),
    /// The same for each ticket level of an event or currency of a page, by name:
    /// [`LookupResult::Parts`].
    Parts(LookupKey),
    /// The attendances in whose tickets this person was recognised: [`LookupResult::Holdings`].
    Holdings(Id),
    /// The answer that is kept under a key: [`LookupResult::Kept`].
    ///
    /// Requirements: IDM-01.
    Kept(Arc<str>),
}

/// What a store answers to a [`Lookup`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum LookupResult {
    /// To [`Lookup::Find`].
    Found(Option<RecordLocation>),
    /// To [`Lookup::Record`].
    Record(Option<StoredRecord>),
    /// To [`Lookup::Members`] and [`Lookup::Answered`].
    Records(Vec<StoredRecord>),
    /// To [`Lookup::Count`].
    Number(u64),
    /// To [`Lookup::Sum`].
    Sum(Totals),
    /// To [`Lookup::Parts`]: each part by its name, in the order of names.
    Parts(Vec<(String, Totals)>),
    /// To [`Lookup::Holdings`]: each attendance once.
    Holdings(Vec<HeldTickets>),
    /// To [`Lookup::Kept`].
    Kept(Option<StoredResponse>),
}

/// An attendance in whose tickets a person was recognised, and the places of the tickets,
/// ascending; `None` stands for a place that is not known any more.
pub type HeldTickets = (StoredRecord, Vec<Option<i64>>);

/// Where a record is, without the record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordLocation {
    /// Its kind.
    pub kind: Kind,
    /// Its id.
    pub id: Id,
    /// Its place in the store's order of creation; see [`StoredRecord::row`].
    pub row: i64,
    /// The id of the container that it was created under.
    pub parent: Option<Id>,
}

impl RecordLocation {
    /// A record at its place.
    #[must_use]
    pub fn new(kind: Kind, id: Id, row: i64, parent: Option<Id>) -> Self {
        Self {
            kind,
            id,
            row,
            parent,
        }
    }

    /// Which of two records is older.
    pub(crate) fn by_age(&self, other: &Self) -> Ordering {
        self.row
            .cmp(&other.row)
            .then_with(|| self.id.cmp(&other.id))
    }

    /// Its address.
    ///
    /// Requirements: COL-19.
    #[must_use]
    pub fn address(&self) -> RecordAddress {
        let parent = self.kind.schema().home.and(self.parent.clone());
        RecordAddress::new(self.kind, self.id.clone(), parent)
    }
}

/// Answers questions while the rulebook runs.
///
/// A store that has its data at hand, inside a transaction, answers at once. One that has to fetch
/// answers from what it has fetched and says [`RuleError::Missing`] for the rest: see
/// [`LookupCache`](super::LookupCache).
pub trait LookupSource {
    /// The answer, of the variant that the question names.
    ///
    /// # Errors
    ///
    /// [`RuleError::Missing`] when it has to be fetched first; [`RuleError::Failed`] with trouble
    /// of the store.
    fn answer(&mut self, question: &Lookup) -> Result<LookupResult, RuleError>;
}

/// Why a run of the rulebook ended before its decision.
#[derive(Debug)]
pub enum RuleError {
    /// Questions were not answered yet. Fetch all of them, and run again: nothing was changed.
    Missing(Vec<Lookup>),
    /// What calls before this one changed in the same transaction cannot be told apart from what is
    /// stored: write those changes first, and run again.
    Unsettled,
    /// The call is refused, or the store is in trouble.
    Failed(Error),
}

impl From<Error> for RuleError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(questions) => {
                write!(f, "{} questions have to be answered first", questions.len())
            }
            Self::Unsettled => {
                f.write_str("changes of the same transaction have to be written first")
            }
            Self::Failed(_) => f.write_str("the call failed"),
        }
    }
}

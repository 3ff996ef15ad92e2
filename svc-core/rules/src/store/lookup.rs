//! The lookups that the rules need to decide a request, and their results, as plain data.

use std::{cmp::Ordering, fmt, sync::Arc};

use super::{LookupCache, MergeRecord, Step, StoredRecord, StoredResponse, Totals};
use crate::{
    error::Error,
    filter::{FindKey, IndexKey},
    link::RecordAddress,
    model::Kind,
    value::{Id, Identifier},
};

/// A key that identifies one record of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LookupKey {
    /// The record with this id.
    Id(Kind, Id),
    /// The record with this unique name. If no record has exactly this name, the oldest record whose
    /// name has the same [key](crate::filter::name_key). A backend of a vendor can compare names in
    /// another way.
    ///
    /// Requirements: UND-02, UND-03.
    Name(Kind, String),
    /// The record that has this foreign identifier.
    ///
    /// Requirements: UND-24.
    Identifier(Kind, Identifier),
    /// The oldest person with this e-mail address, in normal form: see
    /// [`forms::match_form`](crate::value::forms::match_form).
    Email(String),
    /// The target of a link of the record with this id. The name is that of the link in the schema.
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
    /// Returns the lookup key for an [`IndexKey`] of a filter on records of a kind; `None` for an
    /// e-mail address or a text, which can find several records.
    #[must_use]
    pub fn from_index_key(kind: Kind, point: &IndexKey) -> Option<Self> {
        match point {
            IndexKey::Id(id) => Some(Self::Id(kind, id.clone())),
            IndexKey::Find(FindKey::Identifier(identifier)) => {
                Some(Self::Identifier(kind, identifier.clone()))
            }
            IndexKey::Find(FindKey::Name(name)) => Some(Self::Name(kind, name.clone())),
            _ => None,
        }
    }
}

impl From<&RecordAddress> for LookupKey {
    /// Returns the key of the record at an address, regardless of its parent.
    fn from(address: &RecordAddress) -> Self {
        Self::Id(address.kind, address.id.clone())
    }
}

/// One thing that a rule must know about the records of the request's tenant.
///
/// Lookups are comparable and hashable, so that a store that fetches several together executes each
/// of them once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Lookup {
    /// The location of a record, if it exists.
    Find(LookupKey),
    /// The whole record.
    Record(LookupKey),
    /// The memberships of `kind` that connect one of these people with one of these groups. For
    /// [actions](crate::helper::ONE_ACTION_KINDS), at least the newest one of each person in each
    /// container.
    ///
    /// Requirements: UND-38, HLP-04.
    Members {
        /// The kind of the membership, such as a tagging.
        kind: Kind,
        /// The groups, such as tags.
        groups: Vec<LookupKey>,
        /// The people.
        people: Vec<LookupKey>,
    },
    /// The answers of these people to these questions.
    Answers {
        /// The people.
        people: Vec<LookupKey>,
        /// The questions.
        questions: Vec<LookupKey>,
    },
    /// The number of records of `kind` under the record `of`.
    Count {
        /// The kind of the members.
        kind: Kind,
        /// The record that they are under.
        of: LookupKey,
    },
    /// The totals of a record.
    Totals(LookupKey),
    /// The totals of each ticket level of an event or each currency of a page, by name.
    PartTotals(LookupKey),
    /// The attendances whose tickets name this person.
    HeldTickets(Id),
    /// The records of `kind` whose link has this person as its target, in creation order, at most
    /// `most` of them.
    Linked {
        /// The kind of the records.
        kind: Kind,
        /// The name of the link in the schema.
        link: &'static str,
        /// The person.
        person: Id,
        /// The maximum number of records.
        most: u32,
    },
    /// The number of records that name this person, by a link or in a ticket, at most `most`. See
    /// [`LookupSource::linked_count`].
    LinkedCount {
        /// The person.
        person: Id,
        /// The maximum number that is counted.
        most: u32,
    },
    /// The person into whom the person with this id was merged, if any.
    ForwardedPerson(Id),
    /// Everyone who was merged into the person with this id.
    ForwardedTo(Id),
    /// The stored merge with this id into a person.
    ///
    /// Requirements: MRG-20.
    StoredMerge {
        /// The id of the person that remained.
        remaining: Id,
        /// The id of the merge.
        merge: Id,
    },
    /// The two oldest people with this e-mail address, in
    /// [form](crate::value::forms::match_form).
    ///
    /// Requirements: HLP-04.
    EmailHolders(String),
    /// The stored response for a key.
    ///
    /// Requirements: IDM-01.
    StoredResponse(Arc<str>),
}

impl Lookup {
    /// Executes the lookup in a source, and adds the result to a cache.
    ///
    /// # Errors
    ///
    /// Returns the error of the source.
    pub fn fetch(
        &self,
        source: &mut dyn LookupSource,
        into: &mut LookupCache,
    ) -> Result<(), RuleError> {
        match self {
            Self::Find(key) => into.insert_location(key, source.find(key)?.as_ref()),
            Self::Record(key) => into.insert_record(key, source.record(key)?),
            Self::Members {
                kind,
                groups,
                people,
            } => {
                let found = source.members(*kind, groups, people)?;
                into.insert_related(self.clone(), found);
            }
            Self::Answers { people, questions } => {
                let found = source.answers(people, questions)?;
                into.insert_related(self.clone(), found);
            }
            Self::Count { kind, of } => into.insert_count(*kind, of, source.count(*kind, of)?),
            Self::Totals(of) => into.insert_totals(of, source.totals(of)?),
            Self::PartTotals(of) => into.insert_part_totals(of, source.part_totals(of)?),
            Self::HeldTickets(person) => {
                into.insert_held_tickets(person, source.held_tickets(person)?);
            }
            Self::Linked {
                kind,
                link,
                person,
                most,
            } => {
                let found = source.linked(*kind, link, person, *most)?;
                into.insert_related(self.clone(), found);
            }
            Self::LinkedCount { person, most } => {
                into.insert_linked_count(person, *most, source.linked_count(person, *most)?);
            }
            Self::ForwardedPerson(id) => {
                into.insert_forwarded_person(id, source.forwarded_person(id)?);
            }
            Self::ForwardedTo(id) => into.insert_forwarded_to(id, source.forwarded_to(id)?),
            Self::StoredMerge { remaining, merge } => {
                let found = source.stored_merge(remaining, merge)?;
                into.insert_stored_merge(remaining, merge, found);
            }
            Self::EmailHolders(address) => {
                into.insert_email_holders(address, source.email_holders(address)?);
            }
            Self::StoredResponse(key) => {
                into.insert_stored_response(key, source.stored_response(key)?);
            }
        }
        Ok(())
    }
}

/// Returns every link to a person, by kind.
pub fn person_links() -> impl Iterator<Item = (Kind, &'static str)> {
    Kind::ALL.iter().flat_map(|kind| {
        let references = kind.schema().references().iter();
        let of_people = references.filter(|reference| reference.kind == Kind::Person);
        of_people.map(|reference| (*kind, reference.name))
    })
}

/// The tickets of an attendance that name a person.
#[derive(Debug, Clone)]
pub struct HeldTickets {
    /// The attendance.
    pub attendance: StoredRecord,
    /// The positions of the tickets, in ascending order. `None` is a position that is no longer
    /// known.
    pub positions: Vec<Option<i64>>,
}

/// The location of a record, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordLocation {
    /// The kind of the record.
    pub kind: Kind,
    /// The id of the record.
    pub id: Id,
    /// The row of the record. See [`StoredRecord::row`].
    pub row: i64,
    /// The id of the container that the record was created under.
    pub parent: Option<Id>,
}

impl RecordLocation {
    /// Creates a location.
    #[must_use]
    pub fn new(kind: Kind, id: Id, row: i64, parent: Option<Id>) -> Self {
        Self {
            kind,
            id,
            row,
            parent,
        }
    }

    /// Compares the age of two records.
    pub(crate) fn by_age(&self, other: &Self) -> Ordering {
        self.row
            .cmp(&other.row)
            .then_with(|| self.id.cmp(&other.id))
    }

    /// Returns the address of the record.
    ///
    /// Requirements: COL-19.
    #[must_use]
    pub fn address(&self) -> RecordAddress {
        let parent = self.kind.schema().path_parent.and(self.parent.clone());
        RecordAddress::new(self.kind, self.id.clone(), parent)
    }
}

/// Executes lookups while the rules run.
///
/// A store with direct access to its data, inside a transaction, returns results immediately. A
/// store that must fetch data returns fetched results, and [`RuleError::MissingLookups`] for the rest: see
/// [`LookupCache`](super::LookupCache).
///
/// # Errors
///
/// Every method fails with [`RuleError::MissingLookups`] if the data must be fetched first, and with
/// [`RuleError::Failed`] if the store fails.
#[expect(
    clippy::missing_errors_doc,
    reason = "the documentation of the trait has the errors of all methods"
)]
pub trait LookupSource {
    /// Returns the location of a record, or `None` if it does not exist.
    fn find(&mut self, key: &LookupKey) -> Result<Option<RecordLocation>, RuleError>;

    /// Returns a whole record, or `None` if it does not exist.
    fn record(&mut self, key: &LookupKey) -> Result<Option<StoredRecord>, RuleError>;

    /// Returns the memberships of `kind` that connect one of these people with one of these groups.
    /// For [actions](crate::helper::ONE_ACTION_KINDS), returns at least the newest one of each person
    /// in each container.
    ///
    /// Requirements: UND-38, HLP-04.
    fn members(
        &mut self,
        kind: Kind,
        groups: &[LookupKey],
        people: &[LookupKey],
    ) -> Result<Vec<StoredRecord>, RuleError>;

    /// Returns the answers of these people to these questions.
    fn answers(
        &mut self,
        people: &[LookupKey],
        questions: &[LookupKey],
    ) -> Result<Vec<StoredRecord>, RuleError>;

    /// Returns the number of records of `kind` under a record.
    fn count(&mut self, kind: Kind, of: &LookupKey) -> Result<u64, RuleError>;

    /// Returns the totals of a record.
    fn totals(&mut self, of: &LookupKey) -> Result<Totals, RuleError>;

    /// Returns the totals of each ticket level of an event or each currency of a page, sorted by
    /// name.
    fn part_totals(&mut self, of: &LookupKey) -> Result<Vec<(String, Totals)>, RuleError>;

    /// Returns the attendances whose tickets name a person, each once.
    fn held_tickets(&mut self, person: &Id) -> Result<Vec<HeldTickets>, RuleError>;

    /// Returns the records of a kind whose link has a person as its target, in creation order, at most
    /// `most` of them.
    fn linked(
        &mut self,
        kind: Kind,
        link: &'static str,
        person: &Id,
        most: u32,
    ) -> Result<Vec<StoredRecord>, RuleError>;

    /// Returns the number of records that name a person: those with a [link](person_links) to it, and
    /// the attendances whose tickets name it. Each record counts once. The store counts up to `most`, and
    /// reads no more records than these.
    fn linked_count(&mut self, person: &Id, most: u32) -> Result<u64, RuleError>;

    /// Returns the person into whom the person with an id was merged: see
    /// [`Change::ForwardPerson`](super::Change::ForwardPerson).
    fn forwarded_person(&mut self, id: &Id) -> Result<Option<Id>, RuleError>;

    /// Returns the ids of everyone who was merged into a person, in any order.
    fn forwarded_to(&mut self, id: &Id) -> Result<Vec<Id>, RuleError>;

    /// Returns the stored merge with an id into a person: see
    /// [`Change::StoreMerge`](super::Change::StoreMerge).
    ///
    /// Requirements: MRG-20.
    fn stored_merge(
        &mut self,
        remaining: &Id,
        merge: &Id,
    ) -> Result<Option<MergeRecord>, RuleError>;

    /// Returns the two oldest people with an e-mail address in normal form.
    ///
    /// Requirements: HLP-04.
    fn email_holders(&mut self, address: &str) -> Result<Vec<RecordLocation>, RuleError>;

    /// Returns the stored response for a key.
    ///
    /// Requirements: IDM-01.
    fn stored_response(&mut self, key: &Arc<str>) -> Result<Option<StoredResponse>, RuleError>;
}

/// Error raised when the rules end before a decision.
#[derive(Debug)]
pub enum RuleError {
    /// Lookup results are missing. Fetch all of them and run the rules again. Nothing was changed.
    MissingLookups(Vec<Lookup>),
    /// Earlier changes of the same transaction cannot be combined with stored data. Write those
    /// changes first, and run the rules again.
    UnflushedChanges,
    /// A backend of single operations must execute this operation, and run the rules again with its
    /// result: see [`StepLog`](super::StepLog).
    NextStep(Step),
    /// The request is rejected, or the store failed.
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
            Self::MissingLookups(questions) => {
                write!(f, "{} lookups must be executed first", questions.len())
            }
            Self::UnflushedChanges => {
                f.write_str("the pending changes of the transaction must be written first")
            }
            Self::NextStep(_) => f.write_str("an operation must be executed first"),
            Self::Failed(_) => f.write_str("the write request failed"),
        }
    }
}

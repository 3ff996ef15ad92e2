//! The changes of a decision, as plain data. A store applies the changes of a request in order, all
//! or none of them.

use bytes::Bytes;

use super::{IndexValues, MergeRecord, StoredResponse, Totals};
use crate::{
    model::Kind,
    outbox::OutboxEntry,
    record::{Identifiers, RawRecord},
    value::{Id, Identifier, Timestamp},
};

/// One change of the records of a tenant.
///
/// Indexes and counts depend on the record. Each variant documents its effects.
#[derive(Debug, Clone)]
pub enum Change {
    /// Inserts a new record, the youngest of its kind.
    ///
    /// It can be found by its id, its identifiers, its unique name and its other
    /// [`IndexValues`]. It counts in the collection of its kind and in each collection that its
    /// links name.
    Insert(Box<InsertRecord>),
    /// Replaces the fields and identifiers of a record and sets its modification date.
    Replace(Box<ReplaceRecord>),
    /// Replaces only the fields, without a new modification date: computed fields, and values that get
    /// the form of this version ([`Recount`](crate::rules::Recount)).
    ///
    /// Requirements: TYP-16.
    SetFields {
        /// The record.
        at: ChangeTarget,
        /// The fields, serialized for responses.
        fields: Bytes,
    },
    /// Changes the target of a link. If the records are listed below the target, the record moves
    /// from one collection to another.
    SetLink {
        /// The record.
        at: ChangeTarget,
        /// The name of the link in the schema.
        link: &'static str,
        /// The previous target.
        from: Option<Id>,
        /// The new target.
        to: Option<Id>,
    },
    /// Sets the schedule dates of a message and its modification date.
    ///
    /// Requirements: SCH-01, SCH-04.
    SetSchedule {
        /// The message.
        at: ChangeTarget,
        /// The modification date.
        modified: Timestamp,
        /// When sending starts.
        start: Option<Timestamp>,
        /// When sending stops.
        stop: Option<Timestamp>,
    },
    /// Deletes records, each with its identifiers, [`IndexValues`], counts, totals, part totals,
    /// and the people recorded for its tickets.
    Delete(RecordSet),
    /// Clears a link to the records of a set, which are deleted next. The records with the link
    /// remain, without it.
    ClearLink {
        /// The kind of the records that have the link.
        kind: Kind,
        /// The name of the link in the schema, or of the hidden reference.
        link: &'static str,
        /// The previous targets.
        to: RecordSet,
    },
    /// Adds values that a record can be found by, after a new version of the program needs them.
    AddIndexValues {
        /// The record.
        at: ChangeTarget,
        /// The values.
        added: IndexValues,
    },
    /// Sets the totals of a record.
    SetTotals {
        /// The record, such as an event.
        of: (Kind, Id),
        /// The totals.
        sum: Totals,
    },
    /// Sets the totals of one part of a record, such as a ticket level or a currency.
    SetPartTotals {
        /// The record.
        of: (Kind, Id),
        /// The name of the part: the title of the level, or the currency.
        name: String,
        /// The totals of this part.
        sum: Totals,
    },
    /// Records a person that a ticket of an attendance names. A repetition has no effect.
    ///
    /// Requirements: RES-attendance-14.
    AddTicketHolder {
        /// The attendance.
        at: ChangeTarget,
        /// The position of the ticket. It is negative if the position is no longer known, which
        /// only happens in an import.
        place: i64,
        /// The person.
        person: Id,
    },
    /// Updates the positions of ticket holders after the tickets of an attendance were replaced. A
    /// holder has a new position, or an unknown one.
    MoveTicketHolders {
        /// The attendance.
        at: ChangeTarget,
        /// Each previous position with the new one. Positions that are not listed become unknown.
        places: Vec<(i64, i64)>,
    },
    /// Removes a person from the recorded ticket holders and the outbox, and deletes the stored
    /// responses that may contain data about the person. The ids of people who were merged into the
    /// person no longer find a person. Dismissed pairs with the person are deleted, and so are the stored
    /// merges into the person and into everyone who was merged into the person.
    ErasePersonTraces(Id),
    /// Records that a person, who is deleted next, was merged into another one.
    ///
    /// [`Lookup::ForwardedPerson`](super::Lookup::ForwardedPerson) then finds the other person for the
    /// id of the merged person and of everyone who was merged into that person before. The ticket
    /// holders, outbox entries, stored responses and dismissed pairs of the merged person belong to the
    /// other person.
    /// [`ErasePersonTraces`](Self::ErasePersonTraces) of the other person removes the record.
    ForwardPerson {
        /// The merged person.
        from: Id,
        /// The person that remains.
        to: Id,
    },
    /// Stores a merge to undo it later. The store computes
    /// [`StoredMerge::is_latest`](super::StoredMerge::is_latest) of a stored merge itself.
    ///
    /// Requirements: MRG-20.
    StoreMerge(Box<MergeRecord>),
    /// Undoes [`ForwardPerson`](Self::ForwardPerson) of a person, who was inserted before, and deletes the
    /// stored merge.
    ///
    /// Requirements: MRG-20.
    RestorePerson(Box<RestoredPerson>),
    /// Records that two people are not the same person, or deletes this record.
    ///
    /// Requirements: DUP-06.
    SetApart(ApartPeople),
    /// Stores the response of a request under its key and replaces an existing one. The store may
    /// delete responses older than [`StoredResponse::expires_before`].
    ///
    /// Requirements: IDM-01.
    StoreResponse(Box<StoredResponse>),
    /// Adds an outbox entry: a server response that a helper request triggers, or a scheduled
    /// message.
    ///
    /// Requirements: HAF-11, SCH-01.
    Enqueue(Box<OutboxEntry>),
    /// Removes the outbox entry of the previous schedule of a message.
    ///
    /// Requirements: SCH-04.
    CancelMessage(Id),
}

/// A person whose merge into another one is undone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RestoredPerson {
    /// The restored person, whose id no longer finds the other person.
    pub person: Id,
    /// The person that remained. Its stored responses may also contain data about the restored person, so
    /// they are deleted with either of the two.
    pub remaining: Id,
    /// The id of the stored merge.
    pub merge: Id,
    /// The people who were merged into the restored person before. Their ids find the restored person.
    pub forwarded: Vec<Id>,
    /// The tickets that the restored person holds, and no longer the other person: each attendance with
    /// the position of a ticket.
    pub tickets: Vec<(ChangeTarget, i64)>,
    /// The actions that belong to the restored person. The outbox entries of the other person with these
    /// actions are sent to the restored person.
    pub actions: Vec<Id>,
}

impl RestoredPerson {
    /// Creates a restored person who holds no tickets, and into whom no one was merged.
    #[must_use]
    pub fn new(person: Id, remaining: Id, merge: Id) -> Self {
        Self {
            person,
            remaining,
            merge,
            forwarded: Vec::new(),
            tickets: Vec::new(),
            actions: Vec::new(),
        }
    }
}

/// Two people, and whether a user stated that they are not the same person.
///
/// Requirements: DUP-06.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApartPeople {
    /// The two people, in the order of their ids.
    pub people: [Id; 2],
    /// When this was stated; `None` deletes it.
    pub since: Option<Timestamp>,
}

impl ApartPeople {
    /// Creates the statement that two people are not the same person.
    #[must_use]
    pub fn new(one: Id, other: Id, since: Option<Timestamp>) -> Self {
        let mut people = [one, other];
        people.sort_unstable();
        Self { people, since }
    }
}

/// The record that a change affects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeTarget {
    /// The kind of the record.
    pub kind: Kind,
    /// The id of the record.
    pub id: Id,
    /// The row of the record, as the store returned it, or
    /// [`StoredRecord::UNSAVED_ROW`](super::StoredRecord::UNSAVED_ROW) for a record of the same request.
    pub row: i64,
}

impl ChangeTarget {
    /// Creates a target from a record and its row.
    #[must_use]
    pub fn new(kind: Kind, id: Id, row: i64) -> Self {
        Self { kind, id, row }
    }
}

/// A new record.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InsertRecord {
    /// The record. Its fields are serialized for responses. Its links have full addresses and
    /// include hidden references.
    pub record: RawRecord,
    /// The foreign identifiers of the record.
    pub identifiers: Vec<Identifier>,
    /// The name that is unique within the kind.
    ///
    /// Requirements: UND-02, UND-03.
    pub name: Option<String>,
    /// The other values that the record can be found by.
    pub index: IndexValues,
}

impl InsertRecord {
    /// Creates an insertion of a record that can be found by its address only.
    #[must_use]
    pub fn new(record: RawRecord) -> Self {
        Self {
            record,
            identifiers: Vec::new(),
            name: None,
            index: IndexValues::default(),
        }
    }
}

/// A changed record.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReplaceRecord {
    /// The record.
    pub target: ChangeTarget,
    /// The parent record, for a kind with a parent in its address.
    pub parent: Option<Id>,
    /// The new modification date.
    pub modified: Timestamp,
    /// The person that changed the record, if the kind has a link for it and a person is bound to
    /// the caller's key.
    pub modified_by: Option<Id>,
    /// The fields, serialized for responses.
    pub fields: Bytes,
    /// The identifiers, serialized for responses.
    pub identifiers: Identifiers,
    /// The identifiers that the record no longer has.
    pub removed_identifiers: Vec<Identifier>,
    /// The identifiers that are new.
    pub added_identifiers: Vec<Identifier>,
    /// The name that is unique within the kind.
    ///
    /// Requirements: UND-02, UND-03.
    pub name: Option<String>,
    /// The other values that the record can no longer be found by.
    pub removed: IndexValues,
    /// The other values that the record can now be found by.
    pub added: IndexValues,
}

/// A set of records, described by a common property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordSet {
    /// One record, with the values that it can be found by.
    One(ChangeTarget, IndexValues),
    /// The records of a kind whose link (or hidden reference) has a record of the set as its
    /// target.
    Under(Kind, &'static str, Box<RecordSet>),
}

impl RecordSet {
    /// The kind of the records.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::One(at, _) => at.kind,
            Self::Under(kind, ..) => *kind,
        }
    }
}

//! What a decided call changes, as plain data. A store applies the changes of a call in their
//! order, all or none of them.

use bytes::Bytes;

use super::{StoredResponse, Totals};
use crate::{
    model::Kind,
    outbox::OutboxEntry,
    record::{Identifiers, RawRecord},
    value::{Id, Identifier, Timestamp},
};

/// One change of a tenant's records.
///
/// What finds and counts a record follows from the record: see each change.
#[derive(Debug, Clone)]
pub enum Change {
    /// A new record, the youngest of its kind. It is found by its id, its identifiers, its unique
    /// name and its e-mail addresses, and counts in the collection of all and in each that its
    /// links name.
    Insert(Box<InsertRecord>),
    /// Fields and identifiers of a record are replaced, and it was changed at this moment.
    Replace(Box<ReplaceRecord>),
    /// Only the fields: a change of computed members is no change of the record.
    ///
    /// Requirements: TYP-16.
    SetFields {
        /// The record.
        at: ChangeTarget,
        /// Its fields, ready for the wire.
        fields: Bytes,
    },
    /// A link of a record leads elsewhere; where the records are listed under what it leads to, the
    /// record leaves one collection and joins another.
    SetLink {
        /// The record.
        at: ChangeTarget,
        /// The link's name in the table.
        link: &'static str,
        /// Where it led.
        from: Option<Id>,
        /// Where it leads now.
        to: Option<Id>,
    },
    /// The dates of a message's schedule.
    ///
    /// Requirements: SCH-01, SCH-04.
    SetSchedule {
        /// The message.
        at: ChangeTarget,
        /// When sending starts.
        start: Option<Timestamp>,
        /// When sending stops.
        stop: Option<Timestamp>,
    },
    /// Records go: with each its identifiers, e-mail addresses, what it counts for, the totals and
    /// parts that it has, and what its tickets note.
    Delete(RecordSet),
    /// A link no longer leads to the records of a set, which go next: the records that have it
    /// stay, without it.
    ClearLink {
        /// The kind of the records that have the link.
        kind: Kind,
        /// The link's name in the table, or of the hidden reference.
        link: &'static str,
        /// What it led to.
        to: RecordSet,
    },
    /// What the counted members of a record come to.
    SetSum {
        /// The event or page.
        of: (Kind, Id),
        /// The kind of the members.
        members: Kind,
        /// The sum.
        sum: Totals,
    },
    /// What one ticket level or currency comes to.
    SetPart {
        /// The event or page.
        of: (Kind, Id),
        /// The level's title, or the currency.
        name: String,
        /// What it comes to.
        sum: Totals,
    },
    /// A ticket of an attendance names a person. Noted once.
    ///
    /// Requirements: RES-attendance-14.
    Hold {
        /// The attendance.
        at: ChangeTarget,
        /// The place of the ticket; below zero where it is not known any more, which only another
        /// store says.
        place: i64,
        /// The person.
        person: Id,
    },
    /// The tickets of an attendance were replaced: who was noted at a place is at another now, or
    /// at none that is known.
    MoveHolders {
        /// The attendance.
        at: ChangeTarget,
        /// From each place that was known to the place now. Places that are not listed are not
        /// known any more.
        places: Vec<(i64, i64)>,
    },
    /// Nothing of a person is noted any more in tickets, nothing is sent to it, and no answer is
    /// kept that may tell of it.
    Forget(Id),
    /// The answer of a call is kept under its key, in place of one that is there. Older ones than
    /// [`StoredResponse::expires_before`] may go.
    ///
    /// Requirements: IDM-01.
    Keep(Box<StoredResponse>),
    /// Something to send: a server response that a helper call asks for, or a message when its
    /// sending starts.
    ///
    /// Requirements: HAF-11, SCH-01.
    Outbox(Box<OutboxEntry>),
    /// Nothing is sent any more of a message by the schedule that it had.
    ///
    /// Requirements: SCH-04.
    Recall(Id),
}

/// The record that a change is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeTarget {
    /// Its kind.
    pub kind: Kind,
    /// Its id.
    pub id: Id,
    /// Its place in the store's order, as the store gave it;
    /// [`StoredRecord::NEW`](super::StoredRecord::NEW) for a record that the same call has made.
    pub row: i64,
}

impl ChangeTarget {
    /// A record at its place.
    #[must_use]
    pub fn new(kind: Kind, id: Id, row: i64) -> Self {
        Self { kind, id, row }
    }
}

/// A new record.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InsertRecord {
    /// The record: its fields are ready for the wire, its links have full addresses, hidden
    /// references among them.
    pub record: RawRecord,
    /// Its foreign identifiers, one by one.
    pub identifiers: Vec<Identifier>,
    /// The name that no other record of the kind has.
    ///
    /// Requirements: UND-02, UND-03.
    pub name: Option<String>,
    /// The e-mail addresses of a person in normal form, each once.
    pub emails: Vec<String>,
}

impl InsertRecord {
    /// A record that is found by its address only.
    #[must_use]
    pub fn new(record: RawRecord) -> Self {
        Self {
            record,
            identifiers: Vec::new(),
            name: None,
            emails: Vec::new(),
        }
    }
}

/// A changed record.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReplaceRecord {
    /// The record.
    pub at: ChangeTarget,
    /// The record that it lives under, for a kind with a home.
    pub parent: Option<Id>,
    /// When it was changed.
    pub modified: Timestamp,
    /// Who changed it, where the kind has a link for it and the caller's key a person.
    pub modified_by: Option<Id>,
    /// Its fields, ready for the wire.
    pub fields: Bytes,
    /// Its identifiers, ready for the wire.
    pub identifiers: Identifiers,
    /// Identifiers that it has no longer, and those that are new.
    pub identifiers_freed: Vec<Identifier>,
    /// Identifiers that it has now.
    pub identifiers_tied: Vec<Identifier>,
    /// The name that no other record of the kind has.
    ///
    /// Requirements: UND-02, UND-03.
    pub name: Option<String>,
    /// E-mail addresses of a person that it has no longer.
    pub emails_freed: Vec<String>,
    /// E-mail addresses of a person that are new.
    pub emails_tied: Vec<String>,
}

/// Records, named by what they have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordSet {
    /// One record, with the e-mail addresses that a person is found by.
    One(ChangeTarget, Vec<String>),
    /// The records of a kind whose link (or hidden reference) leads to a record of a set.
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

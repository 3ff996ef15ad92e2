//! A validated call as plain data, its turn, and its outcome.

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::{Precondition, ResponseRecorder};
use crate::{
    context::Context,
    draft::{RawDraft, RawPatch},
    error::Result,
    helper::{PersonMatching, RawHelperOutcome, RawHelperRequest},
    json::ContentLimits,
    link::{RecordAddress, ShareNames},
    model::Kind,
    record::RawRecord,
    value::{Id, Timestamp},
};

/// A call that changes something, validated, as plain data.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteRequest {
    /// When it was received.
    pub received: Timestamp,
    /// The person that the caller's key is bound to.
    ///
    /// Requirements: RES-petition-17.
    pub caller: Option<Id>,
    /// How much a record may hold.
    pub caps: ContentLimits,
    /// What the server's own identifiers begin with; empty where it has none to give.
    ///
    /// Requirements: ENT-07.
    pub namespace: Arc<str>,
    /// What it asks for.
    pub work: WriteOperation,
    /// Whether its body is refused already: nothing is changed, and it is told what else is wrong.
    ///
    /// Requirements: ERR-39.
    pub is_refused: bool,
    /// What has to be true of the record that it changes or deletes.
    pub condition: Option<Precondition>,
    /// Where the call may come again: under which key its answer is kept.
    ///
    /// Requirements: IDM-01.
    pub keep: Option<ResponseRecorder>,
}

impl WriteRequest {
    /// A call of the caller of this request.
    #[must_use]
    pub fn new(cx: &Context, work: WriteOperation) -> Self {
        Self {
            caller: cx.caller.person().cloned(),
            caps: cx.limits,
            namespace: Arc::clone(&cx.namespace),
            ..Self::received_at(cx.received_at, work)
        }
    }

    /// A call without a caller and without a namespace, for tests of stores.
    #[must_use]
    pub fn received_at(received: Timestamp, work: WriteOperation) -> Self {
        Self {
            received,
            caller: None,
            caps: ContentLimits::default(),
            namespace: Arc::default(),
            work,
            is_refused: false,
            condition: None,
            keep: None,
        }
    }

    /// The same call, if this is true of the record that it changes or deletes.
    #[must_use]
    pub fn only_if(self, condition: Option<&Precondition>) -> Self {
        Self {
            condition: condition.cloned(),
            ..self
        }
    }

    /// The same call, whose answer is kept.
    #[must_use]
    pub fn keeping(self, keep: &ResponseRecorder) -> Self {
        Self {
            keep: Some(keep.clone()),
            ..self
        }
    }

    /// Whether what the client asks of the record is true of it.
    pub(crate) fn check(&self, record: &RawRecord) -> Result<()> {
        self.condition
            .as_ref()
            .map_or(Ok(()), |condition| condition.check(record))
    }

    /// The same call with a body that is refused already: `work` holds what of it is valid.
    #[must_use]
    pub fn refused(self) -> Self {
        Self {
            is_refused: true,
            ..self
        }
    }
}

/// What a call asks for.
#[derive(Debug, Clone)]
pub enum WriteOperation {
    /// To create a record.
    ///
    /// Requirements: CRU-01.
    Create(RawDraft),
    /// To change the record at an address.
    ///
    /// Requirements: CRU-04.
    Update(RecordAddress, RawPatch),
    /// To delete the record at an address.
    ///
    /// Requirements: CRU-05.
    Delete(RecordAddress),
    /// To run a helper.
    ///
    /// Requirements: HLP-01.
    Help(Box<RawHelperRequest>),
    /// To take a record over as it was made elsewhere.
    Load(Box<ImportedRecord>),
}

/// One record to load: what a create or a helper call would have made of it, with its id and date.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ImportedRecord {
    /// Its id.
    pub id: Id,
    /// When it was created and last changed.
    pub created: Timestamp,
    /// Its fields with their defaults, its identifiers, and its links, the container among them. A
    /// message may have the dates of its schedule among its fields. Nobody is matched: a person is
    /// a new one.
    pub draft: RawDraft,
}

impl ImportedRecord {
    /// A record to load.
    #[must_use]
    pub fn new(id: Id, created: Timestamp, draft: RawDraft) -> Self {
        Self { id, created, draft }
    }
}

/// What a call came to.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one of it for a call, and two records are what a helper comes to"
)]
pub enum WriteOutcome {
    /// A record was created, or was there already.
    ///
    /// Requirements: UND-38.
    Created {
        /// The record.
        record: RawRecord,
        /// Whether it is new.
        is_new: bool,
    },
    /// The record as it is after its change; `None` where there is no such record.
    Updated(Option<RawRecord>),
    /// Whether there was such a record to delete.
    Deleted(bool),
    /// What a helper did.
    Helped(RawHelperOutcome),
    /// Nothing: the call has been here before, and this is the answer that was kept of it.
    ///
    /// Requirements: IDM-01.
    Kept(Bytes),
}

impl WriteOutcome {
    /// The records that an answer may show.
    pub(crate) fn records(&self) -> impl Iterator<Item = &RawRecord> {
        let (one, other) = match self {
            Self::Created { record, .. } => (Some(record), None),
            Self::Updated(record) => (record.as_ref(), None),
            Self::Helped(outcome) => (outcome.person.as_ref(), outcome.action.as_ref()),
            Self::Deleted(_) | Self::Kept(_) => (None, None),
        };
        one.into_iter().chain(other)
    }
}

/// What the rulebook is told besides the call and the answers: everything that is not the same each
/// time.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TransactionContext<'a> {
    /// The moment of the turn, which new and changed records get: later than that of every turn of
    /// the tenant before.
    pub time: Timestamp,
    /// The ids of new records.
    pub ids: &'a IdSequence,
    /// What the store calls the two share objects in the fields that it keeps.
    pub share_names: &'a ShareNames,
    /// How it is decided whether a posted person is known already.
    ///
    /// Requirements: HLP-04.
    pub matching: &'a dyn PersonMatching,
    /// The kinds of which a container has one record for each person, besides those of which it is
    /// so by the interface: who calls again is answered the one that is there.
    ///
    /// Requirements: UND-38.
    pub once_per_person: &'a [Kind],
}

impl<'a> TransactionContext<'a> {
    /// A turn at a moment.
    #[must_use]
    pub fn new(
        time: Timestamp,
        ids: &'a IdSequence,
        share_names: &'a ShareNames,
        matching: &'a dyn PersonMatching,
    ) -> Self {
        Self {
            time,
            ids,
            share_names,
            matching,
            once_per_person: &[],
        }
    }

    /// The same in a store that has one record of these kinds for each person in a container.
    #[must_use]
    pub fn once_per_person(mut self, kinds: &'a [Kind]) -> Self {
        self.once_per_person = kinds;
        self
    }
}

/// The ids that one turn gives to new records: the same ones in the same order, however often the
/// rulebook runs.
#[derive(Debug)]
pub struct IdSequence {
    made: Mutex<Vec<Id>>,
    make: fn() -> Id,
}

impl Default for IdSequence {
    /// Random UUIDs of version 7.
    fn default() -> Self {
        Self::made_by(|| uuid::Uuid::now_v7().into())
    }
}

impl IdSequence {
    /// Ids that this function makes, each another one.
    #[must_use]
    pub fn made_by(make: fn() -> Id) -> Self {
        Self {
            made: Mutex::default(),
            make,
        }
    }

    /// The id of the new record with `place` new records before it.
    pub(crate) fn nth(&self, place: usize) -> Id {
        let mut made = self
            .made
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        while made.len() <= place {
            made.push((self.make)());
        }
        made.get(place).cloned().unwrap_or_else(self.make)
    }
}

//! A validated write request as plain data, its transaction, and its outcome.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;

use super::{Precondition, ResponseRecorder, StepLog};
use crate::{
    context::Context,
    draft::{RawDraft, RawPatch},
    error::{Error, ErrorCode, Problem, PropertyPath, Result},
    helper::{
        ConsentMerge, OverruledValue, PersonMatching, RawHelperOutcome, RawHelperRequest,
        TightenedValue,
    },
    json::ContentLimits,
    link::{RecordAddress, ShareNames},
    model::Kind,
    record::RawRecord,
    schema::Constraints,
    value::{Id, Timestamp},
};

/// A validated write request as plain data.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteRequest {
    /// When the request was received.
    pub received_at: Timestamp,
    /// The person that the caller's key is bound to.
    ///
    /// Requirements: RES-petition-17.
    pub caller: Option<Id>,
    /// The limits on the content of a record.
    pub limits: ContentLimits,
    /// The namespace of the server's own identifiers; empty if the server assigns none.
    ///
    /// Requirements: ENT-07.
    pub namespace: Arc<str>,
    /// The constraints of people. A merge must not exceed a maximum number of entries, and the people
    /// of a helper request get the entries that fit.
    ///
    /// Requirements: CAP-04, HLP-04.
    pub person_constraints: Arc<Constraints>,
    /// The operation to execute.
    pub operation: WriteOperation,
    /// Whether the body is already rejected. The rules then change nothing and report the other
    /// problems.
    ///
    /// Requirements: ERR-39.
    pub is_rejected: bool,
    /// The precondition on the record that the request changes or deletes.
    pub precondition: Option<Precondition>,
    /// Whether the outcome has a warning for each e-mail address that another person also has.
    /// [`new`](Self::new) sets it for a caller with a key and the right to read people. The warning
    /// would reveal to other callers whose addresses are stored.
    ///
    /// Requirements: HLP-04.
    pub reports_shared_addresses: bool,
    /// The idempotency key of the request and the function that renders its response, if the
    /// response is to be stored.
    ///
    /// Requirements: IDM-01.
    pub response_recorder: Option<ResponseRecorder>,
}

impl WriteRequest {
    /// Creates a write request of the caller in `cx`.
    #[must_use]
    pub fn new(cx: &Context, work: WriteOperation) -> Self {
        Self {
            caller: cx.caller().person().cloned(),
            limits: *cx.limits(),
            namespace: Arc::clone(cx.namespace()),
            person_constraints: Arc::clone(cx.person_constraints()),
            reports_shared_addresses: !cx.is_anonymous() && cx.may_read(Kind::Person),
            ..Self::received_at(cx.received_at(), work)
        }
    }

    /// Creates a write request without a caller and without a namespace, for tests of stores.
    #[must_use]
    pub fn received_at(received: Timestamp, work: WriteOperation) -> Self {
        Self {
            received_at: received,
            caller: None,
            limits: ContentLimits::default(),
            namespace: Arc::default(),
            person_constraints: Arc::default(),
            operation: work,
            is_rejected: false,
            precondition: None,
            reports_shared_addresses: false,
            response_recorder: None,
        }
    }

    /// Sets the precondition on the record that the request changes or deletes.
    #[must_use]
    pub fn only_if(self, condition: Option<&Precondition>) -> Self {
        Self {
            precondition: condition.cloned(),
            ..self
        }
    }

    /// Stores the response of the request with `keep`.
    #[must_use]
    pub fn keeping(self, keep: &ResponseRecorder) -> Self {
        Self {
            response_recorder: Some(keep.clone()),
            ..self
        }
    }

    /// Checks the precondition of the request on a record.
    pub(crate) fn check(&self, record: &RawRecord) -> Result<()> {
        self.precondition
            .as_ref()
            .map_or(Ok(()), |condition| condition.check(record))
    }

    /// Marks the body of the request as already rejected. `work` then contains the valid parts of
    /// the body.
    #[must_use]
    pub fn rejected(self) -> Self {
        Self {
            is_rejected: true,
            ..self
        }
    }
}

/// The operation of a write request.
#[derive(Debug, Clone)]
pub enum WriteOperation {
    /// Creates a record.
    ///
    /// Requirements: CRU-01.
    Create(RawDraft),
    /// Changes the record at an address.
    ///
    /// Requirements: CRU-04.
    Update(RecordAddress, RawPatch),
    /// Deletes the record at an address.
    ///
    /// Requirements: CRU-05.
    Delete(RecordAddress),
    /// Executes a helper request.
    ///
    /// Requirements: HLP-01.
    Helper(Box<RawHelperRequest>),
    /// Merges a person into another one.
    Merge(Box<MergeRequest>),
    /// Undoes a merge of two people.
    ///
    /// Requirements: MRG-20.
    UndoMerge(UndoMergeRequest),
    /// Imports a record with the id and date of another store.
    Import(Box<ImportedRecord>),
}

/// A request to merge a person into another one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MergeRequest {
    /// The person that remains. The [`WriteRequest::precondition`] is about this person.
    pub remaining: RecordAddress,
    /// The person that is merged into the other one.
    pub merged: RecordAddress,
    /// Changes of the remaining person after the merge of the fields.
    pub patch: Option<RawPatch>,
    /// How the statuses of e-mail addresses change.
    pub consent: ConsentMerge,
    /// The precondition on the merged person.
    pub merged_condition: Option<Precondition>,
    /// Whether nothing is stored. The outcome is the same as that of the merge.
    pub is_preview: bool,
    /// The maximum number of records that the merge changes. A merge of more records is rejected.
    pub max_records: u32,
    /// How long the merge can be undone; `None` stores nothing for that.
    pub undo_for: Option<Duration>,
    /// The name of the API key of the request, for the list of merges.
    pub key_name: Option<String>,
}

impl MergeRequest {
    /// The default of [`max_records`](Self::max_records).
    pub const MAX_RECORDS: u32 = 10_000;

    /// The name of the link of a request to the merged person.
    pub const LINK: &str = "person";

    /// The property of a request with the entity tag of the merged person.
    pub const TAG: &str = "merged_etag";

    /// Creates a request to merge the second person into the first one.
    #[must_use]
    pub fn new(remaining: RecordAddress, merged: RecordAddress) -> Self {
        Self {
            remaining,
            merged,
            patch: None,
            consent: ConsentMerge::default(),
            merged_condition: None,
            is_preview: false,
            max_records: Self::MAX_RECORDS,
            undo_for: None,
            key_name: None,
        }
    }

    /// Checks that the request is about two people.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorCode::MergeSamePerson`] if the remaining person is the person to merge.
    ///
    /// Requirements: MRG-16.
    pub fn check_two_people(&self, remaining: &RawRecord) -> Result<()> {
        if self.merged.id != remaining.meta().id {
            return Ok(());
        }
        let text = "{property} identifies the person who remains. Send another person.";
        let property = PropertyPath::link(Self::LINK);
        let problem = Problem::new(ErrorCode::MergeSamePerson, property, text);
        Err(Error::invalid(problem))
    }

    /// Returns the error for a person that was already merged into another one than the remaining person.
    ///
    /// Requirements: MRG-16.
    #[must_use]
    pub fn merged_elsewhere(into: RecordAddress) -> Error {
        let mut problem = Problem::person_merged(into);
        problem.properties = vec![PropertyPath::link(Self::LINK)];
        Error::invalid(problem)
    }

    /// Checks the precondition on the merged person.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorCode::PreconditionFailed`] for the entity tag if the person has changed.
    ///
    /// Requirements: MRG-14.
    pub fn check_merged(&self, merged: &RawRecord) -> Result<()> {
        let Some(condition) = &self.merged_condition else {
            return Ok(());
        };
        condition.check(merged).map_err(|_| {
            let text = "{property} is not the current entity tag of the person to merge.";
            let problem = Problem::new(ErrorCode::PreconditionFailed, Self::TAG, text);
            Error::invalid(problem)
        })
    }
}

/// The outcome of a merge of two people.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MergeOutcome {
    /// The person that remains.
    pub person: RawRecord,
    /// The former address of the merged person.
    pub merged: RecordAddress,
    /// Whether nothing was stored, because the request was a preview.
    pub is_preview: bool,
    /// Whether the person was already merged into the other one. Nothing was changed then.
    pub is_repeated: bool,
    /// The number of records of each kind that now belong to the remaining person.
    pub moved: Vec<(Kind, u64)>,
    /// The records of both people of which a container has only one for each person.
    pub folded: Vec<FoldedRecord>,
    /// The values that the remaining person does not have.
    pub overruled: Vec<OverruledValue>,
    /// The consents that are stricter now.
    pub tightened: Vec<TightenedValue>,
    /// What was stored to undo the merge. `None` without [`MergeRequest::undo_for`], for a preview, and
    /// for a repeated merge.
    pub undo: Option<StoredMerge>,
}

impl MergeOutcome {
    /// Creates the outcome of a merge that changed no other records, from the remaining person and the
    /// former address of the merged one.
    #[must_use]
    pub fn new(person: RawRecord, merged: RecordAddress) -> Self {
        Self {
            person,
            merged,
            is_preview: false,
            is_repeated: false,
            moved: Vec::new(),
            folded: Vec::new(),
            overruled: Vec::new(),
            tightened: Vec::new(),
            undo: None,
        }
    }
}

/// Two records of which a container has only one for each person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoldedRecord {
    /// The record that remains.
    pub remaining: RecordAddress,
    /// The deleted record.
    pub merged: RecordAddress,
}

impl FoldedRecord {
    /// Creates the pair from the record that remains and the deleted one.
    #[must_use]
    pub fn new(remaining: RecordAddress, merged: RecordAddress) -> Self {
        Self { remaining, merged }
    }
}

/// A merge of two people that was stored to be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredMerge {
    /// The id of the merge.
    pub id: Id,
    /// The id of the person that remains.
    pub remaining: Id,
    /// The id of the merged person.
    pub merged: Id,
    /// When the people were merged.
    pub at: Timestamp,
    /// Until when the merge can be undone.
    pub until: Timestamp,
    /// The name of the API key of the request.
    pub key_name: Option<String>,
    /// Whether this is the latest stored merge into the remaining person. An earlier one cannot be
    /// undone before the later ones.
    pub is_latest: bool,
}

impl StoredMerge {
    /// The maximum number of merges that [`Store::merges`](super::Store::merges) returns.
    pub const MAX_LISTED: u32 = 100;

    /// Creates the latest merge of the second person into the first one.
    #[must_use]
    pub fn new(id: Id, remaining: Id, merged: Id, at: Timestamp, until: Timestamp) -> Self {
        Self {
            id,
            remaining,
            merged,
            at,
            until,
            key_name: None,
            is_latest: true,
        }
    }

    /// Returns whether the merge can be undone at a time, if the remaining person was not merged itself.
    #[must_use]
    pub fn is_undoable(&self, now: Timestamp) -> bool {
        self.is_latest && now < self.until
    }
}

/// A stored merge with everything that is needed to undo it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeRecord {
    /// The merge.
    pub merge: StoredMerge,
    /// What the rules need to undo it, as JSON. It contains personal data.
    pub body: Bytes,
}

impl MergeRecord {
    /// Creates a merge with what is needed to undo it.
    #[must_use]
    pub fn new(merge: StoredMerge, body: Bytes) -> Self {
        Self { merge, body }
    }
}

/// A request to undo a merge of two people.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UndoMergeRequest {
    /// The person that remained. The [`WriteRequest::precondition`] is about this person.
    pub remaining: RecordAddress,
    /// The [id](StoredMerge::id) of the merge.
    pub merge: Id,
}

impl UndoMergeRequest {
    /// Creates a request to undo a merge into a person.
    #[must_use]
    pub fn new(remaining: RecordAddress, merge: Id) -> Self {
        Self { remaining, merge }
    }
}

/// The outcome of an undone merge of two people.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UndoMergeOutcome {
    /// The person that remained.
    pub person: RawRecord,
    /// The person that exists again.
    pub restored: RawRecord,
    /// The number of records of each kind that belong to the restored person again.
    pub moved: Vec<(Kind, u64)>,
    /// The folded records that exist again, each with the record that it was folded with.
    pub folded: Vec<FoldedRecord>,
    /// The properties of the remaining person that were changed after the merge, and stay as they are.
    pub left: Vec<PropertyPath>,
}

/// A record to import: the result of a create or helper request elsewhere, with its id and date.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ImportedRecord {
    /// The id of the record.
    pub id: Id,
    /// When the record was created and last changed.
    pub created: Timestamp,
    /// The fields with their defaults, the identifiers, and the links including the container.
    ///
    /// A message can have its schedule dates among the fields. People are not matched: each
    /// imported person is a new record.
    pub draft: RawDraft,
}

impl ImportedRecord {
    /// Creates a record to import.
    #[must_use]
    pub fn new(id: Id, created: Timestamp, draft: RawDraft) -> Self {
        Self { id, created, draft }
    }
}

/// The outcome of a write request.
#[derive(Debug, Clone)]
pub enum WriteOutcome {
    /// A record was created, or already existed.
    ///
    /// Requirements: UND-38.
    Created {
        /// The record.
        record: RawRecord,
        /// Whether the record is new.
        is_new: bool,
    },
    /// The record after its change, or `None` if it does not exist.
    Updated(Option<RawRecord>),
    /// Whether the record existed and was deleted.
    Deleted(bool),
    /// The outcome of a helper request.
    HelperDone(RawHelperOutcome),
    /// The outcome of a merge of two people.
    Merged(Box<MergeOutcome>),
    /// The outcome of an undone merge of two people.
    MergeUndone(Box<UndoMergeOutcome>),
    /// The outcome of a repeated helper request, of which only the failed parts were executed
    /// again. The person and the action have the status of the first execution, and the other parts
    /// [`Existing`](crate::helper::EntryStatus::Existing).
    ///
    /// Requirements: IDM-02.
    Resumed(RawHelperOutcome),
    /// Nothing was executed: the request was repeated, and this is its stored response.
    ///
    /// Requirements: IDM-01.
    Replayed(Bytes),
    /// An outcome with warnings, for a caller that may know their reasons.
    Warned(Box<WriteOutcome>, Vec<Problem>),
}

impl WriteOutcome {
    /// Adds warnings.
    #[must_use]
    pub fn with_warnings(self, warnings: Vec<Problem>) -> Self {
        let (outcome, mut all) = self.split_warnings();
        all.extend(warnings);
        if all.is_empty() {
            outcome
        } else {
            Self::Warned(Box::new(outcome), all)
        }
    }

    /// Returns the outcome without its warnings, and the warnings.
    #[must_use]
    pub fn split_warnings(self) -> (Self, Vec<Problem>) {
        match self {
            Self::Warned(outcome, warnings) => (*outcome, warnings),
            outcome => (outcome, Vec::new()),
        }
    }

    /// Returns the warnings.
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        match self {
            Self::Warned(_, warnings) => warnings,
            _ => &[],
        }
    }

    /// Returns the outcome without its warnings.
    #[must_use]
    pub fn without_warnings(&self) -> &Self {
        match self {
            Self::Warned(outcome, _) => outcome,
            outcome => outcome,
        }
    }

    /// Returns the record of a create or change, and whether it is new; `None` if there is none.
    #[must_use]
    pub fn into_written(self) -> Option<(RawRecord, bool)> {
        match self.split_warnings().0 {
            Self::Created { record, is_new } => Some((record, is_new)),
            Self::Updated(record) => Some((record?, false)),
            Self::Merged(outcome) => Some((outcome.person, false)),
            Self::MergeUndone(outcome) => Some((outcome.person, false)),
            Self::Deleted(_)
            | Self::HelperDone(_)
            | Self::Resumed(_)
            | Self::Replayed(_)
            | Self::Warned(..) => None,
        }
    }

    /// Returns the person that was created, changed or posted.
    #[must_use]
    pub fn person(&self) -> Option<&RawRecord> {
        self.records().find(|record| record.kind() == Kind::Person)
    }

    /// Returns the records that the response can contain.
    pub(crate) fn records(&self) -> impl Iterator<Item = &RawRecord> {
        let (one, other) = match self.without_warnings() {
            Self::Created { record, .. } => (Some(record), None),
            Self::Updated(record) => (record.as_ref(), None),
            Self::Merged(outcome) => (Some(&outcome.person), None),
            Self::MergeUndone(outcome) => (Some(&outcome.person), Some(&outcome.restored)),
            Self::HelperDone(outcome) | Self::Resumed(outcome) => {
                (outcome.person.as_ref(), outcome.action.as_ref())
            }
            Self::Deleted(_) | Self::Replayed(_) | Self::Warned(..) => (None, None),
        };
        one.into_iter().chain(other)
    }
}

/// The inputs of the rules other than the request and the lookup results: everything that differs
/// between two executions.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TransactionContext<'a> {
    /// The time of the transaction, which new and changed records get. It is later than that of
    /// every earlier transaction of the tenant.
    pub timestamp: Timestamp,
    /// The ids of new records.
    pub ids: &'a IdSequence,
    /// The names of the two share objects in the stored fields.
    pub share_names: &'a ShareNames,
    /// The method that decides whether a posted person already exists.
    ///
    /// Requirements: HLP-04.
    pub person_matching: &'a dyn PersonMatching,
    /// The additional kinds of which a container has one record for each person. Other kinds have
    /// this limit by the specification. A repeated creation returns the existing record.
    ///
    /// Requirements: UND-38.
    pub one_per_person: &'a [Kind],
    /// The steps of the request in a backend of single operations; `None` in a store that applies
    /// changes.
    pub steps: Option<&'a StepLog>,
}

impl<'a> TransactionContext<'a> {
    /// Creates the context of a transaction at this time.
    #[must_use]
    pub fn new(
        time: Timestamp,
        ids: &'a IdSequence,
        share_names: &'a ShareNames,
        matching: &'a dyn PersonMatching,
    ) -> Self {
        Self {
            timestamp: time,
            ids,
            share_names,
            person_matching: matching,
            one_per_person: &[],
            steps: None,
        }
    }

    /// Writes in steps instead of changes, for a backend of single operations.
    #[must_use]
    pub fn in_steps(mut self, steps: &'a StepLog) -> Self {
        self.steps = Some(steps);
        self
    }

    /// Sets the additional kinds of which a container has one record for each person.
    #[must_use]
    pub fn one_per_person(mut self, kinds: &'a [Kind]) -> Self {
        self.one_per_person = kinds;
        self
    }
}

/// The ids of the new records of one transaction. Each run of the rules gets the same ids in the
/// same order.
#[derive(Debug)]
pub struct IdSequence {
    made: Mutex<Vec<Id>>,
    make: fn() -> Id,
}

impl Default for IdSequence {
    /// Returns a sequence of random UUIDs of version 7.
    fn default() -> Self {
        Self::from_fn(|| uuid::Uuid::now_v7().into())
    }
}

impl IdSequence {
    /// Returns a sequence of ids that this function creates. It must return a new id each time.
    #[must_use]
    pub fn from_fn(make: fn() -> Id) -> Self {
        Self {
            made: Mutex::default(),
            make,
        }
    }

    /// Replaces an id of the sequence, for a database that numbers its records. The rules must then be
    /// executed again.
    pub fn replace(&self, made: &Id, id: Id) {
        let mut all = self
            .made
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(place) = all.iter_mut().find(|place| *place == made) {
            *place = id;
        }
    }

    /// Returns the id of the new record at this position, counted from 0.
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

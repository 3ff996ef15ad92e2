//! The rules of the API, which decide what each write request means, in the same way for every
//! store.
//!
//! Each file contains the rules of one subject and mirrors the requirements that it implements. A
//! rule executes lookups through its `RuleContext` or `TransactionView` and collects changes. It
//! performs no I/O and can run repeatedly.

mod action;
mod answer;
mod attendance;
mod context;
mod create;
mod delete;
mod donation;
mod erase;
mod functions;
mod helper;
mod holders;
mod idempotency;
mod initial_lookups;
mod limits;
mod lists;
mod person;
mod repair;
mod schedule;
mod trigger_limit;
mod update;

pub use action::{recorded, without_claimed_identifiers};
#[doc(hidden)]
pub use context::{CreateOptions, RuleContext, RuleResult, TicketHolderPolicy};
pub use delete::removal;
#[doc(hidden)]
pub use helper::help;
#[doc(hidden)]
pub use initial_lookups::first_keys;
pub use initial_lookups::{initial_lookups, initial_lookups_one_per_person};
#[doc(hidden)]
pub use limits::exceeded_limits;
pub use person::{MatchedPerson, PersonCandidate, PersonLookup};
pub use repair::{RecordRepair, RoundedAmount};

use crate::{
    error::{Error, Problem},
    json::Object,
    link::{LinkValue, RecordAddress, ShareNames},
    model::Kind,
    outbox::{OutboxEntry, OutboxPayload},
    record::RawRecord,
    store::{
        Change, LookupKey, LookupSource, PendingChanges, RecordLocation, RuleError,
        TransactionContext, TransactionView, WriteOperation, WriteOutcome, WriteRequest,
    },
    value::Id,
};

/// The result of the rules for one write request: ordered changes and an outcome.
#[derive(Debug)]
#[non_exhaustive]
pub struct Decision {
    /// The changes, which are applied completely or not at all.
    pub changes: Vec<Change>,
    /// The outcome, which the caller receives after the changes are durable.
    pub outcome: WriteOutcome,
}

/// Decides what a write request means. Every store uses this function.
///
/// It is synchronous and repeatable: the same request, transaction context and lookup results give
/// the same decision. It changes no data.
///
/// # Errors
///
/// [`RuleError::MissingLookups`] and [`RuleError::UnflushedChanges`] if it must run again. Otherwise
/// [`RuleError::Failed`] with one of these errors:
///
/// - [`ErrorKind::Invalid`](crate::error::ErrorKind::Invalid) with every problem that depends on
///   stored data. The list is empty if there is no such problem but the request [is already
///   rejected](WriteRequest::is_rejected).
/// - [`ErrorKind::NotFound`](crate::error::ErrorKind::NotFound) for a container that does not
///   exist.
/// - An error of the store.
///
/// Requirements: ERR-39.
pub fn decide(
    call: &WriteRequest,
    turn: &TransactionContext<'_>,
    answers: &mut dyn LookupSource,
    before: &PendingChanges,
) -> Result<Decision, RuleError> {
    let mut case = StoreRuleContext {
        ledger: TransactionView::new(answers, before),
        call,
        turn,
        caller: None,
        made: 0,
    };
    if let Some(answer) = case.stored_response()? {
        return Ok(Decision {
            changes: Vec::new(),
            outcome: WriteOutcome::Replayed(answer),
        });
    }
    if let Some(id) = &call.caller {
        case.caller = case
            .ledger
            .find(&LookupKey::Id(Kind::Person, id.clone()))?
            .map(|found| found.id);
    }
    let outcome = match &call.operation {
        WriteOperation::Create(draft) => {
            let (stored, is_new) = case.create_standalone(draft)?;
            WriteOutcome::Created {
                record: stored.record,
                is_new,
            }
        }
        WriteOperation::Update(at, patch) => {
            WriteOutcome::Updated(case.update_at(at, patch)?.map(|stored| stored.record))
        }
        WriteOperation::Delete(at) => WriteOutcome::Deleted(case.delete_at(at)?),
        WriteOperation::Helper(plan) => WriteOutcome::HelperDone(help(&mut case, plan)?),
        WriteOperation::Import(load) => {
            let (stored, is_new) = case.load(load)?;
            WriteOutcome::Created {
                record: stored.record,
                is_new,
            }
        }
    };
    match &outcome {
        _ if !call.is_rejected => {}
        WriteOutcome::Updated(None) | WriteOutcome::Deleted(false) => {
            return Err(Error::not_found().into());
        }
        WriteOutcome::HelperDone(outcome) => {
            return Err(Error::invalid_all(outcome.problems()).into());
        }
        _ => return Err(Error::invalid_all(Vec::new()).into()),
    }
    case.store_response(&outcome)?;
    Ok(Decision {
        changes: case.ledger.changes,
        outcome,
    })
}

/// The state of the rules for one write request.
struct StoreRuleContext<'a> {
    ledger: TransactionView<'a>,
    call: &'a WriteRequest,
    turn: &'a TransactionContext<'a>,
    /// The person that is bound to the caller's key, if that person exists.
    ///
    /// Requirements: RES-petition-17.
    caller: Option<Id>,
    /// The number of ids used so far, for new records and outbox entries.
    made: usize,
}

impl StoreRuleContext<'_> {
    fn names(&self) -> &ShareNames {
        self.turn.share_names
    }

    /// Returns the fields of a record under the names of the schema.
    fn fields(&self, record: &RawRecord) -> RuleResult<Object> {
        Ok(record.to_fields(self.turn.share_names)?)
    }

    /// Returns the location of the record at an address. A record with another parent is not found.
    ///
    /// Requirements: COL-19.
    fn find_at(&mut self, address: &RecordAddress) -> RuleResult<Option<RecordLocation>> {
        let found = self.ledger.find(&LookupKey::from(address))?;
        Ok(found.filter(|found| address.matches_parent(found.parent.as_ref())))
    }

    /// Returns the next id of the transaction.
    fn next_id(&mut self) -> Id {
        let id = self.turn.ids.nth(self.made);
        self.made = self.made.saturating_add(1);
        id
    }

    /// Adds an entry to the outbox.
    fn send(&mut self, what: OutboxPayload) {
        let dispatch = OutboxEntry::new(self.next_id(), self.call.received_at, what);
        self.ledger.change(Change::Enqueue(Box::new(dispatch)));
    }

    /// Returns the link to the person that is bound to the caller's key.
    fn link_to_caller(&self) -> Option<LinkValue> {
        self.caller
            .clone()
            .map(|id| RecordAddress::without_parent(Kind::Person, id).into())
    }
}

/// Checks that there are no problems.
///
/// # Errors
///
/// Returns all problems in one error.
#[doc(hidden)]
pub fn check(problems: Vec<Problem>) -> Result<(), Error> {
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::invalid_all(problems))
    }
}

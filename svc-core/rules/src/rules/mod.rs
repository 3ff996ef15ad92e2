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
mod dependents;
mod donation;
mod erase;
mod functions;
mod helper;
mod holders;
mod idempotency;
mod initial_lookups;
mod limits;
mod lists;
mod measures;
mod merge;
mod person;
mod repair;
mod run;
mod schedule;
mod shared_addresses;
mod steps;
mod stored_forms;
mod trigger_limit;
mod undo_merge;
mod update;

pub use action::{recorded, without_claimed_identifiers};
use context::{CreateOptions, RuleContext, RuleResult, TicketHolderPolicy};
pub use create::other_people;
pub use delete::removal;
pub use donation::wrong_donation;
pub use initial_lookups::{
    initial_lookups, initial_lookups_of_steps, initial_lookups_one_per_person,
};
pub use measures::Recount;
pub use merge::MergePlan;
pub use person::{MatchedPerson, PersonCandidate, PersonLookup};
pub use repair::{RecordRepair, RoundedAmount};
pub use run::{RuleRunner, run_rules};
pub use shared_addresses::PostedAddresses;
pub use stored_forms::FormerValue;
pub use update::with_merged_identifiers;

use crate::{
    error::{Error, Problem},
    store::{
        Change, LookupSource, PendingChanges, RuleError, TransactionContext, TransactionView,
        WriteOperation, WriteOutcome, WriteRequest,
    },
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
/// [`RuleError::MissingLookups`], [`RuleError::UnflushedChanges`] and [`RuleError::NextStep`] if it
/// must run again: see [`run_rules`]. Otherwise [`RuleError::Failed`] with one of these errors:
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
    let mut case = RuleContext {
        ledger: TransactionView::new(answers, before),
        call,
        turn,
        caller: None,
        made: 0,
        steps: 0,
        omitted: Vec::new(),
    };
    if let Some(stored) = case.stored_response()? {
        return case.replay(stored);
    }
    case.find_caller()?;
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
        WriteOperation::Helper(plan) => {
            let mut outcome = helper::help(&mut case, plan)?;
            // The effects of operations are not known.
            outcome.is_unchanged = (case.steps == 0).then_some(case.ledger.changes.is_empty());
            let outcome = WriteOutcome::HelperDone(outcome);
            if plan.is_preview && !call.is_rejected {
                let outcome = outcome.with_warnings(case.omitted_entries());
                let changes = Vec::new();
                return Ok(Decision { changes, outcome });
            }
            outcome
        }
        WriteOperation::Merge(request) => {
            let outcome = case.merge(request)?;
            if outcome.is_preview && !call.is_rejected {
                return Ok(Decision {
                    changes: Vec::new(),
                    outcome: WriteOutcome::Merged(Box::new(outcome)),
                });
            }
            WriteOutcome::Merged(Box::new(outcome))
        }
        WriteOperation::UndoMerge(request) => {
            WriteOutcome::MergeUndone(Box::new(case.undo_merge(request)?))
        }
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
    let mut warnings = case.omitted_entries();
    warnings.extend(case.shared_addresses(&outcome)?);
    let outcome = outcome.with_warnings(warnings);
    case.store_response(&outcome, &[])?;
    Ok(Decision {
        changes: case.ledger.changes,
        outcome,
    })
}

/// Returns the problems of a [rejected](WriteRequest::rejected) request from its decision, or from
/// its write.
///
/// # Errors
///
/// Returns an error that is not a rejection.
///
/// Requirements: ERR-39.
pub fn problems_of<T>(result: Result<T, Error>) -> Result<Vec<Problem>, Error> {
    match result {
        Ok(_) => Ok(Vec::new()),
        Err(error) => error.into_problems(),
    }
}

/// Checks that there are no problems.
///
/// # Errors
///
/// Returns all problems in one error.
fn check(problems: Vec<Problem>) -> Result<(), Error> {
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::invalid_all(problems))
    }
}

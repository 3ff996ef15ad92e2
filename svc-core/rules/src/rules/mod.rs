//! The rulebook: what each call of the interface means, decided once for every store.
//!
//! Each file has the rules of one thing and reads like the rows of the catalogue that it
//! implements. A rule asks its `RuleContext` or `TransactionView` and changes the ledger; it never
//! waits, never stores, and may be run again.

mod action;
mod answer;
mod attendance;
mod caps;
mod create;
mod delete;
mod donation;
mod erase;
mod first;
mod functions;
mod ground;
mod help;
mod holders;
mod kept;
mod lists;
mod person;
mod repair;
mod schedule;
mod trigger_limit;
mod update;

pub use action::{recorded, unclaimed};
#[doc(hidden)]
pub use caps::grown;
pub use delete::removal;
#[doc(hidden)]
pub use first::first_keys;
pub use first::{first_questions, first_questions_once};
#[doc(hidden)]
pub use ground::{CreateOptions, RuleContext, RuleResult, TicketHolderPolicy};
#[doc(hidden)]
pub use help::help;
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

/// What a call comes to: what it changes, in this order, and its outcome.
#[derive(Debug)]
#[non_exhaustive]
pub struct Decision {
    /// What is changed, all or nothing of it.
    pub changes: Vec<Change>,
    /// What the caller is answered once that is durable.
    pub outcome: WriteOutcome,
}

/// Decides a call: the one place where the interface says what a write means.
///
/// It is synchronous and repeatable: the same call, turn and answers give the same decision.
/// Nothing is changed by it.
///
/// # Errors
///
/// [`RuleError::Missing`] and [`RuleError::Unsettled`] if it has to run again. Otherwise
/// [`RuleError::Failed`] with one of these errors:
///
/// - [`ErrorKind::Invalid`](crate::error::ErrorKind::Invalid) with every problem that only the
///   store knows, also if there is none but the call [is refused
///   already](WriteRequest::is_refused);
/// - [`ErrorKind::NotFound`](crate::error::ErrorKind::NotFound) for a container that does not
///   exist;
/// - an error of the store.
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
    if let Some(answer) = case.kept_answer()? {
        return Ok(Decision {
            changes: Vec::new(),
            outcome: WriteOutcome::Kept(answer),
        });
    }
    if let Some(id) = &call.caller {
        case.caller = case
            .ledger
            .find(&LookupKey::Id(Kind::Person, id.clone()))?
            .map(|found| found.id);
    }
    let outcome = match &call.work {
        WriteOperation::Create(draft) => {
            let (stored, is_new) = case.create_alone(draft)?;
            WriteOutcome::Created {
                record: stored.record,
                is_new,
            }
        }
        WriteOperation::Update(at, patch) => {
            WriteOutcome::Updated(case.update_at(at, patch)?.map(|stored| stored.record))
        }
        WriteOperation::Delete(at) => WriteOutcome::Deleted(case.delete_at(at)?),
        WriteOperation::Help(plan) => WriteOutcome::Helped(help(&mut case, plan)?),
        WriteOperation::Load(load) => {
            let (stored, is_new) = case.load(load)?;
            WriteOutcome::Created {
                record: stored.record,
                is_new,
            }
        }
    };
    match &outcome {
        _ if !call.is_refused => {}
        WriteOutcome::Updated(None) | WriteOutcome::Deleted(false) => {
            return Err(Error::not_found().into());
        }
        WriteOutcome::Helped(outcome) => return Err(Error::refused(outcome.problems()).into()),
        _ => return Err(Error::refused(Vec::new()).into()),
    }
    case.keep_answer(&outcome)?;
    Ok(Decision {
        changes: case.ledger.changes,
        outcome,
    })
}

/// A call that is being decided.
struct StoreRuleContext<'a> {
    ledger: TransactionView<'a>,
    call: &'a WriteRequest,
    turn: &'a TransactionContext<'a>,
    /// The person that the caller's key is bound to, where there is such a person.
    ///
    /// Requirements: RES-petition-17.
    caller: Option<Id>,
    /// How many ids are taken: a record that is new has one, and what is to be sent.
    made: usize,
}

impl StoreRuleContext<'_> {
    fn names(&self) -> &ShareNames {
        self.turn.share_names
    }

    /// The fields of a record under the names of the tables.
    fn fields(&self, record: &RawRecord) -> RuleResult<Object> {
        Ok(record.to_fields(self.turn.share_names)?)
    }

    /// Whether there is a record at an address: one with another parent than the address says is
    /// not there.
    ///
    /// Requirements: COL-19.
    fn find_at(&mut self, address: &RecordAddress) -> RuleResult<Option<RecordLocation>> {
        let found = self.ledger.find(&LookupKey::from(address))?;
        Ok(found.filter(|found| address.admits_parent(found.parent.as_ref())))
    }

    /// The next id of those that the turn has.
    fn next_id(&mut self) -> Id {
        let id = self.turn.ids.nth(self.made);
        self.made = self.made.saturating_add(1);
        id
    }

    /// Notes something to send.
    fn send(&mut self, what: OutboxPayload) {
        let dispatch = OutboxEntry::new(self.next_id(), self.call.received, what);
        self.ledger.change(Change::Outbox(Box::new(dispatch)));
    }

    /// The link to the person that the caller's key is bound to.
    fn link_to_caller(&self) -> Option<LinkValue> {
        self.caller
            .clone()
            .map(|id| RecordAddress::top(Kind::Person, id).into())
    }
}

/// Ends a rule if there are problems.
///
/// # Errors
///
/// All of the problems.
#[doc(hidden)]
pub fn check(problems: Vec<Problem>) -> Result<(), Error> {
    if problems.is_empty() {
        Ok(())
    } else {
        Err(Error::refused(problems))
    }
}

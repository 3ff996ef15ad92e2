//! Executes write requests, in a transaction of the backend if it has any. The transaction is
//! repeated if the database rolled it back.
//!
//! Requirements: ERR-04, ERR-34, HLP-04.

use std::{borrow::Cow, time::Instant};

use super::{
    Api, HelperRunner, extensions::idempotency::ResponseStorage, lock_keys::lock_keys,
    registry::write_to,
};
use crate::{
    backend::{DeleteRequest, ErasedTransactions, LockKey, TransactionEnd},
    context::Context,
    error::{Error, Result},
    link::RecordAddress,
    record::RecordState,
    store::{Precondition, ResponseRecorder, WriteOperation, WriteOutcome, WriteRequest},
};

/// How often a request is executed if the database keeps rolling it back.
const TRIES: u32 = 10;

/// A write request, with its precondition and how its response is stored.
#[derive(Debug, Clone)]
pub(super) struct PendingWrite<'a> {
    pub(super) work: WriteOperation,
    /// The precondition of the record, which is evaluated in the transaction of the change.
    pub(super) condition: Option<&'a Precondition>,
    /// How to store the response in that transaction, if the request has an idempotency key.
    pub(super) keep: Option<&'a ResponseRecorder>,
}

impl From<WriteOperation> for PendingWrite<'_> {
    fn from(work: WriteOperation) -> Self {
        Self {
            work,
            condition: None,
            keep: None,
        }
    }
}

impl Api {
    /// Executes a write request. With transactions it is all or nothing.
    pub(super) async fn perform(
        &self,
        cx: &Context,
        wanted: PendingWrite<'_>,
    ) -> Result<WriteOutcome> {
        match self.inner.settings.transactions.as_deref() {
            // Boxed, because these futures would make the future of every request as large.
            Some(transactions) => Box::pin(self.try_in(transactions, cx, wanted)).await,
            None => Box::pin(self.attempt(cx, wanted)).await,
        }
    }

    async fn try_in(
        &self,
        transactions: &dyn ErasedTransactions,
        cx: &Context,
        wanted: PendingWrite<'_>,
    ) -> Result<WriteOutcome> {
        let keys = lock_keys(
            &cx.tenant,
            &wanted.work,
            self.inner.settings.matching.as_ref(),
        );
        let mut cx = Cow::Borrowed(cx);
        for _ in 1..TRIES {
            let done = self
                .attempt_in(transactions, &cx, &keys, wanted.clone())
                .await;
            match done.map_err(|error| self.classified(error)) {
                Err(error) if error.is_rolled_back() && !is_past_deadline(&cx) => {
                    tracing::debug!(error = %format_args!("{error:#}"), "the request is executed again");
                    // Results from before must not be used again: they may be the reason for the
                    // rollback.
                    cx.to_mut().started_at = Instant::now();
                }
                done => return done,
            }
        }
        self.attempt_in(transactions, &cx, &keys, wanted).await
    }

    async fn attempt_in(
        &self,
        transactions: &dyn ErasedTransactions,
        cx: &Context,
        keys: &[LockKey],
        wanted: PendingWrite<'_>,
    ) -> Result<WriteOutcome> {
        let cx = transactions.begin(cx).await?;
        let locked = if keys.is_empty() {
            Ok(())
        } else {
            transactions.lock(&cx, keys).await
        };
        let done = match locked {
            Ok(()) => self.attempt(&cx, wanted).await,
            Err(error) => Err(error),
        };
        match done {
            Ok(outcome) => {
                transactions.end(cx, TransactionEnd::Commit).await?;
                Ok(outcome)
            }
            // A rejection must mean that nothing is stored. So a failed rollback replaces a
            // rejection, but no other error.
            Err(error) => match (transactions.end(cx, TransactionEnd::Rollback).await, error) {
                (Err(left), error) if is_refusal(&error) => Err(left),
                (_, error) => Err(error),
            },
        }
    }

    /// Executes a write request, unless its idempotency key has a stored response.
    ///
    /// Requirements: IDM-01.
    async fn attempt(&self, cx: &Context, wanted: PendingWrite<'_>) -> Result<WriteOutcome> {
        let PendingWrite {
            work,
            condition,
            keep,
        } = wanted;
        let settings = &self.inner.settings;
        match (keep, &settings.extensions.idempotency, &settings.store) {
            (Some(keep), Some(ResponseStorage::Store), Some(store)) => {
                write_to(
                    &**store,
                    cx,
                    WriteRequest::new(cx, work).only_if(condition).keeping(keep),
                )
                .await
            }
            (Some(keep), Some(ResponseStorage::Vendor(answers)), _) => {
                if let Some(answer) = answers.load(cx, keep.key()).await? {
                    return Ok(WriteOutcome::Replayed(answer.into()));
                }
                let outcome = self.operate(cx, work, condition).await?;
                answers
                    .save(cx, keep.of(cx.received_at, &outcome, std::iter::empty())?)
                    .await?;
                Ok(outcome)
            }
            _ => self.operate(cx, work, condition).await,
        }
    }

    /// Calls the registered operation.
    async fn operate(
        &self,
        cx: &Context,
        work: WriteOperation,
        condition: Option<&Precondition>,
    ) -> Result<WriteOutcome> {
        match work {
            WriteOperation::Create(draft) => {
                let Some(create) = &self.registered(draft.kind).create else {
                    return Err(Error::not_implemented());
                };
                let created = create.create(cx, draft).await?;
                Ok(WriteOutcome::Created {
                    record: created.record,
                    is_new: created.is_new,
                })
            }
            WriteOperation::Update(at, mut patch) => {
                let Some(update) = &self.registered(at.kind).update else {
                    return Err(Error::not_implemented());
                };
                if let Some(condition) = condition.filter(|_| !update.checks_precondition()) {
                    patch.if_match = self.evaluate_precondition(cx, &at, condition).await?;
                }
                let is_conditional = condition.is_some();
                let updated = update.update(cx, at, patch, condition).await;
                updated
                    .map_err(|error| self.precondition_error(is_conditional, error))
                    .map(WriteOutcome::Updated)
            }
            WriteOperation::Delete(at) => {
                let Some(delete) = &self.registered(at.kind).delete else {
                    return Err(Error::not_implemented());
                };
                let if_match = match condition.filter(|_| !delete.checks_precondition()) {
                    Some(condition) => self.evaluate_precondition(cx, &at, condition).await?,
                    None => None,
                };
                let request = DeleteRequest::new(at).with_expected_state(if_match);
                let deleted = delete.delete(cx, &request, condition).await;
                deleted
                    .map_err(|error| self.precondition_error(condition.is_some(), error))
                    .map(WriteOutcome::Deleted)
            }
            WriteOperation::Helper(plan) => match self.inner.helpers.get(&plan.helper) {
                Some(HelperRunner::Native(runner)) => {
                    runner.run(cx, *plan).await.map(WriteOutcome::HelperDone)
                }
                // Boxed, because its many steps would make the future of every request as large.
                Some(HelperRunner::Composed) => Box::pin(self.composed().run(cx, &plan))
                    .await
                    .map(WriteOutcome::HelperDone),
                None => Err(Error::not_implemented()),
            },
            WriteOperation::Import(_) => Err(Error::not_implemented()),
        }
    }

    /// Evaluates a precondition for an operation of a vendor. Returns the state that the record
    /// must still have in the operation.
    async fn evaluate_precondition(
        &self,
        cx: &Context,
        at: &RecordAddress,
        condition: &Precondition,
    ) -> Result<Option<RecordState>> {
        // No client knows the state of a record that cannot be read.
        let Some(get) = &self.registered(at.kind).get else {
            return Err(Error::precondition_failed());
        };
        let record = get.get(cx, at).await?.ok_or_else(Error::not_found)?;
        condition.check(&record)?;
        Ok(condition.is_of_state().then(|| record.meta().state()))
    }

    /// Turns a conflict into a failed precondition: the record has changed after the check.
    fn precondition_error(&self, is_conditional: bool, error: Error) -> Error {
        let error = self.classified(error);
        if is_conditional && error.is_conflict() {
            Error::precondition_failed().with_source(error)
        } else {
            error
        }
    }
}

/// Returns whether the error means that nothing was changed, in contrast to a failure.
fn is_refusal(error: &Error) -> bool {
    error.is_invalid() || error.is_not_found() || error.is_precondition_failed()
}

/// Returns whether the deadline is past.
fn is_past_deadline(cx: &Context) -> bool {
    cx.deadline
        .is_some_and(|deadline| deadline <= Instant::now())
}

/// Returns the error for an outcome of a different operation.
pub(super) fn outcome_mismatch() -> Error {
    Error::unexpected("an operation returned the outcome of a different operation than requested")
}

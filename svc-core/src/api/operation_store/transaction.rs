//! Executes a request in a transaction of the backend, and again if the database rolled it back.
//!
//! Requirements: ERR-04, ERR-34, HLP-04.

use std::{borrow::Cow, time::Instant};

use super::{OperationStore, lock_keys::lock_keys};
use crate::{
    backend::{ErasedTransactions, LockKey, TransactionEnd},
    context::Context,
    error::{Error, Result},
    store::{WriteOutcome, WriteRequest},
};

/// How often a request is executed if the database keeps rolling it back.
const TRIES: u32 = 10;

impl OperationStore {
    pub(super) async fn try_in(
        &self,
        transactions: &dyn ErasedTransactions,
        cx: &Context,
        call: WriteRequest,
    ) -> Result<WriteOutcome> {
        let keys = lock_keys(cx.tenant(), &call.operation, &*self.matching);
        let mut cx = Cow::Borrowed(cx);
        for _ in 1..TRIES {
            let done = self
                .attempt_in(transactions, &cx, &keys, call.clone())
                .await;
            match done.map_err(|error| self.errors.map(error)) {
                Err(error) if error.is_rolled_back() && !is_past_deadline(&cx) => {
                    tracing::debug!(error = %format_args!("{error:#}"), "the request is executed again");
                    // Results from before must not be used again: they may be the reason for the
                    // rollback.
                    let again = cx.into_owned();
                    let received_at = again.received_at();
                    cx = Cow::Owned(again.starting(received_at, Instant::now()));
                }
                done => return done,
            }
        }
        self.attempt_in(transactions, &cx, &keys, call).await
    }

    async fn attempt_in(
        &self,
        transactions: &dyn ErasedTransactions,
        cx: &Context,
        keys: &[LockKey],
        call: WriteRequest,
    ) -> Result<WriteOutcome> {
        let cx = transactions.begin(cx).await?;
        let locked = if keys.is_empty() {
            Ok(())
        } else {
            transactions.lock(&cx, keys).await
        };
        let done = match locked {
            Ok(()) => self.attempt(&cx, call).await,
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

    /// Executes a request, unless the vendor has stored a response for its idempotency key.
    ///
    /// Requirements: IDM-01.
    pub(super) async fn attempt(
        &self,
        cx: &Context,
        mut call: WriteRequest,
    ) -> Result<WriteOutcome> {
        let Some(responses) = &self.responses else {
            return self.operate(cx, call).await;
        };
        let Some(keep) = call.response_recorder.take() else {
            return self.operate(cx, call).await;
        };
        if let Some(answer) = responses.load(cx, keep.key()).await? {
            return Ok(WriteOutcome::Replayed(answer.into()));
        }
        let outcome = self.operate(cx, call).await?;
        responses
            .save(cx, keep.of(cx.received_at(), &outcome, std::iter::empty())?)
            .await?;
        Ok(outcome)
    }
}

/// Returns whether the error means that nothing was changed, in contrast to a failure.
fn is_refusal(error: &Error) -> bool {
    error.is_invalid() || error.is_not_found() || error.is_precondition_failed()
}

/// Returns whether the deadline is past.
fn is_past_deadline(cx: &Context) -> bool {
    cx.deadline()
        .is_some_and(|deadline| deadline <= Instant::now())
}

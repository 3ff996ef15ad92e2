//! Executes a request in a transaction of the backend, and again if the database rolled it back.
//!
//! Requirements: ERR-04, ERR-34, HLP-04.

use std::{borrow::Cow, sync::Arc, time::Instant};

use bytes::Bytes;

use super::{HelperBackend, OperationStore, lock_keys::lock_keys};
use crate::{
    backend::{ErasedTransactions, IdempotencyStore, LockKey, TransactionEnd},
    context::Context,
    error::{Error, Result},
    store::{Change, LookupCache, StoredResponse, WriteOperation, WriteOutcome, WriteRequest},
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
        let keys = lock_keys(cx.tenant(), &call, &*self.matching);
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
        let end = match &call.operation {
            WriteOperation::Merge(request) if request.is_preview => TransactionEnd::Rollback,
            _ => TransactionEnd::Commit,
        };
        let done = match locked {
            Ok(()) => self.attempt(&cx, call).await,
            Err(error) => Err(error),
        };
        match done {
            Ok(outcome) => {
                transactions.end(cx, end).await?;
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
        if let Some(stored) = responses.load(cx, keep.key()).await? {
            let stored = Bytes::from(stored);
            let has_failed = keep.failed_parts(&stored).is_some();
            return if has_failed && self.can_resume(&**responses, &call) {
                call.response_recorder = Some(keep);
                self.resume(cx, call, &**responses, stored).await
            } else {
                Ok(WriteOutcome::Replayed(stored))
            };
        }
        let outcome = self.operate(cx, call).await?;
        responses
            .save(cx, keep.of(cx.received_at(), &outcome, std::iter::empty())?)
            .await?;
        Ok(outcome)
    }

    /// Returns whether the failed parts of a repeated request can be executed again: by the rules,
    /// and together with the change of the stored response.
    fn can_resume(&self, responses: &dyn IdempotencyStore, call: &WriteRequest) -> bool {
        let WriteOperation::Helper(plan) = &call.operation else {
            return false;
        };
        let helper = self.helpers.get(&plan.helper);
        matches!(helper, Some(HelperBackend::Composed))
            && self.transactions.is_some()
            && responses.replaces()
    }

    /// Returns the stored response of a repeated request, unless parts of it failed and one of them
    /// succeeds now.
    ///
    /// Requirements: IDM-02.
    async fn resume(
        &self,
        cx: &Context,
        call: WriteRequest,
        responses: &dyn IdempotencyStore,
        stored: Bytes,
    ) -> Result<WriteOutcome> {
        let mut known = LookupCache::default();
        if let Some(recorder) = &call.response_recorder {
            let key = recorder.key();
            let stored = stored.clone();
            let stored = StoredResponse::new(Arc::clone(key), cx.received_at(), Vec::new(), stored);
            known.insert_stored_response(key, Some(stored));
        }
        let decision = Box::pin(self.run_steps(cx, call, known)).await?;
        for change in decision.changes {
            if let Change::StoreResponse(response) = change {
                responses.replace(cx, &stored, *response).await?;
            }
        }
        Ok(decision.outcome)
    }
}

/// Returns whether the error means that nothing was changed, in contrast to a failure.
fn is_refusal(error: &Error) -> bool {
    error.is_invalid() || error.is_not_found() || error.is_precondition_failed()
}

/// Returns whether the deadline is past.
pub(super) fn is_past_deadline(cx: &Context) -> bool {
    cx.deadline()
        .is_some_and(|deadline| deadline <= Instant::now())
}

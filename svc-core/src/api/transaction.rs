//! What a call writes: in one transaction of the backend's, where it has any, which is run again where others undid it
//! (ERR-04, ERR-34, HLP-04).

use std::time::Instant;

use super::lock_keys::lock_keys;
use super::{Api, Runner};
use crate::{
    context::Context,
    error::{Error, Result},
    ops::{AnyTransactions, DeleteRequest, End, LockKey},
    store::{Outcome, Work},
};

/// How often a call is run that others have undone.
const TRIES: u32 = 10;

impl Api {
    /// Does what a call asks for, all or nothing of it where there are transactions.
    pub(super) async fn perform(&self, cx: &Context, work: Work) -> Result<Outcome> {
        match self.inner.settings.transactions.as_deref() {
            // Futures that would make that of every request as large as theirs.
            Some(transactions) => Box::pin(self.try_in(transactions, cx, work)).await,
            None => Box::pin(self.operate(cx, work)).await,
        }
    }

    async fn try_in(&self, transactions: &dyn AnyTransactions, cx: &Context, work: Work) -> Result<Outcome> {
        let keys = lock_keys(&cx.tenant, &work, self.inner.settings.matching.as_ref());
        for _ in 1..TRIES {
            let done = self.once_in(transactions, cx, &keys, work.clone()).await;
            match done.map_err(|error| self.classified(error)) {
                Err(error) if error.is_rolled_back() && !is_late(cx) => {
                    tracing::debug!(error = %format_args!("{error:#}"), "the call runs again");
                }
                done => return done,
            }
        }
        self.once_in(transactions, cx, &keys, work).await
    }

    async fn once_in(
        &self,
        transactions: &dyn AnyTransactions,
        cx: &Context,
        keys: &[LockKey],
        work: Work,
    ) -> Result<Outcome> {
        let cx = transactions.begin(cx).await?;
        let locked = if keys.is_empty() { Ok(()) } else { transactions.lock(&cx, keys).await };
        let done = match locked {
            Ok(()) => self.operate(&cx, work).await,
            Err(error) => Err(error),
        };
        match done {
            Ok(outcome) => {
                transactions.end(cx, End::Commit).await?;
                Ok(outcome)
            }
            // A refusal says that nothing is stored; after other trouble that trouble is what matters.
            Err(error) => match (transactions.end(cx, End::Rollback).await, error) {
                (Err(left), error) if error.is_invalid() || error.is_not_found() => Err(left),
                (_, error) => Err(error),
            },
        }
    }

    /// Asks the registered operation.
    async fn operate(&self, cx: &Context, work: Work) -> Result<Outcome> {
        match work {
            Work::Create(draft) => {
                let Some(create) = &self.registered(draft.kind).create else { return Err(Error::not_implemented()) };
                let created = create.create(cx, draft).await?;
                Ok(Outcome::Created { record: created.record, is_new: created.is_new })
            }
            Work::Update(at, patch) => {
                let Some(update) = &self.registered(at.kind).update else { return Err(Error::not_implemented()) };
                update.update(cx, at, patch).await.map(Outcome::Updated)
            }
            Work::Delete(at) => {
                let Some(delete) = &self.registered(at.kind).delete else { return Err(Error::not_implemented()) };
                delete.delete(cx, &DeleteRequest::new(at)).await.map(Outcome::Deleted)
            }
            Work::Help(plan) => match self.inner.helpers.get(&plan.helper) {
                Some(Runner::Native(runner)) => runner.run(cx, *plan).await.map(Outcome::Helped),
                // Its many steps would make the future of every request as large as theirs.
                Some(Runner::Composed) => Box::pin(self.composed().run(cx, &plan)).await.map(Outcome::Helped),
                None => Err(Error::not_implemented()),
            },
            Work::Load(_) => Err(Error::not_implemented()),
        }
    }
}

/// Whether nobody waits for the answer any more.
fn is_late(cx: &Context) -> bool {
    cx.deadline.is_some_and(|deadline| deadline <= Instant::now())
}

/// What is wrong where a call came to what it was not asked for.
pub(super) fn unfitting() -> Error {
    Error::unexpected("an operation answered another call than the one that it was given")
}

//! The contract of concurrency: concurrent requests have the same result as in some sequential
//! order.

use std::{future::poll_fn, pin::Pin, task::Poll};

use svc_core::{
    error::Result,
    store::{Store, WriteOutcome, WriteRequest},
};

use super::{ContractViolation, History, coverage::label};
use crate::memory::MemoryStore;

/// Every order of three requests, starting with the order in which they were sent.
const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// Sends three concurrent requests of one tenant.
pub(super) async fn step<S: Store>(
    tested: &mut History<S>,
    model: &mut History<MemoryStore>,
) -> Result<(), ContractViolation> {
    tested.choose();
    model.choose();
    let (calls, expected) = (three(tested), three(model));
    let contexts = calls.each_ref().map(|call| tested.cx_of(call));
    let outcomes = poll_all(
        calls
            .iter()
            .zip(&contexts)
            .map(|(call, cx)| tested.store.write(cx, call.clone()))
            .collect(),
    )
    .await;
    for (call, outcome) in calls.iter().zip(&outcomes) {
        tested.coverage.count(&call.operation, outcome);
    }
    let mut told: Vec<String> = outcomes
        .iter()
        .zip(&calls)
        .map(|(outcome, call)| format!("{}{}", label(call), tested.describe_outcome(outcome)))
        .collect();
    told.push(tested.everything().await);
    let told = told.join("\n");
    let mut first = None;
    for order in ORDERS {
        let mut other = History {
            store: model.store.fork(),
            ..model.clone()
        };
        let mut outcomes: [Option<Result<WriteOutcome>>; 3] = [None, None, None];
        for place in order {
            if let (Some(call), Some(outcome)) = (expected.get(place), outcomes.get_mut(place)) {
                *outcome = Some(other.store.write(&other.cx_of(call), call.clone()).await);
            }
        }
        let mut this: Vec<String> = outcomes
            .iter()
            .flatten()
            .zip(&expected)
            .map(|(outcome, call)| format!("{}{}", label(call), other.describe_outcome(outcome)))
            .collect();
        this.push(other.everything().await);
        let Some(difference) = tested.exclusions.difference(&told, &this.join("\n")) else {
            *model = other;
            return Ok(());
        };
        first.get_or_insert(difference);
    }
    let works: Vec<_> = calls.iter().map(|call| &call.operation).collect();
    let text = format!("{works:?}{}, or another order", first.unwrap_or_default());
    Err(tested.broken("together", text))
}

fn three<S: Store>(history: &mut History<S>) -> [WriteRequest; 3] {
    [history.call(), history.call(), history.call()]
}

/// Polls all futures until each is complete.
pub(super) async fn poll_all<T>(
    mut futures: Vec<Pin<Box<dyn Future<Output = T> + Send + '_>>>,
) -> Vec<T> {
    let mut answers: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (future, answer) in futures.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(cx)
            {
                *answer = Some(ready);
            }
        }
        if answers.iter().all(Option::is_some) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    answers.into_iter().flatten().collect()
}

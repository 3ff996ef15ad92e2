//! Turns of a tenant's writes: those that wait have theirs together, in one transaction of two round trips.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use svc_core::{
    Error,
    rules::{Decision, decide, first_questions},
    store::{Answer, Call, Fetched, Ids, Outcome, Overlay, Pause, Question, Turn},
    value::Timestamp,
};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::{
    apply::{Apply, queries},
    error::{Result, StoreError},
    fetch::{Query, fetch, run, values},
    pool::Lent,
    store::Inner,
};

/// A call that waits for its turn, and who is told what it came to.
struct Waiting {
    call: Call,
    deadline: Option<Instant>,
    tell: oneshot::Sender<Result<Outcome>>,
}

/// The calls that wait, by tenant. A tenant that is in the map has somebody at work for it.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<i64, Vec<Waiting>>>);

/// How often a batch is tried again that passed by.
const TRIES: usize = 5;

impl Turns {
    /// Gives a call its turn.
    pub(crate) async fn write(
        inner: &Arc<Inner>,
        tenant: i64,
        call: Call,
        deadline: Option<Instant>,
    ) -> Result<Outcome> {
        let (tell, told) = oneshot::channel();
        let is_first = {
            let mut waiting = inner.turns.0.lock().unwrap_or_else(PoisonError::into_inner);
            let is_first = !waiting.contains_key(&tenant);
            waiting.entry(tenant).or_default().push(Waiting { call, deadline, tell });
            is_first
        };
        if is_first {
            // On its own: whoever waits for the answer may go away, and what was begun is finished.
            let inner = Arc::clone(inner);
            tokio::spawn(async move { inner.work(tenant).await });
        }
        told.await.unwrap_or_else(|_| Err(StoreError::unexpected("a batch ended without an answer")))
    }

    fn next(&self, tenant: i64, most: usize) -> Vec<Waiting> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get_mut(&tenant) {
            Some(waiting) if !waiting.is_empty() => {
                let rest = waiting.split_off(waiting.len().min(most));
                std::mem::replace(waiting, rest)
            }
            _ => {
                all.remove(&tenant);
                Vec::new()
            }
        }
    }
}

impl Inner {
    /// Works for a tenant until nobody waits any more.
    async fn work(&self, tenant: i64) {
        loop {
            let batch = self.turns.next(tenant, self.options.batch);
            if batch.is_empty() {
                return;
            }
            let now = Instant::now();
            let (late, batch): (Vec<_>, Vec<_>) =
                batch.into_iter().partition(|it| it.deadline.is_some_and(|deadline| deadline <= now));
            for one in late {
                _ = one.tell.send(Err(StoreError::Busy));
            }
            if batch.is_empty() {
                continue;
            }
            let calls: Vec<&Call> = batch.iter().map(|it| &it.call).collect();
            let done = self.tried(tenant, &calls).await;
            match done {
                Ok(outcomes) => {
                    for (one, outcome) in batch.into_iter().zip(outcomes) {
                        _ = one.tell.send(outcome);
                    }
                }
                Err(error) => {
                    let error = Error::from(error);
                    let text = format!("{error:#}");
                    let is_passing = error.is_unavailable();
                    for one in batch {
                        let error = if is_passing { StoreError::Busy } else { StoreError::unexpected(text.clone()) };
                        _ = one.tell.send(Err(error));
                    }
                }
            }
        }
    }

    async fn tried(&self, tenant: i64, calls: &[&Call]) -> Result<Vec<Result<Outcome>>> {
        let mut tries: usize = 0;
        loop {
            let mut lent = self.pool.get().await?;
            match self.batch(&mut lent, tenant, calls).await {
                Ok(outcomes) => {
                    self.pool.done(lent);
                    return Ok(outcomes);
                }
                Err(error) => {
                    if !lent.client().is_closed() && lent.client().batch_execute("ROLLBACK").await.is_ok() {
                        self.pool.done(lent);
                    }
                    tries = tries.saturating_add(1);
                    if tries >= TRIES || !error.passes() {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// One transaction: the lock and what the calls ask first, then what they change with the commit.
    async fn batch(&self, lent: &mut Lent, tenant: i64, calls: &[&Call]) -> Result<Vec<Result<Outcome>>> {
        let texts = &self.statements;
        let matching = &*self.options.matching;
        lent.prepare(&[&texts.lock, &texts.guard]).await?;
        lent.client()
            .batch_execute("BEGIN; SET LOCAL lock_timeout = '2s'; SET LOCAL idle_in_transaction_session_timeout = '5s'")
            .await?;
        let locked = run(lent, &[Query::new(&texts.lock, values![tenant])]).await?;
        let ledger = locked.first().and_then(|rows| rows.first());
        let ledger = ledger.ok_or_else(|| StoreError::unexpected("a tenant without a ledger"))?;
        let (mut seq, clock): (i64, i64) = (ledger.try_get(0)?, ledger.try_get(1)?);
        let mut last = Timestamp::from_micros(clock);
        let mut apply = Apply::new(texts, &self.options.schema, tenant, seq);
        let mut overlay = Overlay::default();
        let mut fetched = Fetched::default();
        let mut wanted: Vec<Question> = Vec::new();
        for call in calls {
            for question in first_questions(call, matching) {
                if !wanted.contains(&question) {
                    wanted.push(question);
                }
            }
        }
        take(&mut fetched, fetch(lent, texts, tenant, wanted).await?);
        let (mut outcomes, mut changed) = (Vec::with_capacity(calls.len()), false);
        for call in calls {
            let ids = Ids::default();
            let time = (self.options.now)().after(last);
            let decided = loop {
                let turn = Turn::new(time, &ids, &self.options.share_names, matching);
                match decide(call, &turn, &mut fetched, &overlay) {
                    Ok(decision) => break Ok(decision),
                    Err(Pause::Missing(more)) => take(&mut fetched, fetch(lent, texts, tenant, more).await?),
                    Err(Pause::Unsettled) => {
                        seq = self.flush(lent, &mut apply, tenant, seq, last, false).await?;
                        (overlay, fetched) = (Overlay::default(), Fetched::default());
                        take(&mut fetched, fetch(lent, texts, tenant, first_questions(call, matching)).await?);
                    }
                    Err(Pause::Failed(error)) => break Err(error),
                    Err(other) => return Err(StoreError::unexpected(other.to_string())),
                }
            };
            match decided {
                Ok(Decision { changes, outcome, .. }) => {
                    if !changes.is_empty() {
                        for change in &changes {
                            apply.change(change)?;
                        }
                        overlay.settle(&changes);
                        (changed, last) = (true, time);
                    }
                    outcomes.push(Ok(outcome));
                }
                Err(error) => outcomes.push(Err(StoreError::Refused(error))),
            }
        }
        if changed {
            self.flush(lent, &mut apply, tenant, seq, last, true).await?;
        } else {
            lent.client().batch_execute("ROLLBACK").await?;
        }
        Ok(outcomes)
    }

    /// Writes what has been decided, in one round trip; the guard first, which fails where somebody else has written since.
    async fn flush(
        &self,
        lent: &mut Lent,
        apply: &mut Apply<'_>,
        tenant: i64,
        seq: i64,
        clock: Timestamp,
        commits: bool,
    ) -> Result<i64> {
        let mut steps = apply.take()?;
        let now = apply.seq.max(seq.saturating_add(1));
        apply.seq = now;
        let mut all =
            vec![Query::new(&self.statements.guard, values![tenant, now, clock.micros(), Uuid::now_v7(), seq])];
        all.extend(queries(&mut steps));
        if commits {
            all.push(Query::new("COMMIT", Vec::new()));
        }
        run(lent, &all).await?;
        Ok(now)
    }
}

fn take(fetched: &mut Fetched, answers: Vec<(Question, Answer)>) {
    for (question, answer) in answers {
        fetched.insert(question, answer);
    }
}

//! The contract of the rules: they are repeatable and preserve the order of requests.

use svc_core::{
    context::Tenant,
    error::Result,
    helper::DefaultMatching,
    link::ShareNames,
    rules::{Decision, decide, initial_lookups},
    store::{
        Change, IdSequence, Lookup, LookupCache, PendingChanges, RuleError, TransactionContext,
        WriteOutcome, WriteRequest,
    },
    value::Timestamp,
};

use super::{ContractViolation, History};
use crate::memory::MemoryStore;

/// Checks that the rules are repeatable and preserve the order of requests, with histories like
/// those of [`StoreTests`](super::StoreTests).
///
/// Repeatable: a request that is decided again with the same lookup results, or with more than it
/// needs, has the same changes and outcome. Order: requests that are decided with one
/// [`PendingChanges`] and written together have the same result as one after another.
///
/// # Errors
///
/// Returns the first violation.
pub async fn check_rulebook(histories: u64) -> Result<(), ContractViolation> {
    for seed in 0..histories {
        let tenants = || ["one", "two"].map(Tenant::new);
        let mut apart = History::new(seed, MemoryStore::new(), tenants(), true);
        let mut together = History::new(seed, MemoryStore::new(), tenants(), true);
        while apart.steps < 30 {
            apart.choose();
            together.choose();
            let number = apart.dice.below(5).saturating_add(1);
            together.dice.below(5);
            let meant_calls: Vec<WriteRequest> = (0..number).map(|_| apart.call()).collect();
            let calls: Vec<WriteRequest> = (0..number).map(|_| together.call()).collect();
            let outcomes = DecisionBatch::of(&together).run(&calls)?;
            for (place, (call, outcome)) in meant_calls.into_iter().zip(outcomes).enumerate() {
                let work = format!("{:?}", call.operation);
                let meant = super::Store::write(&apart.store, &apart.cx(), call).await;
                let (told, meant) = (
                    together.describe_outcome(&outcome),
                    apart.describe_outcome(&meant),
                );
                let what = format!("{} of {number}: {work}", place.saturating_add(1));
                together.agree("order", &told, &meant, &what)?;
            }
            let (told, meant) = (together.everything().await, apart.everything().await);
            let works: Vec<_> = calls.iter().map(|call| &call.operation).collect();
            together.agree("order", &told, &meant, &format!("{works:?}"))?;
        }
    }
    Ok(())
}

/// Requests that are decided with the same pending changes.
struct DecisionBatch<'a> {
    history: &'a History<MemoryStore>,
    time: Timestamp,
    overlay: PendingChanges,
    changes: Vec<Change>,
}

impl<'a> DecisionBatch<'a> {
    fn of(history: &'a History<MemoryStore>) -> Self {
        let time = history.store.next_timestamp(&history.here.tenant);
        Self {
            history,
            time,
            overlay: PendingChanges::default(),
            changes: Vec::new(),
        }
    }

    fn run(
        mut self,
        calls: &[WriteRequest],
    ) -> Result<Vec<Result<WriteOutcome>>, ContractViolation> {
        let mut outcomes = Vec::new();
        for call in calls {
            outcomes.push(self.decide(call)?);
        }
        self.write()?;
        Ok(outcomes)
    }

    fn write(&mut self) -> Result<(), ContractViolation> {
        let written =
            self.history
                .store
                .commit(&self.history.here.tenant, self.time, &self.changes);
        written.map_err(|error| {
            self.history
                .broken("order", format!("the changes cannot be written: {error:?}"))
        })?;
        self.changes.clear();
        self.overlay = PendingChanges::default();
        self.time = self
            .history
            .store
            .next_timestamp(&self.history.here.tenant)
            .at_least_after(self.time);
        Ok(())
    }

    fn decide(&mut self, call: &WriteRequest) -> Result<Result<WriteOutcome>, ContractViolation> {
        let (ids, share_names) = (IdSequence::default(), ShareNames::default());
        let mut fetched = LookupCache::default();
        let mut wanted = initial_lookups(call, &DefaultMatching);
        // A helper needs one round and rarely two, so this is more than enough.
        for _ in 0..100 {
            let turn = TransactionContext::new(self.time, &ids, &share_names, &DefaultMatching);
            self.fetch(&mut fetched, &wanted);
            let decided = decide(call, &turn, &mut fetched, &self.overlay);
            match decided {
                Err(RuleError::MissingLookups(more)) => wanted = more,
                Err(RuleError::UnflushedChanges) => {
                    self.write()?;
                    fetched = LookupCache::default();
                    wanted = initial_lookups(call, &DefaultMatching);
                }
                decided => {
                    let again = decide(call, &turn, &mut fetched, &self.overlay);
                    let tenant = &self.history.here.tenant;
                    let from_all = self
                        .history
                        .store
                        .with_lookups(tenant, |all| decide(call, &turn, all, &self.overlay));
                    for (law, other) in [
                        ("repeatable", again),
                        ("repeatable, with more lookup results", from_all),
                    ] {
                        self.history.agree(
                            law,
                            &text(&other),
                            &text(&decided),
                            &format!("{:?}", call.operation),
                        )?;
                    }
                    self.time = self.time.at_least_after(self.time);
                    return Ok(match decided {
                        Ok(Decision {
                            changes, outcome, ..
                        }) => {
                            self.overlay.absorb(&changes);
                            self.changes.extend(changes);
                            Ok(outcome)
                        }
                        Err(RuleError::Failed(error)) => Err(error),
                        Err(other) => {
                            return Err(self.history.broken("repeatable", other.to_string()));
                        }
                    });
                }
            }
        }
        Err(self.history.broken(
            "rounds",
            format!(
                "no decision after 100 rounds: {wanted:?}, {:?}",
                call.operation
            ),
        ))
    }

    fn fetch(&self, fetched: &mut LookupCache, wanted: &[Lookup]) {
        let tenant = &self.history.here.tenant;
        self.history.store.fetch_into(tenant, wanted, fetched);
    }
}

/// Returns the changes and the outcome as text, with all content.
fn text(decided: &Result<Decision, RuleError>) -> String {
    let changes = decided.iter().flat_map(|decision| &decision.changes);
    let fields = changes.filter_map(|change| match change {
        // The debug output of records omits their fields, because they are personal data.
        Change::Insert(insert) => {
            Some(String::from_utf8_lossy(insert.record.wire_fields()).into_owned())
        }
        _ => None,
    });
    format!("{decided:?} {:?}", fields.collect::<Vec<_>>())
}

//! Executes a request in the steps of a backend of single operations: create after create, change
//! after change.
//!
//! Requirements: HLP-10, ERR-29 to ERR-33.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;

use super::{OperationStore, join_all::join_all};
use crate::{
    backend::SavepointAction,
    context::Context,
    draft::{RawDraft, RawPatch},
    error::{Error, ErrorCode, Problem, Result},
    helper::FunctionName,
    link::{RecordAddress, Scope, ShareNames},
    model::Kind,
    names::Operation,
    page::{ListRequest, PageRequest},
    record::RawRecord,
    rules::{Decision, RuleRunner, decide, initial_lookups_of_steps, run_rules},
    store::{
        Change, HeldTickets, IdSequence, Lookup, LookupCache, LookupKey, LookupSource, MergeRecord,
        PendingChanges, RecordLocation, RuleError, Step, StepLog, StepResult, Store, StoredRecord,
        StoredResponse, Totals, TransactionContext, WriteRequest,
    },
    value::Id,
};

/// The maximum number of concurrent lookups, because a body can name very many records.
const AT_ONCE: usize = 16;
/// The number of answers of a person on a page.
const ANSWERS_PAGE_SIZE: u32 = 25;
/// The maximum number of answers of a person that are read.
const MAX_ANSWERS: usize = 1_000;
/// How often a record is read again after a concurrent change.
const CONFLICTS: usize = 8;

impl OperationStore {
    /// Executes a request by the rules. Creates and changes are operations of the backend.
    ///
    /// If the request is already rejected, only reads are executed. `known` contains the lookup
    /// results so far.
    pub(super) async fn run_steps(
        &self,
        cx: &Context,
        mut call: WriteRequest,
        known: LookupCache,
    ) -> Result<Decision> {
        // The operations link the caller themselves.
        call.caller = None;
        let first = initial_lookups_of_steps(&call, &*self.matching);
        let kinds = |has: &dyn Fn(Kind) -> bool| {
            Kind::ALL
                .iter()
                .copied()
                .filter(|kind| has(*kind))
                .collect()
        };
        let mut runner = StepRunner {
            store: self,
            cx,
            call: &call,
            ids: IdSequence::default(),
            names: ShareNames::default(),
            fetched: known,
            log: StepLog {
                is_atomic: self.transactions.is_some(),
                findable: kinds(&|kind| self.backend(kind).finds()),
                updatable: kinds(&|kind| self.backend(kind).has(kind, Operation::Update)),
                results: Vec::new(),
            },
            conflicts: 0,
            looked_again: None,
        };
        runner.fetch(first).await?;
        let decision = run_rules(&mut runner).await??;
        let is_stored = |change: &Change| matches!(change, Change::StoreResponse(_));
        if decision.changes.iter().all(is_stored) {
            Ok(decision)
        } else {
            // No operation applies other changes, such as those of the outbox.
            Err(Error::not_implemented())
        }
    }
}

/// A request that is executed in steps. Other requests can change the data concurrently.
struct StepRunner<'a> {
    store: &'a OperationStore,
    cx: &'a Context,
    call: &'a WriteRequest,
    ids: IdSequence,
    /// The names in records that operations return.
    names: ShareNames,
    fetched: LookupCache,
    log: StepLog,
    /// How often a record was changed concurrently between its lookup and its change.
    conflicts: usize,
    /// The last step that was preceded by a second lookup of identifiers. There is at most one for
    /// each step.
    looked_again: Option<usize>,
}

#[async_trait]
impl RuleRunner for StepRunner<'_> {
    type Error = Error;

    fn decide(&mut self) -> RuleResult<Decision> {
        let turn = TransactionContext::new(
            self.cx.received_at(),
            &self.ids,
            &self.names,
            &*self.store.matching,
        )
        .in_steps(&self.log);
        let mut answers = OperationLookups {
            store: self.store,
            fetched: &mut self.fetched,
        };
        decide(self.call, &turn, &mut answers, &PendingChanges::default())
    }

    async fn fetch(&mut self, missing: Vec<Lookup>) -> Result<()> {
        let (mut keys, mut known) = (Vec::new(), HashSet::new());
        for lookup in missing {
            match lookup {
                Lookup::Find(key) | Lookup::Record(key)
                    if self.store.looks_up(&key)
                        && self.fetched.record(&key).is_err()
                        && known.insert(key.clone()) =>
                {
                    keys.push(key);
                }
                Lookup::Answers { ref people, .. } => {
                    let mut answers = Vec::new();
                    for person in people {
                        answers.extend(self.answers_of(person).await?);
                    }
                    self.fetched.insert_related(lookup, answers);
                }
                Lookup::ForwardedPerson(id) => {
                    let to = self.store.remaining_person(self.cx, &id).await?;
                    self.fetched.insert_forwarded_person(&id, to);
                }
                _ => {}
            }
        }
        for some in keys.chunks(AT_ONCE) {
            self.check_deadline()?;
            let found = join_all(
                some.iter()
                    .map(|key| self.store.find(self.cx, key))
                    .collect(),
            );
            for (key, found) in some.iter().zip(found.await) {
                self.fetched
                    .insert_record(key, found?.map(StoredRecord::by_age));
            }
        }
        Ok(())
    }

    async fn execute(&mut self, step: Step) -> Result<()> {
        self.check_deadline()?;
        match step {
            Step::Create(draft) => {
                // Within a transaction, its identifiers are locked.
                let (kind, may_come) = (
                    draft.kind,
                    self.store.transactions.is_none() && self.was_absent(&draft),
                );
                let done = self.store.create_in_savepoint(self.cx, *draft).await?;
                if !(may_come && self.was_created_concurrently(kind, &done)) {
                    self.log.results.push(done);
                }
            }
            Step::Update(at, patch) => {
                match self.store.update_in_step(self.cx, at.clone(), *patch).await {
                    Err(error) if error.is_conflict() => self.forget(&at)?,
                    done => self.log.results.push(problems_of(done)?),
                }
            }
        }
        Ok(())
    }
}

impl StepRunner<'_> {
    fn check_deadline(&self) -> Result<()> {
        if self
            .cx
            .deadline()
            .is_some_and(|deadline| deadline <= Instant::now())
        {
            return Err(Error::unavailable(Duration::from_secs(1)));
        }
        Ok(())
    }

    /// Returns the answers of a person. They are read only for a repeated request, which does not
    /// record its answers again.
    ///
    /// Requirements: UND-24.
    async fn answers_of(&self, person: &LookupKey) -> Result<Vec<StoredRecord>> {
        let mut answers = Vec::new();
        let LookupKey::Id(kind, id) = person else {
            return Ok(answers);
        };
        let person = RecordAddress::without_parent(*kind, id.clone());
        let first = PageRequest::new(1, ANSWERS_PAGE_SIZE);
        let mut request = ListRequest::new(Scope::Under(person), first);
        while answers.len() < MAX_ANSWERS {
            self.check_deadline()?;
            let page = self.store.list(self.cx, Kind::Answer, &request).await?;
            let next = page.next_request(&request.page);
            answers.extend(page.records.into_iter().map(StoredRecord::by_age));
            match next {
                Some(next) => request.page = next,
                None => break,
            }
        }
        Ok(answers)
    }

    /// Returns whether the lookup of one of the draft's identifiers found no record.
    fn was_absent(&self, draft: &RawDraft) -> bool {
        draft.identifiers.iter().any(|identifier| {
            let key = LookupKey::Identifier(draft.kind, identifier.clone());
            self.fetched.is_absent(&key)
        })
    }

    /// Returns whether the create of an [absent](Self::was_absent) record was rejected because a
    /// concurrent request has stored one of its identifiers.
    ///
    /// This can happen without locks. The record is then looked up again, and the rules continue
    /// with it.
    fn was_created_concurrently(&mut self, kind: Kind, done: &StepResult) -> bool {
        let is_taken = |problem: &Problem| problem.code == ErrorCode::IdentifierInUse;
        let is_first = self.looked_again != Some(self.log.results.len());
        let came = is_first
            && done
                .as_ref()
                .is_err_and(|problems| problems.iter().any(is_taken));
        if came {
            self.looked_again = Some(self.log.results.len());
            // Only for its kind: the lookups for earlier steps stay, so that these steps are not
            // executed again. For people, an e-mail address may also exist now.
            self.fetched.forget_absent(kind);
        }
        came
    }

    /// Forgets a record after a concurrent change. It is read again, and the rules run with its new
    /// state.
    fn forget(&mut self, at: &RecordAddress) -> Result<()> {
        self.conflicts = self.conflicts.saturating_add(1);
        let is_it = |record: &RawRecord| record.kind() == at.kind && record.meta().id == at.id;
        // A change by a step of this request cannot be repeated.
        let is_changed = self
            .log
            .results
            .iter()
            .flatten()
            .any(|(record, _)| is_it(record));
        if self.conflicts > CONFLICTS || is_changed {
            return Err(Error::unavailable(Duration::from_secs(1))
                .with_source("other requests keep changing the same record"));
        }
        self.fetched.forget(at.kind, &at.id);
        Ok(())
    }
}

/// The lookups of the rules over the operations of a backend.
///
/// The operations themselves check memberships and totals, so there are none here.
struct OperationLookups<'a> {
    store: &'a OperationStore,
    fetched: &'a mut LookupCache,
}

impl OperationLookups<'_> {
    fn reads(&self, kind: Kind) -> bool {
        self.store.backend(kind).has(kind, Operation::Read)
    }
}

type RuleResult<T> = std::result::Result<T, RuleError>;

impl LookupSource for OperationLookups<'_> {
    /// A named record whose kind cannot be read counts as existing.
    fn find(&mut self, key: &LookupKey) -> RuleResult<Option<RecordLocation>> {
        match (self.fetched.find(key), key) {
            (Err(RuleError::MissingLookups(_)), LookupKey::Id(kind, id)) if !self.reads(*kind) => {
                Ok(Some(RecordLocation::new(*kind, id.clone(), 0, None)))
            }
            (found, _) => found,
        }
    }

    fn record(&mut self, key: &LookupKey) -> RuleResult<Option<StoredRecord>> {
        match (self.fetched.record(key), key) {
            // Only a record that was found by another key is known.
            (Err(RuleError::MissingLookups(_)), LookupKey::Id(kind, _)) if !self.reads(*kind) => {
                Ok(None)
            }
            (stored, _) => stored,
        }
    }

    fn members(
        &mut self,
        _: Kind,
        _: &[LookupKey],
        _: &[LookupKey],
    ) -> RuleResult<Vec<StoredRecord>> {
        Ok(Vec::new())
    }

    fn answers(
        &mut self,
        people: &[LookupKey],
        questions: &[LookupKey],
    ) -> RuleResult<Vec<StoredRecord>> {
        if self.store.lists_answers {
            self.fetched.answers(people, questions)
        } else {
            Ok(Vec::new())
        }
    }

    fn count(&mut self, _: Kind, _: &LookupKey) -> RuleResult<u64> {
        Ok(0)
    }

    fn totals(&mut self, _: &LookupKey) -> RuleResult<Totals> {
        Ok(Totals::default())
    }

    fn part_totals(&mut self, _: &LookupKey) -> RuleResult<Vec<(String, Totals)>> {
        Ok(Vec::new())
    }

    fn held_tickets(&mut self, _: &Id) -> RuleResult<Vec<HeldTickets>> {
        Ok(Vec::new())
    }

    fn linked(
        &mut self,
        _: Kind,
        _: &'static str,
        _: &Id,
        _: u32,
    ) -> RuleResult<Vec<StoredRecord>> {
        Ok(Vec::new())
    }

    fn linked_count(&mut self, _: &Id, _: u32) -> RuleResult<u64> {
        Ok(0)
    }

    /// Only the undo of a merge needs these people.
    fn forwarded_to(&mut self, _: &Id) -> RuleResult<Vec<Id>> {
        Ok(Vec::new())
    }

    fn stored_merge(&mut self, _: &Id, _: &Id) -> RuleResult<Option<MergeRecord>> {
        Ok(None)
    }

    fn forwarded_person(&mut self, id: &Id) -> RuleResult<Option<Id>> {
        if self.store.finds_merged_people() {
            self.fetched.forwarded_person(id)
        } else {
            Ok(None)
        }
    }

    /// An operation finds only one person with an address.
    fn email_holders(&mut self, address: &str) -> RuleResult<Vec<RecordLocation>> {
        let found = self.fetched.find(&LookupKey::Email(address.to_owned()))?;
        Ok(found.into_iter().collect())
    }

    fn stored_response(&mut self, key: &Arc<str>) -> RuleResult<Option<StoredResponse>> {
        // A response that was not loaded before the steps does not exist.
        self.fetched.stored_response(key).or(Ok(None))
    }
}

/// Returns the lookup results of a record that was read; empty if there is none.
pub(super) fn known_record(record: Option<RawRecord>) -> LookupCache {
    let mut known = LookupCache::default();
    if let Some(record) = record {
        let key = LookupKey::Id(record.kind(), record.meta().id.clone());
        known.insert_record(&key, Some(StoredRecord::by_age(record)));
    }
    known
}

impl OperationStore {
    /// Returns whether the backend can look up a key.
    fn looks_up(&self, key: &LookupKey) -> bool {
        match key {
            LookupKey::Id(kind, _) => self.backend(*kind).has(*kind, Operation::Read),
            _ => true,
        }
    }

    /// Creates a record so that a rejected create has no effect, because the rules may
    /// continue without it.
    ///
    /// Requirements: ERR-29.
    async fn create_in_savepoint(&self, cx: &Context, draft: RawDraft) -> Result<StepResult> {
        let transactions = self.transactions.as_ref();
        let Some(transactions) = transactions.filter(|_| is_independent(draft.kind)) else {
            return problems_of(self.create_in_step(cx, draft).await);
        };
        transactions.savepoint(cx, SavepointAction::Set).await?;
        let done = problems_of(self.create_in_step(cx, draft).await)?;
        let end = if done.is_ok() {
            SavepointAction::Release
        } else {
            SavepointAction::Rollback
        };
        transactions.savepoint(cx, end).await?;
        Ok(done)
    }

    async fn create_in_step(&self, cx: &Context, draft: RawDraft) -> Result<(RawRecord, bool)> {
        let created = self.create(cx, draft).await;
        created.map_err(|error| self.errors.map(error))
    }

    async fn update_in_step(
        &self,
        cx: &Context,
        at: RecordAddress,
        patch: RawPatch,
    ) -> Result<(RawRecord, bool)> {
        let updated = self.update(cx, at, patch).await;
        let record = updated
            .map_err(|error| self.errors.map(error))?
            .ok_or_else(Error::conflict)?;
        Ok((record, false))
    }
}

/// Returns whether action functions create records of this kind. Such a create can fail alone.
fn is_independent(kind: Kind) -> bool {
    FunctionName::all().any(|function| function.reported_kind() == kind)
}

/// Passes problems of an operation to the rules. Other errors end the request.
fn problems_of(done: Result<(RawRecord, bool)>) -> Result<StepResult> {
    match done {
        Ok(step) => Ok(Ok(step)),
        Err(error) => error.into_problems().map(Err),
    }
}

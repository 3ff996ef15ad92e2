//! Helpers that are composed of registered operations. They follow the same rules as those of a
//! store.
//!
//! Requirements: HLP-10, ERR-29 to ERR-33.

mod join_all;
mod operation_cache;

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;

use self::{join_all::join_all, operation_cache::OperationCache};
use super::{KindRegistration, classify::ErrorMapper};
use crate::{
    backend::{ErasedTransactions, FindKey, OutboxPayload, SavepointAction},
    context::Context,
    draft::{RawDraft, RawPatch},
    error::{Error, Problem, Result},
    helper::{
        FunctionName, HelperName, MatchKey, PersonMatching, RawHelperOutcome, RawHelperRequest,
        ScheduleChange,
    },
    json::{Object, merge_patch},
    link::{RecordAddress, ShareNames},
    model::Kind,
    record::{Meta, RawRecord},
    rules::{CreateOptions, RuleContext, RuleResult, check, exceeded_limits, first_keys, help},
    store::{LookupKey, RecordLocation, RuleError, StoredRecord},
    value::{Id, Timestamp},
};

/// Executes helper requests with the registered operations.
pub(crate) struct ComposedRunner<'a> {
    pub(crate) registered: &'a [KindRegistration],
    pub(crate) matching: &'a dyn PersonMatching,
    /// The transactions of the backend, if it has any.
    pub(crate) transactions: Option<&'a dyn ErasedTransactions>,
    pub(crate) classify: &'a ErrorMapper,
}

impl ComposedRunner<'_> {
    /// Returns the operations that a helper needs and that are not registered.
    pub(crate) fn missing(
        helper: HelperName,
        kinds: &BTreeMap<Kind, KindRegistration>,
    ) -> Vec<String> {
        let mut missing = Vec::new();
        let mut need = |kind: Kind, operation: &str, has: fn(&KindRegistration) -> bool| {
            if !kinds.get(&kind).is_some_and(has) {
                missing.push(format!("{}.{operation}", kind.plural()));
            }
        };
        if helper == HelperName::Schedule {
            return vec!["a store that executes it".to_owned()];
        }
        if let Some(container) = helper.container_kind() {
            need(container, "get", |registered| registered.get.is_some());
            need(helper.recorded_kind(), "create", |registered| {
                registered.create.is_some()
            });
        }
        if helper.accepts_person() {
            need(Kind::Person, "create", |registered| {
                registered.create.is_some()
            });
            need(Kind::Person, "update", |registered| {
                registered.update.is_some()
            });
        }
        missing
    }

    /// Returns whether an action function can be composed.
    pub(crate) fn supports(
        function: FunctionName,
        kinds: &BTreeMap<Kind, KindRegistration>,
    ) -> bool {
        let has =
            |kind: Kind, has: fn(&KindRegistration) -> bool| kinds.get(&kind).is_some_and(has);
        let creates = |registered: &KindRegistration| registered.create.is_some();
        let both =
            |named, made| has(named, |registered| registered.find.is_some()) && has(made, creates);
        match function {
            FunctionName::AddTags | FunctionName::AddTagsUri => both(Kind::Tag, Kind::Tagging),
            FunctionName::AddLists | FunctionName::AddListsUri => both(Kind::List, Kind::Item),
            FunctionName::AddQuestionsResponsesUri => both(Kind::Question, Kind::Answer),
            FunctionName::Triggers => false,
        }
    }

    /// Executes a helper request step by step.
    pub(crate) async fn run(
        &self,
        cx: &Context,
        plan: &RawHelperRequest,
    ) -> Result<RawHelperOutcome> {
        self.decide(cx, first_keys(plan, self.matching), false, |ground| {
            help(ground, plan)
        })
        .await
    }

    /// Runs the rules repeatedly, until all their lookups have results and all their steps are
    /// done.
    pub(super) async fn decide<T>(
        &self,
        cx: &Context,
        first: Vec<LookupKey>,
        is_refused: bool,
        rules: impl Fn(&mut ComposedContext<'_>) -> RuleResult<T>,
    ) -> Result<T> {
        let mut seen = OperationCache::default();
        self.find_all(cx, first, &mut seen).await?;
        loop {
            if cx
                .deadline
                .is_some_and(|deadline| deadline <= std::time::Instant::now())
            {
                return Err(Error::unavailable(Duration::from_secs(1)));
            }
            let mut ground = ComposedContext {
                composed: self,
                cx,
                seen: &seen,
                is_refused,
                steps: 0,
                changed: HashMap::new(),
                stop: None,
            };
            let outcome = rules(&mut ground);
            match (outcome, ground.stop) {
                (_, Some(NextOperation::LookUp(key))) => {
                    self.find_all(cx, vec![key], &mut seen).await?;
                }
                (_, Some(NextOperation::Create(draft))) => {
                    // Within a transaction, its identifiers are locked.
                    let (kind, may_come) = (
                        draft.kind,
                        self.transactions.is_none() && seen.was_absent(&draft),
                    );
                    let done = self.create_in_savepoint(cx, *draft).await?;
                    if !(may_come && seen.was_created_concurrently(kind, &done)) {
                        seen.steps.push(done);
                    }
                }
                (_, Some(NextOperation::Update(at, patch))) => {
                    match self.update(cx, &at, *patch).await {
                        Err(error) if error.is_conflict() => seen.forget(&at)?,
                        done => seen.steps.push(problems_of(done)?),
                    }
                }
                (Ok(outcome), None) => return Ok(outcome),
                (Err(RuleError::Failed(error)), None) => return Err(error),
                (Err(pause), None) => return Err(Error::unexpected(pause.to_string())),
            }
        }
    }

    pub(super) fn registered(&self, kind: Kind) -> Result<&KindRegistration> {
        self.registered
            .get(kind as usize)
            .ok_or_else(|| Error::unexpected("a kind has no registration"))
    }

    /// Executes lookups, several concurrently.
    async fn find_all(
        &self,
        cx: &Context,
        keys: Vec<LookupKey>,
        seen: &mut OperationCache,
    ) -> Result<()> {
        let wanted: Vec<LookupKey> = keys
            .into_iter()
            .filter(|key| !seen.records.contains_key(key))
            .collect();
        for some in wanted.chunks(AT_ONCE) {
            let found = join_all(some.iter().map(|key| self.find(cx, key)).collect()).await;
            for (key, found) in some.iter().zip(found) {
                let found = found?;
                if let Some(record) = &found {
                    seen.records.insert(own_key(record), found.clone());
                }
                seen.records.insert(key.clone(), found);
            }
        }
        Ok(())
    }

    async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>> {
        let Some(kind) = key.kind() else {
            return Ok(None);
        };
        let registered = self.registered(kind)?;
        let by = match key {
            LookupKey::Id(_, id) => {
                let Some(get) = &registered.get else {
                    return Ok(None);
                };
                return get
                    .get(cx, &RecordAddress::without_parent(kind, id.clone()))
                    .await;
            }
            LookupKey::Name(_, name) => FindKey::Name(name.clone()),
            LookupKey::Identifier(_, identifier) => {
                FindKey::Match(MatchKey::Identifier(identifier.clone()))
            }
            LookupKey::Email(address) => FindKey::Match(MatchKey::Email(address.clone())),
            LookupKey::Link(..) => return Ok(None),
        };
        match &registered.find {
            Some(find) => find.find(cx, &by).await,
            None => Ok(None),
        }
    }

    /// Creates a record so that a rejected create has no effect, because the rules may
    /// continue without it.
    ///
    /// Requirements: ERR-29.
    async fn create_in_savepoint(&self, cx: &Context, draft: RawDraft) -> Result<StepOutcome> {
        let Some(transactions) = self.transactions.filter(|_| is_independent(draft.kind)) else {
            return problems_of(self.create(cx, draft).await);
        };
        transactions.savepoint(cx, SavepointAction::Set).await?;
        let done = problems_of(self.create(cx, draft).await)?;
        let end = if done.is_ok() {
            SavepointAction::Release
        } else {
            SavepointAction::Rollback
        };
        transactions.savepoint(cx, end).await?;
        Ok(done)
    }

    async fn create(&self, cx: &Context, draft: RawDraft) -> Result<StepResult> {
        let Some(create) = &self.registered(draft.kind)?.create else {
            return Err(Error::not_implemented());
        };
        let created = create
            .create(cx, draft)
            .await
            .map_err(|error| self.classify.map(error))?;
        Ok((created.record, created.is_new))
    }

    async fn update(
        &self,
        cx: &Context,
        at: &RecordAddress,
        patch: RawPatch,
    ) -> Result<StepResult> {
        let Some(update) = &self.registered(at.kind)?.update else {
            return Err(Error::not_implemented());
        };
        let updated = update
            .update(cx, at.clone(), patch, None)
            .await
            .map_err(|error| self.classify.map(error))?;
        let record = updated.ok_or_else(Error::conflict)?;
        Ok((record, false))
    }
}

/// A record that a step created or changed, and whether it is new.
type StepResult = (RawRecord, bool);

/// The result of a step, or its problems.
type StepOutcome = std::result::Result<StepResult, Vec<Problem>>;

/// Returns whether action functions create records of this kind. Such a create can fail alone.
fn is_independent(kind: Kind) -> bool {
    FunctionName::all().any(|function| function.reported_kind() == kind)
}

/// Passes problems of an operation to the rules. Other errors end the request.
fn problems_of(done: Result<StepResult>) -> Result<StepOutcome> {
    match done {
        Ok(step) => Ok(Ok(step)),
        Err(error) => error.into_problems().map(Err),
    }
}

/// The next operation before the rules can continue.
enum NextOperation {
    LookUp(LookupKey),
    Create(Box<RawDraft>),
    Update(RecordAddress, Box<RawPatch>),
}

/// One run of the rules over the cached results. It ends at the first lookup or step without a
/// result.
pub(super) struct ComposedContext<'a> {
    composed: &'a ComposedRunner<'a>,
    cx: &'a Context,
    seen: &'a OperationCache,
    /// Whether the request is already rejected. Then only lookups are executed.
    is_refused: bool,
    /// The number of steps that this run has passed.
    steps: usize,
    /// The records as the steps of this run changed them.
    changed: HashMap<LookupKey, RawRecord>,
    stop: Option<NextOperation>,
}

impl ComposedContext<'_> {
    fn stop<T>(&mut self, stop: NextOperation) -> RuleResult<T> {
        self.stop = Some(stop);
        Err(RuleError::MissingLookups(Vec::new()))
    }

    /// Returns the result of the next step, or ends this run.
    fn step(&mut self, stop: impl FnOnce() -> NextOperation) -> RuleResult<(StoredRecord, bool)> {
        match self.seen.steps.get(self.steps) {
            Some(Ok((record, is_new))) => {
                self.steps = self.steps.saturating_add(1);
                Ok((stored(record.clone()), *is_new))
            }
            Some(Err(problems)) => {
                self.steps = self.steps.saturating_add(1);
                Err(Error::invalid_all(problems.clone()).into())
            }
            None => self.stop(stop()),
        }
    }

    /// Returns whether records of a kind can be read by id. If not, a named record counts as
    /// existing.
    fn is_read(&self, kind: Kind) -> bool {
        self.composed
            .registered(kind)
            .is_ok_and(|registered| registered.get.is_some())
    }
}

fn own_key(record: &RawRecord) -> LookupKey {
    LookupKey::Id(record.kind(), record.meta().id.clone())
}

fn stored(record: RawRecord) -> StoredRecord {
    // Operations report no row, so the creation time decides which record is older.
    StoredRecord::new(record.meta().created.as_micros(), record)
}

impl RuleContext for ComposedContext<'_> {
    fn find_at(&mut self, address: &RecordAddress) -> RuleResult<Option<RecordLocation>> {
        // The library has checked the container before.
        let RecordAddress {
            kind, id, parent, ..
        } = address.clone();
        Ok(Some(RecordLocation::new(kind, id, 0, parent)))
    }

    fn find(&mut self, key: &LookupKey) -> RuleResult<Option<RecordLocation>> {
        match key {
            LookupKey::Id(kind, id) if !self.is_read(*kind) => {
                Ok(Some(RecordLocation::new(*kind, id.clone(), 0, None)))
            }
            key => Ok(self.record(key)?.map(|stored| stored.location())),
        }
    }

    fn record(&mut self, key: &LookupKey) -> RuleResult<Option<StoredRecord>> {
        match self.seen.records.get(key) {
            Some(record) => Ok(record.as_ref().map(|record| {
                stored(self.changed.get(&own_key(record)).unwrap_or(record).clone())
            })),
            None => self.stop(NextOperation::LookUp(key.clone())),
        }
    }

    fn find_answers(&mut self, _: &Id, _: Vec<LookupKey>) -> RuleResult<Vec<StoredRecord>> {
        Ok(Vec::new())
    }

    fn create(
        &mut self,
        draft: &RawDraft,
        new: &CreateOptions,
    ) -> RuleResult<(StoredRecord, bool)> {
        if self.is_refused {
            check(self.wrong_draft(draft, new)?)?;
            let meta = Meta::new(Id::from(0), self.cx.received_at);
            return Ok((
                stored(RawRecord::from_wire(draft.kind, meta, Bytes::new())),
                true,
            ));
        }
        self.step(|| {
            let mut draft = draft.clone();
            draft.own = None;
            if let Some(person) = &new.person {
                draft.links.retain(|(name, _)| *name != "person");
                draft.links.push(("person", person.clone()));
            }
            NextOperation::Create(Box::new(draft))
        })
    }

    fn update(
        &mut self,
        stored: StoredRecord,
        before: &Object,
        patch: &RawPatch,
    ) -> RuleResult<StoredRecord> {
        let at = stored.record.address();
        let mut after = before.clone();
        merge_patch(&mut after, &patch.fields);
        let wrong = exceeded_limits(&self.cx.limits, &stored, before, &after, patch);
        if !wrong.is_empty() {
            return Err(Error::invalid_all(wrong).into());
        }
        if self.is_refused {
            return Ok(stored);
        }
        if self.composed.registered(at.kind)?.update.is_none() {
            // An action that cannot be changed stays unchanged.
            return if at.kind == Kind::Person {
                Err(Error::not_implemented().into())
            } else {
                Ok(stored)
            };
        }
        let mut patch = patch.clone();
        patch.if_match = Some(stored.record.meta().state());
        let (now, _) = self.step(|| NextOperation::Update(at, Box::new(patch)))?;
        self.changed
            .insert(own_key(&now.record), now.record.clone());
        Ok(now)
    }

    fn schedule(&mut self, _: &RecordAddress, _: ScheduleChange) -> RuleResult<StoredRecord> {
        Err(Error::not_implemented().into())
    }

    fn trigger(&mut self, _: OutboxPayload) -> RuleResult<()> {
        Err(Error::not_implemented().into())
    }

    fn trigger_once_a_day(&mut self, _: OutboxPayload, _: &Id, _: &[Arc<str>]) -> RuleResult<()> {
        Err(Error::not_implemented().into())
    }

    fn is_atomic(&self) -> bool {
        self.composed.transactions.is_some()
    }

    fn collects_all_problems(&self) -> bool {
        self.is_refused
    }

    fn is_refused(&self) -> bool {
        self.is_refused
    }

    fn supports_find(&self, kind: Kind) -> bool {
        self.composed
            .registered(kind)
            .is_ok_and(|registered| registered.find.is_some())
    }

    fn matching(&self) -> &dyn PersonMatching {
        self.composed.matching
    }

    fn share_names(&self) -> &ShareNames {
        &self.seen.names
    }

    fn received(&self) -> Timestamp {
        self.cx.received_at
    }
}

/// The maximum number of concurrent lookups, because a body can name very many records.
const AT_ONCE: usize = 16;

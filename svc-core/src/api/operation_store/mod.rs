//! The store that consists of the operations of a backend.
//!
//! A vendor implements an operation for a kind: `List`, `Get`, `Create`, and so on. Together they
//! are a [`Store`] like any other: the API above it knows no difference.
//!
//! Requirements: CAP-04, ERR-04, ERR-34, HLP-10.

mod erased;
mod join_all;
mod lock_keys;
mod merge;
mod merged_people;
mod shared_addresses;
mod steps;
mod transaction;

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;

pub(crate) use erased::{
    KindOperations, NativeHelper, TypedOperation, with_helper, with_operation,
};

use self::{join_all::join_all, merge::identifiers_as_sent, steps::known_record};
use super::{classify::ErrorMapper, registration::KindBackend};
use crate::{
    backend::{DeleteRequest, ErasedTransactions, FindKey, IdempotencyStore},
    context::Context,
    draft::{RawDraft, RawPatch},
    error::{Error, Problem, Result},
    helper::{HelperName, PersonMatching},
    link::RecordAddress,
    model::Kind,
    names::Operation,
    page::{ListRequest, RawPage},
    record::{RawRecord, RecordState},
    rules::{problems_of, wrong_donation},
    store::{
        LookupKey, Precondition, Store, StoredMerge, WriteOperation, WriteOutcome, WriteRequest,
    },
    value::{Id, Timestamp},
};

/// Number of records that one request reads simultaneously with `Get`.
const CONCURRENT_READS: usize = 8;

/// Where a helper is executed.
#[derive(Clone)]
pub(crate) enum HelperBackend {
    /// In a store, in a transaction of its own.
    Store(Arc<dyn Store>),
    /// By the backend of a vendor.
    Native(NativeHelper),
    /// By the rules, in steps that are operations of the backend.
    Composed,
}

/// A store that consists of the registered operations of a backend, or of several stores.
pub(crate) struct OperationStore {
    /// One entry for each kind, in the order of [`Kind::ALL`].
    pub(crate) kinds: Vec<KindBackend>,
    /// The kinds of which clients can read every value that they can send.
    pub(crate) comparable: Vec<Kind>,
    pub(crate) helpers: BTreeMap<HelperName, HelperBackend>,
    /// Whether the answers of a person can be listed.
    pub(crate) lists_answers: bool,
    /// The registered store, if there is one. It stores responses.
    pub(crate) store: Option<Arc<dyn Store>>,
    /// Where the vendor stores responses.
    pub(crate) responses: Option<Arc<dyn IdempotencyStore>>,
    /// The transactions of the backend, if it has any.
    pub(crate) transactions: Option<Arc<dyn ErasedTransactions>>,
    pub(crate) matching: Arc<dyn PersonMatching>,
    pub(crate) errors: ErrorMapper,
}

impl OperationStore {
    /// Returns the one store that executes every operation, if there is one.
    pub(crate) fn only_store(&self) -> Option<&Arc<dyn Store>> {
        let store = self.store.as_ref()?;
        let is_it = |other: &Arc<dyn Store>| Arc::ptr_eq(store, other);
        let are_kinds = self.kinds.iter().all(|backend| match backend {
            KindBackend::Store(other) => is_it(other),
            KindBackend::Operations(operations) => operations.is_empty(),
        });
        let are_helpers = self
            .helpers
            .values()
            .all(|helper| matches!(helper, HelperBackend::Store(other) if is_it(other)));
        let is_alone = self.transactions.is_none() && self.responses.is_none();
        (are_kinds && are_helpers && is_alone).then_some(store)
    }

    fn backend(&self, kind: Kind) -> &KindBackend {
        static NOTHING: std::sync::LazyLock<KindBackend> =
            std::sync::LazyLock::new(KindBackend::default);
        self.kinds.get(kind as usize).unwrap_or(&NOTHING)
    }

    /// Returns the store that executes a request alone, if there is one.
    fn store_of(&self, call: &WriteRequest) -> Option<&Arc<dyn Store>> {
        let kind = match &call.operation {
            WriteOperation::Create(draft) => draft.kind,
            WriteOperation::Import(load) => load.draft.kind,
            WriteOperation::Update(at, _) | WriteOperation::Delete(at) => at.kind,
            WriteOperation::Merge(request) => request.remaining.kind,
            WriteOperation::UndoMerge(request) => request.remaining.kind,
            WriteOperation::Helper(plan) => {
                return match self.helpers.get(&plan.helper) {
                    Some(HelperBackend::Store(store)) => Some(store),
                    // Only the store can store the response.
                    _ => self
                        .store
                        .as_ref()
                        .filter(|_| call.response_recorder.is_some()),
                };
            }
        };
        self.backend(kind).store()
    }

    /// Executes a request with the operations of the backend, within its transaction if there is
    /// one.
    async fn operate(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome> {
        if let Some(store) = self.store_of(&call) {
            return store.write(cx, call).await;
        }
        let condition = call.precondition.clone();
        let namespace = Arc::clone(&call.namespace);
        let shared = self.shared_addresses(cx, &call).await?;
        let outcome = match call.operation {
            WriteOperation::Create(draft) => {
                if let KindBackend::Operations(operations) = self.backend(draft.kind)
                    && !operations.checks_container
                {
                    let page = self.container(cx, draft.container()).await?;
                    if !wrong_donation(page.as_ref(), &draft)?.is_empty() {
                        let call = WriteRequest::new(cx, WriteOperation::Create(draft)).rejected();
                        let known = known_record(page);
                        let problems = problems_of(Box::pin(self.run_steps(cx, call, known)).await);
                        return Err(Error::invalid_all(problems?));
                    }
                }
                let (record, is_new) = self.create(cx, draft).await?;
                Ok(WriteOutcome::Created { record, is_new })
            }
            WriteOperation::Update(at, patch) => {
                let sent = patch.identifiers.clone();
                let mut patch = self.with_merged_people(cx, &namespace, &at, patch).await?;
                let stored = patch.identifiers.clone();
                let mut before = None;
                if let Some(condition) = &condition {
                    let record = self.evaluate_precondition(cx, &at, condition).await?;
                    patch.if_match = expected_state(condition, &record);
                    before = Some(record);
                }
                let updated = match self.unchanged(cx, &at, &patch, before).await? {
                    Some(record) => Ok(Some(record)),
                    None => self.update(cx, at, patch).await,
                };
                updated
                    .map_err(|error| self.precondition_error(condition.is_some(), error))
                    .map_err(|error| identifiers_as_sent(error, sent, stored))
                    .map(WriteOutcome::Updated)
            }
            WriteOperation::Delete(at) => {
                let if_match = match &condition {
                    Some(condition) => {
                        let record = self.evaluate_precondition(cx, &at, condition).await?;
                        expected_state(condition, &record)
                    }
                    None => None,
                };
                let request = DeleteRequest::new(at).with_expected_state(if_match);
                let deleted = self.delete(cx, request).await;
                deleted
                    .map_err(|error| self.precondition_error(condition.is_some(), error))
                    .map(WriteOutcome::Deleted)
            }
            WriteOperation::Helper(ref plan) => match self.helpers.get(&plan.helper) {
                Some(HelperBackend::Native(helper)) => {
                    if !helper.checks_container {
                        self.container(cx, plan.container.as_ref()).await?;
                    }
                    let person = plan.person.as_ref();
                    self.check_further_own(cx, &namespace, person).await?;
                    let mut done = helper.run.call(cx, (**plan).clone()).await?;
                    let mut warnings = std::mem::take(&mut done.warnings);
                    if plan.anonymous {
                        warnings.clear();
                    }
                    Ok(WriteOutcome::HelperDone(done).with_warnings(warnings))
                }
                Some(HelperBackend::Composed) => {
                    let container = self.container(cx, plan.container.as_ref()).await?;
                    // Boxed, because its many steps would make the future of every request as
                    // large.
                    let known = known_record(container);
                    let decision = Box::pin(self.run_steps(cx, call, known)).await?;
                    Ok(decision.outcome)
                }
                Some(HelperBackend::Store(_)) | None => Err(Error::not_implemented()),
            },
            WriteOperation::Merge(ref request) => {
                // Boxed, like the steps of helpers.
                let merged = Box::pin(self.merge(cx, &call, request)).await;
                merged
                    .map(|outcome| WriteOutcome::Merged(Box::new(outcome)))
                    .map_err(|error| self.precondition_error(condition.is_some(), error))
            }
            WriteOperation::UndoMerge(_) | WriteOperation::Import(_) => {
                Err(Error::not_implemented())
            }
        };
        shared.warn(outcome?)
    }

    /// Returns the container or the record of a request. There is none if its kind cannot be read,
    /// and a not-found error if it does not exist.
    ///
    /// Requirements: HLP-23, UND-39.
    async fn container(
        &self,
        cx: &Context,
        at: Option<&RecordAddress>,
    ) -> Result<Option<RawRecord>> {
        match at {
            Some(at) if self.backend(at.kind).has(at.kind, Operation::Read) => {
                let found = self.get(cx, at).await?;
                found.map(Some).ok_or_else(Error::not_found)
            }
            _ => Ok(None),
        }
    }

    async fn create(&self, cx: &Context, draft: RawDraft) -> Result<(RawRecord, bool)> {
        match self.backend(draft.kind) {
            KindBackend::Store(store) => {
                let kind = draft.kind;
                let call = WriteRequest::new(cx, WriteOperation::Create(draft));
                let written = store.write(cx, call).await;
                let written = written
                    .map_err(with_operation(kind, "create"))?
                    .into_written();
                written.ok_or_else(Error::conflict)
            }
            KindBackend::Operations(operations) => match &operations.create {
                Some(create) => create.call(cx, draft).await,
                None => Err(Error::not_implemented()),
            },
        }
    }

    async fn update(
        &self,
        cx: &Context,
        at: RecordAddress,
        patch: RawPatch,
    ) -> Result<Option<RawRecord>> {
        match self.backend(at.kind) {
            KindBackend::Store(store) => {
                let kind = at.kind;
                let call = WriteRequest::new(cx, WriteOperation::Update(at, patch));
                let written = store.write(cx, call).await;
                let written = written
                    .map_err(with_operation(kind, "update"))?
                    .into_written();
                Ok(written.map(|(record, _)| record))
            }
            KindBackend::Operations(operations) => match &operations.update {
                Some(update) => update.call(cx, (at, patch)).await,
                None => Err(Error::not_implemented()),
            },
        }
    }

    async fn delete(&self, cx: &Context, request: DeleteRequest) -> Result<bool> {
        match self.backend(request.address.kind) {
            KindBackend::Operations(KindOperations {
                delete: Some(delete),
                ..
            }) => delete.call(cx, request).await,
            _ => Err(Error::not_implemented()),
        }
    }

    /// Returns the record at an address if a change leaves it as it is. The operation of the vendor
    /// is then not called. `before` is the record if it was read.
    ///
    /// A value that the vendor stores and does not return could change. The result is therefore `None`
    /// for a kind with such values, and for a change that clears a link.
    ///
    /// Requirements: CRU-19.
    async fn unchanged(
        &self,
        cx: &Context,
        at: &RecordAddress,
        patch: &RawPatch,
        before: Option<RawRecord>,
    ) -> Result<Option<RawRecord>> {
        let is_read = self.backend(at.kind).has(at.kind, Operation::Read);
        let clears_link = patch.links.iter().any(|(_, to)| to.is_none());
        if !is_read || clears_link || !self.comparable.contains(&at.kind) {
            return Ok(None);
        }
        let before = match before {
            None => self.get(cx, at).await?,
            read => read,
        };
        Ok(before.filter(|before| patch.is_empty_against(before, cx.received_at())))
    }

    /// Evaluates a precondition for an operation of a vendor, and returns the record.
    async fn evaluate_precondition(
        &self,
        cx: &Context,
        at: &RecordAddress,
        condition: &Precondition,
    ) -> Result<RawRecord> {
        // No client knows the state of a record that cannot be read.
        if !self.backend(at.kind).has(at.kind, Operation::Read) {
            return Err(Error::precondition_failed());
        }
        let record = self.get(cx, at).await?.ok_or_else(Error::not_found)?;
        condition.check(&record)?;
        Ok(record)
    }

    /// Turns a conflict into a failed precondition: the record has changed after the check.
    fn precondition_error(&self, is_conditional: bool, error: Error) -> Error {
        let error = self.errors.map(error);
        if is_conditional && error.is_conflict() {
            Error::precondition_failed().with_source(error)
        } else {
            error
        }
    }
}

/// Returns the state that a record must still have in the operation of a vendor.
fn expected_state(condition: &Precondition, record: &RawRecord) -> Option<RecordState> {
    condition.is_of_state().then(|| record.meta().state())
}

#[async_trait]
impl Store for OperationStore {
    async fn list(&self, cx: &Context, kind: Kind, request: &ListRequest) -> Result<RawPage> {
        match self.backend(kind) {
            KindBackend::Store(store) => {
                let page = store.list(cx, kind, request).await;
                page.map_err(with_operation(kind, "list"))
            }
            KindBackend::Operations(operations) => match &operations.list {
                Some(list) => list.call(cx, request.clone()).await,
                None => Err(Error::not_implemented()),
            },
        }
    }

    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        match self.backend(at.kind) {
            KindBackend::Store(store) => {
                let record = store.get(cx, at).await;
                record.map_err(with_operation(at.kind, "read"))
            }
            KindBackend::Operations(operations) => match &operations.get {
                Some(get) => get.call(cx, at.clone()).await,
                None => Err(Error::not_implemented()),
            },
        }
    }

    async fn get_all(
        &self,
        cx: &Context,
        addresses: &[RecordAddress],
    ) -> Result<Vec<Option<RawRecord>>> {
        let kind = addresses.first().map(|at| at.kind);
        if let Some(store) = kind.and_then(|kind| self.backend(kind).store())
            && addresses.iter().all(|at| Some(at.kind) == kind)
        {
            return store.get_all(cx, addresses).await;
        }
        let mut records = Vec::with_capacity(addresses.len());
        for some in addresses.chunks(CONCURRENT_READS) {
            for read in join_all(some.iter().map(|at| self.get(cx, at)).collect()).await {
                records.push(match read {
                    Err(error) if error.is_not_found() => None,
                    read => read?,
                });
            }
        }
        Ok(records)
    }

    /// A key that the backend cannot look up finds nothing.
    async fn find(&self, cx: &Context, key: &LookupKey) -> Result<Option<RawRecord>> {
        let Some(kind) = key.kind() else {
            return Ok(None);
        };
        let operations = match self.backend(kind) {
            KindBackend::Store(store) => {
                let record = store.find(cx, key).await;
                return record.map_err(with_operation(kind, "find"));
            }
            KindBackend::Operations(operations) => operations,
        };
        let key = match key {
            LookupKey::Id(_, id) => {
                let at = RecordAddress::without_parent(kind, id.clone());
                return match &operations.get {
                    Some(get) => get.call(cx, at).await,
                    None => Ok(None),
                };
            }
            LookupKey::Name(_, name) => FindKey::Name(name.clone()),
            LookupKey::Identifier(_, identifier) => FindKey::Identifier(identifier.clone()),
            LookupKey::Email(address) => FindKey::Email(address.clone()),
            LookupKey::Link(..) => return Ok(None),
        };
        match &operations.find {
            Some(find) => find.call(cx, key).await,
            None => Ok(None),
        }
    }

    async fn forwarded_person(&self, cx: &Context, id: &Id) -> Result<Option<Id>> {
        match self.backend(Kind::Person).store() {
            Some(store) => store.forwarded_person(cx, id).await,
            None => self.remaining_person(cx, id).await,
        }
    }

    fn undoes_merges(&self) -> bool {
        let store = self.backend(Kind::Person).store();
        store.is_some_and(|store| store.undoes_merges())
    }

    async fn merges(&self, cx: &Context, remaining: &Id) -> Result<Vec<StoredMerge>> {
        match self.backend(Kind::Person).store() {
            Some(store) => store.merges(cx, remaining).await,
            None => Ok(Vec::new()),
        }
    }

    async fn write(&self, cx: &Context, mut call: WriteRequest) -> Result<WriteOutcome> {
        if call.is_rejected {
            return match self.store_of(&call) {
                Some(store) => store.write(cx, call).await,
                None => Err(Error::invalid_all(self.find_problems(cx, call).await?)),
            };
        }
        let again = self.forwardable(&mut call);
        match self.execute(cx, call).await {
            Err(error) => {
                let call = Box::pin(self.forwarded_request(cx, error, again)).await?;
                self.execute(cx, call).await
            }
            done => done,
        }
    }

    async fn find_problems(&self, cx: &Context, mut call: WriteRequest) -> Result<Vec<Problem>> {
        if let Some(store) = self.store_of(&call) {
            return store.find_problems(cx, call).await;
        }
        let again = self.forwardable(&mut call);
        match self.problems_in_steps(cx, call).await {
            Err(error) => {
                let call = Box::pin(self.forwarded_request(cx, error, again)).await?;
                self.problems_in_steps(cx, call).await
            }
            found => found,
        }
    }

    fn person_matching(&self) -> Arc<dyn PersonMatching> {
        Arc::clone(&self.matching)
    }

    fn merges_people(&self) -> bool {
        self.backend(Kind::Person).merges_people()
    }

    fn stores_responses(&self) -> bool {
        self.responses.is_some()
            || self
                .store
                .as_ref()
                .is_some_and(|store| store.stores_responses())
    }

    async fn sweep(&self, before: Timestamp) -> Result<bool> {
        match &self.store {
            Some(store) => store.sweep(before).await,
            None => Ok(false),
        }
    }
}

impl OperationStore {
    /// Executes a request, in a transaction of the backend if it has any.
    async fn execute(&self, cx: &Context, call: WriteRequest) -> Result<WriteOutcome> {
        match self.transactions.as_deref() {
            // Boxed, because these futures would make the future of every request as large.
            Some(transactions) => Box::pin(self.try_in(transactions, cx, call)).await,
            None => Box::pin(self.attempt(cx, call)).await,
        }
    }

    /// Returns the problems of a request that the rules find in the steps of the operations.
    async fn problems_in_steps(&self, cx: &Context, call: WriteRequest) -> Result<Vec<Problem>> {
        let known = match &call.operation {
            WriteOperation::Create(draft) => self.container(cx, draft.container()).await?,
            WriteOperation::Helper(plan) => self.container(cx, plan.container.as_ref()).await?,
            WriteOperation::Update(at, _) => match self.container(cx, Some(at)).await? {
                Some(record) => Some(record),
                // Without the record, nothing more is known about it.
                None => return Ok(Vec::new()),
            },
            WriteOperation::Delete(at) => {
                self.container(cx, Some(at)).await?;
                return Ok(Vec::new());
            }
            WriteOperation::Merge(request) => {
                return self.merge_problems(cx, &call, request).await;
            }
            WriteOperation::UndoMerge(_) | WriteOperation::Import(_) => return Ok(Vec::new()),
        };
        problems_of(Box::pin(self.run_steps(cx, call, known_record(known))).await)
    }
}

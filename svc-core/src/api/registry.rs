//! Type erasure: turns a typed operation of a backend into an operation on raw drafts and records.

use std::{marker::PhantomData, sync::Arc};

use async_trait::async_trait;

use crate::{
    auth::Operation,
    backend::{
        Create, CreateRequest, Delete, DeleteRequest, Find, FindKey, Get, Helper, List, Update,
        UpdateRequest,
    },
    context::Context,
    draft::{Draft, Patch, RawDraft, RawPatch},
    error::{Error, Result},
    field_set::FieldBits,
    filter::FilterField,
    helper::{
        self, HelperName, HelperRequest, HelperSpec, MatchKey, RawHelperOutcome, RawHelperRequest,
    },
    link::{RecordAddress, Scope},
    model::{Kind, Resource},
    page::{ListRequest, Page, RawPage},
    read::AcceptedMembers,
    record::{RawRecord, Record},
    schema::Constraints,
    store::{LookupKey, Precondition, Store, WriteOperation, WriteOutcome, WriteRequest},
};

/// The result of a create, without the type of the kind.
#[derive(Debug)]
pub(crate) struct RawCreated {
    pub(crate) record: RawRecord,
    pub(crate) is_new: bool,
}

macro_rules! erased {
    ($($name:ident: $method:ident ( $($arg:ident : $ty:ty),* ) -> $out:ty;)+) => {$(
        #[async_trait]
        pub(crate) trait $name: Send + Sync {
            async fn $method(&self, cx: &Context, $($arg: $ty),*) -> Result<$out>;
        }
    )+};
}

erased! {
    AnyList: list(request: &ListRequest) -> RawPage;
    AnyGet: get(at: &RecordAddress) -> Option<RawRecord>;
    AnyFind: find(key: &FindKey) -> Option<RawRecord>;
}

#[async_trait]
pub(crate) trait ErasedCreate: Send + Sync {
    async fn create(&self, cx: &Context, draft: RawDraft) -> Result<RawCreated>;
    fn finds_container(&self) -> bool;
}

#[async_trait]
pub(crate) trait ErasedUpdate: Send + Sync {
    async fn update(
        &self,
        cx: &Context,
        at: RecordAddress,
        patch: RawPatch,
        condition: Option<&Precondition>,
    ) -> Result<Option<RawRecord>>;

    /// Returns whether it evaluates the precondition, in the transaction of the change.
    ///
    /// If not, it never gets a precondition.
    fn checks_precondition(&self) -> bool;
}

#[async_trait]
pub(crate) trait ErasedDelete: Send + Sync {
    async fn delete(
        &self,
        cx: &Context,
        request: &DeleteRequest,
        condition: Option<&Precondition>,
    ) -> Result<bool>;

    /// Returns whether it evaluates the precondition, in the transaction of the deletion.
    ///
    /// If not, it never gets a precondition.
    fn checks_precondition(&self) -> bool;
}

#[async_trait]
pub(crate) trait ErasedHelper: Send + Sync {
    async fn run(&self, cx: &Context, plan: RawHelperRequest) -> Result<RawHelperOutcome>;
    fn finds_container(&self) -> bool;
}

/// A store, adapted to one kind or one helper.
pub(crate) struct TypedAdapter<T, S> {
    store: Arc<S>,
    what: PhantomData<fn() -> T>,
}

impl<T, S> TypedAdapter<T, S> {
    pub(crate) fn new(store: &Arc<S>) -> Self {
        Self {
            store: Arc::clone(store),
            what: PhantomData,
        }
    }
}

#[async_trait]
impl<R: Resource, S: List<R>> AnyList for TypedAdapter<R, S> {
    async fn list(&self, cx: &Context, request: &ListRequest) -> Result<RawPage> {
        self.store
            .list(cx, request)
            .await
            .map(Page::into_raw)
            .map_err(with_operation(R::KIND, "list"))
    }
}

#[async_trait]
impl<R: Resource, S: Get<R>> AnyGet for TypedAdapter<R, S> {
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        let record = self
            .store
            .get(cx, at)
            .await
            .map_err(with_operation(R::KIND, "read"))?
            .map(Record::into_raw);
        // A wrong parent in the path is 404, even if the backend did not check it.
        // Requirements: COL-19.
        Ok(record.filter(|record| at.matches_parent(record.parent())))
    }
}

#[async_trait]
impl<R: Resource, S: Create<R>> ErasedCreate for TypedAdapter<R, S> {
    async fn create(&self, cx: &Context, draft: RawDraft) -> Result<RawCreated> {
        let created = self
            .store
            .create(cx, CreateRequest::new(Draft::from_raw(draft)))
            .await;
        let created = created.map_err(with_operation(R::KIND, "create"))?;
        Ok(RawCreated {
            record: created.record.into_raw(),
            is_new: created.is_new,
        })
    }

    fn finds_container(&self) -> bool {
        self.store.checks_container()
    }
}

#[async_trait]
impl<R: Resource, S: Update<R>> ErasedUpdate for TypedAdapter<R, S> {
    async fn update(
        &self,
        cx: &Context,
        at: RecordAddress,
        patch: RawPatch,
        _: Option<&Precondition>,
    ) -> Result<Option<RawRecord>> {
        let updated = self
            .store
            .update(cx, UpdateRequest::new(at, Patch::from_raw(patch)))
            .await;
        Ok(updated
            .map_err(with_operation(R::KIND, "update"))?
            .map(Record::into_raw))
    }

    fn checks_precondition(&self) -> bool {
        false
    }
}

#[async_trait]
impl<R: Resource, S: Delete<R>> ErasedDelete for TypedAdapter<R, S> {
    async fn delete(
        &self,
        cx: &Context,
        request: &DeleteRequest,
        _: Option<&Precondition>,
    ) -> Result<bool> {
        self.store
            .delete(cx, request)
            .await
            .map_err(with_operation(R::KIND, "delete"))
    }

    fn checks_precondition(&self) -> bool {
        false
    }
}

#[async_trait]
impl<R: Resource, S: Find<R>> AnyFind for TypedAdapter<R, S> {
    async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<RawRecord>> {
        Ok(self
            .store
            .find(cx, key)
            .await
            .map_err(with_operation(R::KIND, "find"))?
            .map(Record::into_raw))
    }
}

#[async_trait]
impl<H: HelperSpec, S: Helper<H>> ErasedHelper for TypedAdapter<H, S> {
    async fn run(&self, cx: &Context, plan: RawHelperRequest) -> Result<RawHelperOutcome> {
        let done = self.store.run(cx, HelperRequest::from_raw(plan)).await;
        done.map(helper::HelperOutcome::into_raw)
            .map_err(running(H::NAME))
    }

    fn finds_container(&self) -> bool {
        self.store.checks_container()
    }
}

/// A store of every kind, adapted to one kind.
///
/// It is one type for all kinds, so nothing is compiled again for each kind.
struct StoreAdapter {
    store: Arc<dyn Store>,
    kind: Kind,
}

impl StoreAdapter {
    async fn write(&self, cx: &Context, work: WriteOperation) -> Result<WriteOutcome> {
        self.write_if(cx, work, None).await
    }

    async fn write_if(
        &self,
        cx: &Context,
        work: WriteOperation,
        condition: Option<&Precondition>,
    ) -> Result<WriteOutcome> {
        write_to(
            &*self.store,
            cx,
            WriteRequest::new(cx, work).only_if(condition),
        )
        .await
    }
}

/// Executes a write request in a store.
pub(crate) async fn write_to(
    store: &dyn Store,
    cx: &Context,
    call: WriteRequest,
) -> Result<WriteOutcome> {
    let operation = match &call.operation {
        WriteOperation::Create(draft) => Ok((draft.kind, "create")),
        WriteOperation::Update(at, _) => Ok((at.kind, "update")),
        WriteOperation::Delete(at) => Ok((at.kind, "delete")),
        WriteOperation::Helper(plan) => Err(plan.helper),
        WriteOperation::Import(load) => Ok((load.draft.kind, "load")),
    };
    store
        .write(cx, call)
        .await
        .map_err(|error| match operation {
            Ok((kind, operation)) => with_operation(kind, operation)(error),
            Err(helper) => running(helper)(error),
        })
}

#[async_trait]
impl AnyList for StoreAdapter {
    async fn list(&self, cx: &Context, request: &ListRequest) -> Result<RawPage> {
        self.store
            .list(cx, self.kind, request)
            .await
            .map_err(with_operation(self.kind, "list"))
    }
}

#[async_trait]
impl AnyGet for StoreAdapter {
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<RawRecord>> {
        self.store
            .get(cx, at)
            .await
            .map_err(with_operation(self.kind, "read"))
    }
}

#[async_trait]
impl AnyFind for StoreAdapter {
    async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<RawRecord>> {
        let key = match key.clone() {
            FindKey::Name(name) => LookupKey::Name(self.kind, name),
            FindKey::Match(MatchKey::Identifier(identifier)) => {
                LookupKey::Identifier(self.kind, identifier)
            }
            FindKey::Match(MatchKey::Email(address)) if self.kind == Kind::Person => {
                LookupKey::Email(address)
            }
            FindKey::Match(MatchKey::Email(_)) => return Ok(None),
        };
        self.store
            .find(cx, &key)
            .await
            .map_err(with_operation(self.kind, "find"))
    }
}

#[async_trait]
impl ErasedCreate for StoreAdapter {
    async fn create(&self, cx: &Context, draft: RawDraft) -> Result<RawCreated> {
        match self.write(cx, WriteOperation::Create(draft)).await? {
            WriteOutcome::Created { record, is_new } => Ok(RawCreated { record, is_new }),
            _ => Err(outcome_mismatch()),
        }
    }

    /// The rules return the error for a missing container.
    fn finds_container(&self) -> bool {
        true
    }
}

#[async_trait]
impl ErasedUpdate for StoreAdapter {
    async fn update(
        &self,
        cx: &Context,
        at: RecordAddress,
        patch: RawPatch,
        condition: Option<&Precondition>,
    ) -> Result<Option<RawRecord>> {
        match self
            .write_if(cx, WriteOperation::Update(at, patch), condition)
            .await?
        {
            WriteOutcome::Updated(record) => Ok(record),
            _ => Err(outcome_mismatch()),
        }
    }

    fn checks_precondition(&self) -> bool {
        true
    }
}

#[async_trait]
impl ErasedDelete for StoreAdapter {
    async fn delete(
        &self,
        cx: &Context,
        request: &DeleteRequest,
        condition: Option<&Precondition>,
    ) -> Result<bool> {
        match self
            .write_if(
                cx,
                WriteOperation::Delete(request.address.clone()),
                condition,
            )
            .await?
        {
            WriteOutcome::Deleted(was_there) => Ok(was_there),
            _ => Err(outcome_mismatch()),
        }
    }

    fn checks_precondition(&self) -> bool {
        true
    }
}

#[async_trait]
impl ErasedHelper for StoreAdapter {
    async fn run(&self, cx: &Context, plan: RawHelperRequest) -> Result<RawHelperOutcome> {
        match self
            .write(cx, WriteOperation::Helper(Box::new(plan)))
            .await?
        {
            WriteOutcome::HelperDone(outcome) => Ok(outcome),
            _ => Err(outcome_mismatch()),
        }
    }

    fn finds_container(&self) -> bool {
        true
    }
}

/// Adds the operation of a kind to an error.
fn with_operation(kind: Kind, operation: &'static str) -> impl FnOnce(Error) -> Error {
    move |error| in_operation(error, || format!("{}.{operation}", kind.plural()))
}

/// Adds the helper to an error.
fn running(helper: HelperName) -> impl FnOnce(Error) -> Error {
    move |error| in_operation(error, || format!("helper.{}", helper.as_str()))
}

/// Adds an operation to an unexpected error, for the log, unless the backend has already done so.
fn in_operation(error: Error, operation: impl FnOnce() -> String) -> Error {
    if error.is_unexpected() && error.operation().is_none() {
        error.with_operation(operation())
    } else {
        error
    }
}

fn outcome_mismatch() -> Error {
    Error::unexpected("a store returned the outcome of a different operation than requested")
}

/// Returns a helper that the store executes in a transaction of its own.
pub(crate) fn helper_of(store: &Arc<dyn Store>, helper: HelperName) -> Arc<dyn ErasedHelper> {
    Arc::new(StoreAdapter {
        store: Arc::clone(store),
        kind: helper.recorded_kind(),
    })
}

/// The registered operations of a kind. An operation that is not registered does not exist.
///
/// Requirements: CAP-04.
#[derive(Default, Clone)]
pub(crate) struct KindRegistration {
    pub(crate) list: Option<Arc<dyn AnyList>>,
    /// Whether the collection of all records is offered.
    pub(crate) has_full_collection: bool,
    /// The kinds that it is listed under.
    pub(crate) scopes: Vec<Kind>,
    pub(crate) get: Option<Arc<dyn AnyGet>>,
    pub(crate) create: Option<Arc<dyn ErasedCreate>>,
    pub(crate) update: Option<Arc<dyn ErasedUpdate>>,
    pub(crate) delete: Option<Arc<dyn ErasedDelete>>,
    pub(crate) find: Option<Arc<dyn AnyFind>>,
    /// Operations that are registered for helpers, but not offered to clients.
    ///
    /// Requirements: CAP-10.
    pub(crate) withdrawn: Vec<Operation>,
    pub(crate) readable: Option<FieldBits>,
    pub(crate) writable: Option<FieldBits>,
    /// The fields by which the collection of all records can be filtered and ordered.
    pub(crate) filterable: Vec<FilterField>,
    /// The links to one record that the store does not have.
    pub(crate) omitted_links: Vec<&'static str>,
    /// The constraints; `None` if there are none.
    pub(crate) constraints: Option<Constraints>,
}

impl KindRegistration {
    /// Registers every operation that the specification has for a kind, for a store of every kind.
    pub(crate) fn of_store(store: &Arc<dyn Store>, kind: Kind) -> Self {
        let schema = kind.schema();
        let of = Arc::new(StoreAdapter {
            store: Arc::clone(store),
            kind,
        });
        let has = |operation| schema.has_operation(operation);
        Self {
            list: Some(of.clone()),
            has_full_collection: has(Operation::List),
            scopes: schema.scope_kinds().collect(),
            get: has(Operation::Read).then(|| of.clone() as _),
            create: has(Operation::Create).then(|| of.clone() as _),
            update: has(Operation::Update).then(|| of.clone() as _),
            delete: has(Operation::Delete).then(|| of.clone() as _),
            find: Some(of),
            filterable: if has(Operation::List) {
                store.filter_fields(kind)
            } else {
                Vec::new()
            },
            ..Self::default()
        }
    }

    /// Returns the members that are accepted from bodies.
    pub(crate) fn accepted_members(&self) -> AcceptedMembers<'_> {
        AcceptedMembers {
            writable: self.writable.unwrap_or(FieldBits::ALL),
            narrowing: self.constraints.as_ref(),
            unlinked: &self.omitted_links,
        }
    }

    /// Returns whether an operation is offered. For lists, this is the list of all records.
    pub(crate) fn offers(&self, operation: Operation) -> bool {
        let registered = match operation {
            Operation::List => self.has_full_collection,
            Operation::Read => self.get.is_some(),
            Operation::Create => self.create.is_some(),
            Operation::Update => self.update.is_some(),
            Operation::Delete => self.delete.is_some(),
        };
        registered && !self.withdrawn.contains(&operation)
    }

    /// Returns whether the collection in this scope is offered.
    pub(crate) fn lists(&self, scope: &Scope) -> bool {
        self.list.is_some()
            && match scope {
                Scope::All => self.offers(Operation::List),
                Scope::Under(parent) => self.scopes.contains(&parent.kind),
            }
    }
}

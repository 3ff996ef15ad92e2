//! The operations of a backend without the types of their kinds.

use std::{marker::PhantomData, sync::Arc};

use async_trait::async_trait;

use crate::{
    backend::{
        Create, CreateRequest, Delete, DeleteRequest, Find, FindKey, Get, Helper, List,
        MergePeople, Update, UpdateRequest,
    },
    context::Context,
    draft::{Draft, Patch, RawDraft, RawPatch},
    error::{Error, Result},
    helper::{HelperName, HelperOutcome, HelperRequest, HelperSpec},
    helper::{RawHelperOutcome, RawHelperRequest},
    link::RecordAddress,
    model::{Kind, Resource},
    page::{ListRequest, Page, RawPage},
    record::{RawRecord, Record},
};

/// An operation of a backend that takes a `Q` and returns an `A`, both without the type of the kind.
#[async_trait]
pub(crate) trait ErasedOperation<Q, A>: Send + Sync {
    async fn call(&self, cx: &Context, request: Q) -> Result<A>;
}

/// A registered operation.
pub(crate) type Erased<Q, A> = Arc<dyn ErasedOperation<Q, A>>;

/// The operations of a kind that a backend implements.
#[derive(Default, Clone)]
pub(crate) struct KindOperations {
    pub(crate) list: Option<Erased<ListRequest, RawPage>>,
    pub(crate) get: Option<Erased<RecordAddress, Option<RawRecord>>>,
    pub(crate) find: Option<Erased<FindKey, Option<RawRecord>>>,
    /// Returns the record, and whether it is new.
    pub(crate) create: Option<Erased<RawDraft, (RawRecord, bool)>>,
    /// Whether `create` itself returns the error for a missing container.
    pub(crate) checks_container: bool,
    pub(crate) update: Option<Erased<(RecordAddress, RawPatch), Option<RawRecord>>>,
    pub(crate) delete: Option<Erased<DeleteRequest, bool>>,
    /// Only for people.
    pub(crate) merge: Option<Arc<dyn MergePeople>>,
}

impl KindOperations {
    /// Returns whether there is no operation.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_none()
            && self.get.is_none()
            && self.find.is_none()
            && self.create.is_none()
            && self.update.is_none()
            && self.delete.is_none()
            && self.merge.is_none()
    }
}

/// A helper that a backend executes itself.
#[derive(Clone)]
pub(crate) struct NativeHelper {
    pub(crate) run: Erased<RawHelperRequest, RawHelperOutcome>,
    /// Whether it itself returns the error for a missing container.
    pub(crate) checks_container: bool,
}

impl NativeHelper {
    pub(crate) fn new<H: HelperSpec>(backend: &Arc<impl Helper<H> + 'static>) -> Self {
        Self {
            checks_container: backend.checks_container(),
            run: Arc::new(TypedOperation::<H, _>::new(backend)),
        }
    }
}

/// A backend with the type of the kind or helper whose operations it executes.
pub(crate) struct TypedOperation<T, S> {
    backend: Arc<S>,
    what: PhantomData<fn() -> T>,
}

impl<T, S> TypedOperation<T, S> {
    pub(crate) fn new(backend: &Arc<S>) -> Self {
        Self {
            backend: Arc::clone(backend),
            what: PhantomData,
        }
    }
}

#[async_trait]
impl<R: Resource, S: List<R>> ErasedOperation<ListRequest, RawPage> for TypedOperation<R, S> {
    async fn call(&self, cx: &Context, request: ListRequest) -> Result<RawPage> {
        let page = self.backend.list(cx, &request).await;
        page.map(Page::into_raw)
            .map_err(with_operation(R::KIND, "list"))
    }
}

#[async_trait]
impl<R: Resource, S: Get<R>> ErasedOperation<RecordAddress, Option<RawRecord>>
    for TypedOperation<R, S>
{
    async fn call(&self, cx: &Context, at: RecordAddress) -> Result<Option<RawRecord>> {
        let record = self.backend.get(cx, &at).await;
        let record = record
            .map_err(with_operation(R::KIND, "read"))?
            .map(Record::into_raw);
        // A wrong parent in the path is 404, even if the backend did not check it.
        // Requirements: COL-19.
        Ok(record.filter(|record| at.matches_parent(record.parent())))
    }
}

#[async_trait]
impl<R: Resource, S: Find<R>> ErasedOperation<FindKey, Option<RawRecord>> for TypedOperation<R, S> {
    async fn call(&self, cx: &Context, key: FindKey) -> Result<Option<RawRecord>> {
        let record = self.backend.find(cx, &key).await;
        Ok(record
            .map_err(with_operation(R::KIND, "find"))?
            .map(Record::into_raw))
    }
}

#[async_trait]
impl<R: Resource, S: Create<R>> ErasedOperation<RawDraft, (RawRecord, bool)>
    for TypedOperation<R, S>
{
    async fn call(&self, cx: &Context, draft: RawDraft) -> Result<(RawRecord, bool)> {
        let request = CreateRequest::new(Draft::from_raw(draft));
        let created = self.backend.create(cx, request).await;
        let created = created.map_err(with_operation(R::KIND, "create"))?;
        Ok((created.record.into_raw(), created.is_new))
    }
}

#[async_trait]
impl<R: Resource, S: Update<R>> ErasedOperation<(RecordAddress, RawPatch), Option<RawRecord>>
    for TypedOperation<R, S>
{
    async fn call(
        &self,
        cx: &Context,
        (at, patch): (RecordAddress, RawPatch),
    ) -> Result<Option<RawRecord>> {
        let request = UpdateRequest::new(at, Patch::from_raw(patch));
        let updated = self.backend.update(cx, request).await;
        Ok(updated
            .map_err(with_operation(R::KIND, "update"))?
            .map(Record::into_raw))
    }
}

#[async_trait]
impl<R: Resource, S: Delete<R>> ErasedOperation<DeleteRequest, bool> for TypedOperation<R, S> {
    async fn call(&self, cx: &Context, request: DeleteRequest) -> Result<bool> {
        let deleted = self.backend.delete(cx, &request).await;
        deleted.map_err(with_operation(R::KIND, "delete"))
    }
}

#[async_trait]
impl<H: HelperSpec, S: Helper<H>> ErasedOperation<RawHelperRequest, RawHelperOutcome>
    for TypedOperation<H, S>
{
    async fn call(&self, cx: &Context, plan: RawHelperRequest) -> Result<RawHelperOutcome> {
        let done = self.backend.run(cx, HelperRequest::from_raw(plan)).await;
        done.map(HelperOutcome::into_raw)
            .map_err(with_helper(H::NAME))
    }
}

/// Adds the operation of a kind to an error.
pub(crate) fn with_operation(kind: Kind, operation: &'static str) -> impl FnOnce(Error) -> Error {
    move |error| in_operation(error, || format!("{}.{operation}", kind.plural()))
}

/// Adds the helper to an error.
pub(crate) fn with_helper(helper: HelperName) -> impl FnOnce(Error) -> Error {
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

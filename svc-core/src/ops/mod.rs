//! The operations that a backend implements, each generic over the kind of resource. What is
//! implemented and registered is what the server supports.
//!
//! A store with `impl<R: Resource> Get<R> for Store` cannot also have its own `Get<Person>`: the
//! special case lives in a type of its own (`struct People(Store)`), registered for that kind. Over
//! a trait of the vendor's own there is no such limit: `impl<R: Stored> Create<R> for Store` and
//! `impl Create<Tagging> for Store` stand side by side, where `trait Stored: Resource` is the
//! vendor's and `Tagging` does not implement it.
//!
//! A type that wraps a backend, to count or to log, forwards what is registered of it, and of the
//! methods that have a default [`Create::checks_container`], [`Helper::checks_container`],
//! [`Transactions::lock`], [`Transactions::savepoint`], [`Transactions::rollback`] and
//! [`ChangeFeed::subscribe`], too. It hands the [`Context`] on as it came: the transaction of the
//! call is in it. What an operation is asked comes as one value that can grow ([`ListRequest`],
//! [`CreateRequest`], [`UpdateRequest`], [`DeleteRequest`]); a read needs an [`RecordAddress`] and
//! nothing else.
//!
//! Requirements: CAP-04.

mod changes;
mod helper;
mod idempotency;
mod lock;
mod requests;
mod revision;
mod transactions;
#[cfg(feature = "webhooks")]
mod webhooks;

use async_trait::async_trait;

pub use changes::{
    ChangeFeed, ChangeKind, FeedEntry, FeedPage, FeedRequest, FeedResponse, RecordChange,
};
pub use helper::Helper;
pub use idempotency::IdempotencyStore;
pub use lock::LockKey;
pub use requests::{CreateRequest, DeleteRequest, UpdateRequest};
pub use revision::RevisionSource;
pub(crate) use transactions::{ErasedTransactions, TransactionEnd};
pub use transactions::{SavepointAction, Transactions};
#[cfg(feature = "webhooks")]
pub use webhooks::{StoredWebhook, WebhookStore, WebhookWrite};

pub use svc_rules::{
    outbox::{
        Backoff, Deliver, DeliveryOutcome, Notifier, OutboxEntry, OutboxPayload, Subscription,
    },
    store::StoredResponse,
};

use crate::{
    context::Context,
    error::Result,
    helper::MatchKey,
    link::RecordAddress,
    model::Resource,
    page::{ListRequest, Page},
    record::Record,
};

/// Reads collections of a kind.
///
/// # Behaviour
///
/// - Only records of `cx.tenant`, in creation order, then by id; the order is stable while others
///   write.
/// - [`Page::total`] is exact: counted by an index where other programs write the same rows, kept
///   as a counter by a store that alone writes them. A page beyond the last is empty.
/// - For a [`Scope::Under`](crate::link::Scope::Under) a record that does not exist for the tenant,
///   or whose parent is another than its address says, is
///   [`ErrorKind::NotFound`](crate::ErrorKind::NotFound).
///
/// # Examples
///
/// ```
///
/// Requirements: COL-01 to COL-31, UND-20, COL-23, UND-19.
#[doc = include_str!("labels.md")]
///
/// #[async_trait]
/// impl List<Tag> for Labels { async fn list(&self, cx: &Context, request: &ListRequest) ->
/// Result<Page<Tag>> { let (rows, page) = (self.rows(), &request.page); // SELECT ... WHERE company
/// = $1 ORDER BY number LIMIT {page.size} OFFSET {page.offset()} let own: Vec<_> =
/// rows.iter().filter(|((company, _), _)| *company == cx.tenant).collect(); let (first, size) =
/// (usize::try_from(page.records_before())?, usize::try_from(page.size)?); let shown =
/// own.iter().skip(first).take(size).map(|((_, no), label)| label.record(*no));
/// Ok(Page::new(shown.collect(), own.len().try_into()?)) } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let first = ListRequest::all(PageRequest::new(1, 25));
/// assert_eq!(labels.list(&cx, &first).await?.total, 1);
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot list `{R}`, so `.list()` and `.list_under()` cannot be registered for it",
    label = "missing `impl List<{R}> for {Self}`",
    note = "implement `svc_core::List<{R}>` for `{Self}`, or do not register the operation: then it does not exist"
)]
pub trait List<R: Resource>: Send + Sync {
    /// One page of a collection.
    async fn list(&self, cx: &Context, request: &ListRequest) -> Result<Page<R>>;
}

/// Reads one record.
///
/// # Behaviour
///
/// - `None` when the record does not exist for `cx.tenant`, or its parent is another than the
///   address says.
///
/// # Examples
///
/// ```
///
/// Requirements: COL-03, COL-19.
#[doc = include_str!("labels.md")]
///
/// #[async_trait]
/// impl Get<Tag> for Labels {
///     async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<Tag>>> {
///         // An id that is no number is no id of this vendor's: nothing is found.
///         let Some(no) = at.id.number() else { return Ok(None) };
///         Ok(self.rows().get(&(cx.tenant.clone(), no)).map(|label| label.record(no)))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let found = labels.get(&cx, &RecordAddress::top(Kind::Tag, 7.into())).await?;
/// assert_eq!(found.and_then(|tag| tag.fields().name).as_deref(), Some("news"));
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot read one `{R}`, so `.get()` cannot be registered for it",
    label = "missing `impl Get<{R}> for {Self}`",
    note = "implement `svc_core::Get<{R}>` for `{Self}`, or do not register the operation: then it does not exist"
)]
pub trait Get<R: Resource>: Send + Sync {
    /// The record at this address.
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<R>>>;
}

/// Creates records.
///
/// # Behaviour
///
/// - Everything or nothing is stored, and it is durable before the answer.
/// - The draft's links have the right kinds; one that leads nowhere for `cx.tenant` is
///   [`ErrorCode::PersonNotFound`](crate::ErrorCode::PersonNotFound) or `LinkNotFound`; a missing
///   container is [`ErrorKind::NotFound`](crate::ErrorKind::NotFound).
/// - A foreign identifier that another record of the kind has is `IdentifierInUse`, naming
///   `identifiers[<n>]`.
///
/// # Examples
///
/// ```
///
/// Requirements: CRU-01, CRU-13, ERR-04, CRU-21, CRU-02, UND-24.
#[doc = include_str!("labels.md")]
///
/// #[async_trait]
/// impl Create<Tag> for Labels { async fn create(&self, cx: &Context, request: CreateRequest<Tag>)
/// -> Result<Created<Tag>> { let mut rows = self.rows(); let no = rows.keys().map(|(_, no)| no +
/// 1).max().unwrap_or(1); let label = Label { name: request.draft.fields().name, made:
/// cx.received_at, changed: cx.received_at }; let record = label.record(no);
/// rows.insert((cx.tenant.clone(), no), label); Ok(Created::new(record)) } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let draft = Draft::new(&Tag::default().name("events"));
/// assert!(labels.create(&cx, CreateRequest::new(draft)).await?.is_new);
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot create `{R}`, so `.create()` cannot be registered for it",
    label = "missing `impl Create<{R}> for {Self}`",
    note = "implement `svc_core::Create<{R}>` for `{Self}`, or do not register the operation: then it does not exist"
)]
pub trait Create<R: Resource>: Send + Sync {
    /// Creates the record.
    async fn create(&self, cx: &Context, request: CreateRequest<R>) -> Result<Created<R>>;

    /// Whether [`create`](Self::create) finds the container of a nested create itself and answers a
    /// missing one with [`ErrorKind::NotFound`](crate::ErrorKind::NotFound). The library then does
    /// not look it up before: one read less.
    fn checks_container(&self) -> bool {
        false
    }
}

/// What a create gave.
#[derive(Debug)]
#[non_exhaustive]
pub struct Created<R> {
    /// The record.
    pub record: Record<R>,
    /// Whether it was made by this create: 201, and 200 for the membership that was there already.
    ///
    /// Requirements: CRU-13, UND-38.
    pub is_new: bool,
}

impl<R: Resource> Created<R> {
    /// A new record: 201.
    ///
    /// Requirements: CRU-13.
    #[must_use]
    pub fn new(record: Record<R>) -> Self {
        Self {
            record,
            is_new: true,
        }
    }

    /// The membership that was there already: 200.
    ///
    /// Requirements: UND-38.
    #[must_use]
    pub fn existing(record: Record<R>) -> Self {
        Self {
            record,
            is_new: false,
        }
    }
}

/// Changes records with the meaning of a JSON Merge Patch.
///
/// # Behaviour
///
/// - `None` when the record does not exist for `cx.tenant`, or its parent is another than the
///   address says.
/// - Everything or nothing is changed; `modified` increases strictly, `created` stays.
/// - The record's own identifier stays whatever was sent.
/// - [`UpdateRequest::check_expected_state`] comes before the change, in the same transaction: a
///   helper that is composed of operations, and a client that sends `If-Match`, have read the
///   record before, and what somebody else has written since must not be undone.
///
/// # Examples
///
/// ```
///
/// Requirements: CRU-15 to CRU-20, CRU-19, TYP-15, UND-25.
#[doc = include_str!("labels.md")]
///
/// #[async_trait]
/// impl Update<Tag> for Labels { async fn update(&self, cx: &Context, request: UpdateRequest<Tag>)
/// -> Result<Option<Record<Tag>>> { let Some(no) = request.address.id.number() else { return
/// Ok(None) }; let mut rows = self.rows(); let Some(label) = rows.get_mut(&(cx.tenant.clone(), no))
/// else { return Ok(None) }; request.check_expected_state(label.changed)?; // What was not sent
/// stays as it is. label.name = request.patch.apply(&label.record(no).fields(),
/// cx.received_at)?.name; label.changed = cx.received_at.after(label.changed);
/// Ok(Some(label.record(no))) } }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let fields = Draft::new(&Tag::default().name("press")).into_raw().fields; let patch =
/// Patch::from_raw(raw::RawPatch::new(Kind::Tag, fields)); let changed = labels.update(&cx,
/// UpdateRequest::new(RecordAddress::top(Kind::Tag, 7.into()), patch)).await?;
/// assert_eq!(changed.and_then(|tag| tag.fields().name).as_deref(), Some("press"));
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot change `{R}`, so `.update()` cannot be registered for it",
    label = "missing `impl Update<{R}> for {Self}`",
    note = "implement `svc_core::Update<{R}>` for `{Self}`, or do not register the operation: then it does not exist"
)]
pub trait Update<R: Resource>: Send + Sync {
    /// Changes the record and gives it as it is now.
    async fn update(&self, cx: &Context, request: UpdateRequest<R>) -> Result<Option<Record<R>>>;
}

/// Deletes records.
///
/// # Behaviour
///
/// - `false` when the record does not exist for `cx.tenant`, or its parent is another than the
///   address says.
/// - A container with actions is [`ErrorCode::HasDependents`](crate::ErrorCode::HasDependents).
/// - [`DeleteRequest::check_expected_state`] comes before the deletion, in the same transaction, as
///   with a change.
///
/// # Examples
///
/// ```
///
/// Requirements: CRU-05, UND-26.
#[doc = include_str!("labels.md")]
///
/// #[async_trait]
/// impl Delete<Tag> for Labels {
///     async fn delete(&self, cx: &Context, request: &DeleteRequest) -> Result<bool> {
///         let Some(no) = request.address.id.number() else { return Ok(false) };
///         let (mut rows, key) = (self.rows(), (cx.tenant.clone(), no));
///         let Some(label) = rows.get(&key) else { return Ok(false) };
///         request.check_expected_state(label.changed)?;
///         Ok(rows.remove(&key).is_some())
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let request = DeleteRequest::new(RecordAddress::top(Kind::Tag, 7.into()));
/// assert!(labels.delete(&cx, &request).await? && !labels.delete(&cx, &request).await?);
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot delete `{R}`, so `.delete()` cannot be registered for it",
    label = "missing `impl Delete<{R}> for {Self}`",
    note = "implement `svc_core::Delete<{R}>` for `{Self}`, or do not register the operation: then it does not exist"
)]
pub trait Delete<R: Resource>: Send + Sync {
    /// Deletes the record.
    async fn delete(&self, cx: &Context, request: &DeleteRequest) -> Result<bool>;
}

/// Looks records up, for the composed helpers.
///
/// # Behaviour
///
/// - Only records of `cx.tenant`; of several, the oldest.
/// - A key that this kind does not have (a tag has no e-mail address) finds nothing.
///
/// # Examples
///
/// ```
///
/// Requirements: HAF-02, HAF-05, HAF-08, HLP-04.
#[doc = include_str!("labels.md")]
///
/// #[async_trait]
/// impl Find<Tag> for Labels {
///     async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<Record<Tag>>> {
///         // These labels have no identifiers.
///         let FindKey::Name(name) = key else { return Ok(None) };
///         let rows = self.rows();
///         let mut own = rows.iter().filter(|((company, _), _)| *company == cx.tenant);
///         let found = own.find(|(_, label)| label.name.as_deref() == Some(name));
///         Ok(found.map(|((_, no), label)| label.record(*no)))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// assert!(labels.find(&cx, &FindKey::Name("news".into())).await?.is_some());
/// assert!(labels.find(&cx, &FindKey::Name("nobody".into())).await?.is_none());
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot look `{R}` up, so `.find()` cannot be registered for it",
    label = "missing `impl Find<{R}> for {Self}`",
    note = "implement `svc_core::Find<{R}>` for `{Self}`: by name, identifier or e-mail address"
)]
pub trait Find<R: Resource>: Send + Sync {
    /// The oldest record with this key.
    async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<Record<R>>>;
}

/// What a record is looked up by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindKey {
    /// By its `name`, compared exactly.
    Name(String),
    /// By a key of person matching, an identifier among them.
    Match(MatchKey),
}

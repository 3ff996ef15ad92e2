//! The operations that a backend implements, each generic over the kind of resource.
//!
//! The server offers every operation that is implemented and registered.
//!
//! A store with `impl<R: Resource> Get<R> for Store` cannot also have its own `Get<Person>`. Put
//! the special case into a type of its own (`struct People(Store)`) and register it for that kind.
//! A trait of the vendor does not have this limit. `impl<R: Stored> Create<R> for Store` and
//! `impl Create<Tagging> for Store` can coexist if `trait Stored: Resource` is the vendor's and
//! `Tagging` does not implement it.
//!
//! A type that wraps a backend, to count or to log, forwards every operation that is registered
//! with it. It also forwards these methods, which have a default: [`Create::checks_container`],
//! [`Helper::checks_container`], [`Transactions::lock`], [`Transactions::savepoint`],
//! [`Transactions::rollback`] and [`ChangeFeed::subscribe`]. It passes the [`Context`] on
//! unchanged, because the context contains the transaction of the request.
//!
//! The arguments of an operation are one value that can get more fields ([`ListRequest`],
//! [`CreateRequest`], [`UpdateRequest`], [`DeleteRequest`]). A read of one record needs only a
//! [`RecordAddress`].
//!
//! Requirements: CAP-04.

mod change_feed;
mod event_type;
mod helper;
mod idempotency;
mod lock_key;
mod merge;
mod requests;
mod revision;
mod transactions;
#[cfg(feature = "webhooks")]
mod webhooks;

use async_trait::async_trait;

pub use crate::filter::FindKey;
pub use change_feed::{
    ChangeFeed, ChangeKind, FeedEntry, FeedPage, FeedRequest, FeedResponse, RecordChange,
};
pub use event_type::EventType;
pub use helper::Helper;
pub use idempotency::IdempotencyStore;
pub use lock_key::LockKey;
pub use merge::{MergePeople, MergedPeople, PeopleMerge};
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
    link::RecordAddress,
    model::Resource,
    page::{ListRequest, Page},
    record::Record,
};

/// Reads collections of a kind.
///
/// # Behaviour
///
/// - A page has only records of `cx.tenant()`, in creation order, then by id. The order is stable
///   during concurrent writes.
/// - [`Page::total`] is exact. A store that is the only writer can use a counter; otherwise count
///   with an index. A page after the last one is empty.
/// - For a [`Scope::Under`](crate::link::Scope::Under), return
///   [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the record does not exist for the
///   tenant, or if its parent differs from its address.
///
/// # Examples
///
/// ```
#[doc = include_str!("labels.md")]
///
/// #[async_trait]
/// impl List<Tag> for Labels {
///     async fn list(&self, cx: &Context, request: &ListRequest) -> Result<Page<Tag>> {
///         let (rows, page) = (self.rows(), &request.page);
///         // SELECT ... WHERE company = $1 ORDER BY number LIMIT {page.size} OFFSET {page.offset()}
///         let own: Vec<_> = rows.iter().filter(|((company, _), _)| *company == *cx.tenant()).collect();
///         let (first, size) = (usize::try_from(page.records_before())?, usize::try_from(page.size)?);
///         let shown = own.iter().skip(first).take(size).map(|((_, no), label)| label.record(*no));
///         Ok(Page::new(shown.collect(), own.len().try_into()?))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let first = ListRequest::all(PageRequest::new(1, 25));
/// assert_eq!(labels.list(&cx, &first).await?.total, 1);
/// # Ok(())
/// # }
/// ```
///
/// Requirements: COL-01 to COL-31, UND-20, COL-23, UND-19.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot list `{R}`, so `.list()` and `.list_under()` cannot be registered for it",
    label = "missing `impl List<{R}> for {Self}`",
    note = "implement `svc_core::List<{R}>` for `{Self}`, or do not register the operation: the server then does not offer it"
)]
pub trait List<R: Resource>: Send + Sync {
    /// Returns one page of a collection.
    async fn list(&self, cx: &Context, request: &ListRequest) -> Result<Page<R>>;
}

/// Reads one record.
///
/// # Behaviour
///
/// - Return `None` if the record does not exist for `cx.tenant()`, or if its parent differs from the
///   address.
///
/// # Examples
///
/// ```
#[doc = include_str!("labels.md")]
///
/// #[async_trait]
/// impl Get<Tag> for Labels {
///     async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<Tag>>> {
///         // Ids of this vendor are numbers, so any other id finds nothing.
///         let Some(no) = at.id.as_number() else { return Ok(None) };
///         Ok(self.rows().get(&(cx.tenant().clone(), no)).map(|label| label.record(no)))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let found = labels.get(&cx, &RecordAddress::without_parent(Kind::Tag, 7.into())).await?;
/// assert_eq!(found.and_then(|tag| tag.fields().name).as_deref(), Some("news"));
/// # Ok(())
/// # }
/// ```
///
/// Requirements: COL-03, COL-19.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot read one `{R}`, so `.get()` cannot be registered for it",
    label = "missing `impl Get<{R}> for {Self}`",
    note = "implement `svc_core::Get<{R}>` for `{Self}`, or do not register the operation: the server then does not offer it"
)]
pub trait Get<R: Resource>: Send + Sync {
    /// Returns the record at this address.
    async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<R>>>;
}

/// Creates records.
///
/// # Behaviour
///
/// - The create is all or nothing, and it is durable before the method returns.
/// - The links of the draft have the right kinds. If a linked record does not exist for
///   `cx.tenant()`, return [`ErrorCode::PersonNotFound`](crate::ErrorCode::PersonNotFound) or
///   `LinkNotFound`. If the container is missing, return
///   [`ErrorKind::NotFound`](crate::ErrorKind::NotFound).
/// - If another record of the kind already has a foreign identifier of the draft, return
///   `IdentifierInUse` and name `identifiers[<n>]`.
/// - A donation has the currency of its page. The library checks this if it can read the page. If the
///   page has no currency, set that of the donation in the same transaction.
///
/// # Examples
///
/// ```
#[doc = include_str!("labels.md")]
///
/// #[async_trait]
/// impl Create<Tag> for Labels {
///     async fn create(&self, cx: &Context, request: CreateRequest<Tag>) -> Result<Created<Tag>> {
///         let mut rows = self.rows();
///         let no = rows.keys().map(|(_, no)| no + 1).max().unwrap_or(1);
///         let label = Label { name: request.draft.fields().name, made: cx.received_at(), changed: cx.received_at() };
///         let record = label.record(no);
///         rows.insert((cx.tenant().clone(), no), label);
///         Ok(Created::new(record))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let draft = Draft::new(&Tag::default().name("events"));
/// assert!(labels.create(&cx, CreateRequest::new(draft)).await?.is_new);
/// # Ok(())
/// # }
/// ```
///
/// Requirements: CRU-01, CRU-13, ERR-04, CRU-21, CRU-02, UND-24.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot create `{R}`, so `.create()` cannot be registered for it",
    label = "missing `impl Create<{R}> for {Self}`",
    note = "implement `svc_core::Create<{R}>` for `{Self}`, or do not register the operation: the server then does not offer it"
)]
pub trait Create<R: Resource>: Send + Sync {
    /// Creates the record.
    async fn create(&self, cx: &Context, request: CreateRequest<R>) -> Result<Created<R>>;

    /// Returns whether [`create`](Self::create) itself checks the container of a nested create and
    /// returns [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if it is missing.
    ///
    /// The library then does not read the container first, which saves one read, and does not compare
    /// the currency of a donation with that of its page. The default is `false`.
    fn checks_container(&self) -> bool {
        false
    }
}

/// The result of a create.
#[derive(Debug)]
#[non_exhaustive]
pub struct Created<R> {
    /// The record.
    pub record: Record<R>,
    /// Whether this create made the record (201). It is `false` for a membership that already
    /// existed (200).
    ///
    /// Requirements: CRU-13, UND-38.
    pub is_new: bool,
}

impl<R: Resource> Created<R> {
    /// Returns the result for a new record (201).
    ///
    /// Requirements: CRU-13.
    #[must_use]
    pub fn new(record: Record<R>) -> Self {
        Self {
            record,
            is_new: true,
        }
    }

    /// Returns the result for a membership that already existed (200).
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
/// - Return `None` if the record does not exist for `cx.tenant()`, or if its parent differs from the
///   address.
/// - The change is all or nothing. If a value changes, `modified` strictly increases; otherwise it may
///   stay the same. `created` does not change.
/// - A change that leaves every value as it is does not reach this operation: the library compares it
///   with the record that [`Get`] returns. It cannot do so if the kind has no `Get`, or if clients can
///   send a value that they cannot read. Call
///   [`Patch::is_empty_against`](crate::Patch::is_empty_against) then, to change nothing.
/// - The record's own identifier never changes, whatever the client sends.
/// - Change the links in [`Patch::links`](crate::Patch::links), such as the person of a moved action. If
///   the returned record has another target of a sent link, the response warns that the link is
///   read-only. A record without the link causes no warning.
/// - Call [`UpdateRequest::check_expected_state`] before the change, in the same transaction. A
///   composed helper, or a client that sends `If-Match`, has read the record earlier. The check
///   prevents that it overwrites a concurrent write.
///
/// # Examples
///
/// ```
#[doc = include_str!("labels.md")]
///
/// #[async_trait]
/// impl Update<Tag> for Labels {
///     async fn update(&self, cx: &Context, request: UpdateRequest<Tag>) -> Result<Option<Record<Tag>>> {
///         let Some(no) = request.address.id.as_number() else { return Ok(None) };
///         let mut rows = self.rows();
///         let Some(label) = rows.get_mut(&(cx.tenant().clone(), no)) else { return Ok(None) };
///         request.check_expected_state(label.changed)?;
///         // Fields that were not sent do not change.
///         label.name = request.patch.apply(&label.record(no).fields(), cx.received_at())?.name;
///         label.changed = cx.received_at().at_least_after(label.changed);
///         Ok(Some(label.record(no)))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let fields = Draft::new(&Tag::default().name("press")).into_raw().fields;
/// let patch = Patch::from_raw(raw::RawPatch::new(Kind::Tag, fields));
/// let changed = labels.update(&cx, UpdateRequest::new(RecordAddress::without_parent(Kind::Tag, 7.into()), patch)).await?;
/// assert_eq!(changed.and_then(|tag| tag.fields().name).as_deref(), Some("press"));
/// # Ok(())
/// # }
/// ```
///
/// The library does not compare the currency of a changed donation with that of its page.
///
/// Requirements: CRU-15 to CRU-20, CRU-19, TYP-15, UND-22, UND-25.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot change `{R}`, so `.update()` cannot be registered for it",
    label = "missing `impl Update<{R}> for {Self}`",
    note = "implement `svc_core::Update<{R}>` for `{Self}`, or do not register the operation: the server then does not offer it"
)]
pub trait Update<R: Resource>: Send + Sync {
    /// Changes the record and returns its new state.
    async fn update(&self, cx: &Context, request: UpdateRequest<R>) -> Result<Option<Record<R>>>;
}

/// Deletes records.
///
/// # Behaviour
///
/// - Return `false` if the record does not exist for `cx.tenant()`, or if its parent differs from the
///   address.
/// - For a container with actions, return
///   [`ErrorCode::HasDependents`](crate::ErrorCode::HasDependents).
/// - Call [`DeleteRequest::check_expected_state`] before the deletion, in the same transaction, as
///   for a change.
///
/// # Examples
///
/// ```
#[doc = include_str!("labels.md")]
///
/// #[async_trait]
/// impl Delete<Tag> for Labels {
///     async fn delete(&self, cx: &Context, request: &DeleteRequest) -> Result<bool> {
///         let Some(no) = request.address.id.as_number() else { return Ok(false) };
///         let (mut rows, key) = (self.rows(), (cx.tenant().clone(), no));
///         let Some(label) = rows.get(&key) else { return Ok(false) };
///         request.check_expected_state(label.changed)?;
///         Ok(rows.remove(&key).is_some())
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let request = DeleteRequest::new(RecordAddress::without_parent(Kind::Tag, 7.into()));
/// assert!(labels.delete(&cx, &request).await? && !labels.delete(&cx, &request).await?);
/// # Ok(())
/// # }
/// ```
///
/// Requirements: CRU-05, UND-26.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot delete `{R}`, so `.delete()` cannot be registered for it",
    label = "missing `impl Delete<{R}> for {Self}`",
    note = "implement `svc_core::Delete<{R}>` for `{Self}`, or do not register the operation: the server then does not offer it"
)]
pub trait Delete<R: Resource>: Send + Sync {
    /// Deletes the record.
    async fn delete(&self, cx: &Context, request: &DeleteRequest) -> Result<bool>;
}

/// Finds records by a key, for composed helpers, and for the former addresses of merged people.
///
/// # Behaviour
///
/// - Return only records of `cx.tenant()`. If several records match, return the oldest.
/// - Find a person by each of its identifiers. After a [merge](MergePeople), the own identifier of the
///   merged person is one of them. The library then finds the remaining person by it, for requests that
///   name the merged person.
/// - A key that this kind does not have finds nothing. For example, a tag has no e-mail address.
/// - A name can be compared without regard to case, as in the stores of this library. Prefer the record
///   with exactly the name. The library does not use this operation to check that the name of a new
///   record is unique: your `Create` and `Update` return
///   [`NameInUse`](crate::error::ErrorCode::NameInUse).
///
/// # Examples
///
/// ```
#[doc = include_str!("labels.md")]
///
/// #[async_trait]
/// impl Find<Tag> for Labels {
///     async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<Record<Tag>>> {
///         // These labels have no identifiers.
///         let FindKey::Name(name) = key else { return Ok(None) };
///         let rows = self.rows();
///         let mut own = rows.iter().filter(|((company, _), _)| *company == *cx.tenant());
///         let found = own.find(|(_, label)| label.name.as_deref() == Some(name));
///         Ok(found.map(|((_, no), label)| label.record(*no)))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// assert!(labels.find(&cx, &FindKey::Name("news".into())).await?.is_some());
/// assert!(labels.find(&cx, &FindKey::Name("unknown".into())).await?.is_none());
/// # Ok(())
/// # }
/// ```
///
/// Requirements: HAF-02, HAF-05, HAF-08, HLP-04.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot look up `{R}`, so `.find()` cannot be registered for it",
    label = "missing `impl Find<{R}> for {Self}`",
    note = "implement `svc_core::Find<{R}>` for `{Self}`: by name, identifier or e-mail address"
)]
pub trait Find<R: Resource>: Send + Sync {
    /// Returns the oldest record with this key.
    async fn find(&self, cx: &Context, key: &FindKey) -> Result<Option<Record<R>>>;
}

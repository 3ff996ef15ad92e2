//! The operations that a backend implements, each generic over the kind of resource. What is implemented and registered
//! is what the server supports (CAP-04).
//!
//! A store with `impl<R: Resource> Get<R> for Store` cannot also have its own `Get<Person>`: the special case lives in a
//! type of its own (`struct People(Store)`), registered for that kind. Over a trait of the vendor's own, such as `impl<R:
//! Mapped> Get<R> for Store`, the special case is a kind that does not have that trait.
//!
//! A type that wraps a backend, to count or to log, forwards what is registered of it, and of the methods that have a
//! default [`Create::finds_container`], [`Helper::finds_container`] and [`Transactions::rollback`], too. It hands the
//! [`Context`] on as it came: the transaction of the call is in it.
//!
//! What an operation is asked comes as one value that can grow ([`ListRequest`], [`CreateRequest`], [`UpdateRequest`],
//! [`DeleteRequest`]); a read needs an [`Address`] and nothing else.

mod requests;

use std::sync::Arc;

use async_trait::async_trait;

pub use requests::{CreateRequest, DeleteRequest, UpdateRequest};

use crate::{
    context::Context,
    error::{Error, Result},
    helper::{HelperSpec, MatchKey, Outcome, Plan},
    link::Address,
    model::Resource,
    page::{ListRequest, Page},
    record::Record,
};

/// Reads collections of a kind (COL-01 to COL-31).
///
/// # Behaviour
///
/// - Only records of `cx.tenant`, in creation order, then by id; the order is stable while others write (UND-20).
/// - `Page::total` is exact and never counted anew; a page beyond the last is empty (UND-19).
/// - For a [`Scope::Under`](crate::link::Scope::Under) a record that does not exist for the tenant, or whose parent is
///   another than its address says, is [`ErrorKind::NotFound`](crate::ErrorKind::NotFound).
///
/// # Examples
///
/// ```
#[doc = include_str!("ops/labels.md")]
///
/// #[async_trait]
/// impl List<Tag> for Labels {
///     async fn list(&self, cx: &Context, request: &ListRequest) -> Result<Page<Tag>> {
///         let (rows, page) = (self.rows(), &request.page);
///         // SELECT ... WHERE company = $1 ORDER BY number LIMIT {page.size} OFFSET {page.offset()}
///         let own: Vec<_> = rows.iter().filter(|((company, _), _)| *company == cx.tenant).collect();
///         let (first, size) = (usize::try_from(page.skipped())?, usize::try_from(page.size)?);
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
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot list `{R}`, so `.list()` and `.under()` cannot be registered for it",
    label = "missing `impl List<{R}> for {Self}`",
    note = "implement `svc_core::List<{R}>` for `{Self}`, or do not register the operation: then it does not exist"
)]
pub trait List<R: Resource>: Send + Sync {
    /// One page of a collection.
    async fn list(&self, cx: &Context, request: &ListRequest) -> Result<Page<R>>;
}

/// Reads one record (COL-03).
///
/// # Behaviour
///
/// - `None` when the record does not exist for `cx.tenant`, or its parent is another than the address says (COL-19).
///
/// # Examples
///
/// ```
#[doc = include_str!("ops/labels.md")]
///
/// #[async_trait]
/// impl Get<Tag> for Labels {
///     async fn get(&self, cx: &Context, at: &Address) -> Result<Option<Record<Tag>>> {
///         // An id that is no number is no id of this vendor's: nothing is found.
///         let Some(no) = at.id.number() else { return Ok(None) };
///         Ok(self.rows().get(&(cx.tenant.clone(), no)).map(|label| label.record(no)))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let found = labels.get(&cx, &Address::top(Kind::Tag, 7.into())).await?;
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
    async fn get(&self, cx: &Context, at: &Address) -> Result<Option<Record<R>>>;
}

/// Creates records (CRU-01, CRU-13).
///
/// # Behaviour
///
/// - Everything or nothing is stored (ERR-04, CRU-21), and it is durable before the answer.
/// - The draft's links have the right kinds; one that leads nowhere for `cx.tenant` is
///   [`Code::PersonNotFound`](crate::Code::PersonNotFound) or `LinkNotFound` (CRU-02); a missing container is
///   [`ErrorKind::NotFound`](crate::ErrorKind::NotFound).
/// - A foreign identifier that another record of the kind has is `IdentifierInUse`, naming `identifiers[<n>]` (UND-24).
///
/// # Examples
///
/// ```
#[doc = include_str!("ops/labels.md")]
///
/// #[async_trait]
/// impl Create<Tag> for Labels {
///     async fn create(&self, cx: &Context, request: CreateRequest<Tag>) -> Result<Created<Tag>> {
///         let mut rows = self.rows();
///         let no = rows.keys().map(|(_, no)| no + 1).max().unwrap_or(1);
///         let label = Label { name: request.draft.fields().name, made: cx.now, changed: cx.now };
///         let record = label.record(no);
///         rows.insert((cx.tenant.clone(), no), label);
///         Ok(Created::new(record))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let draft = Draft::new(&Tag { name: Some("events".into()), ..Tag::default() });
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

    /// Whether [`create`](Self::create) finds the container of a nested create itself and answers a missing one with
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound). The library then does not look it up before: one read less.
    fn finds_container(&self) -> bool {
        false
    }
}

/// What a create gave.
#[derive(Debug)]
#[non_exhaustive]
pub struct Created<R> {
    /// The record.
    pub record: Record<R>,
    /// Whether it was made by this create: 201 (CRU-13), and 200 for the membership that was there already (UND-38).
    pub is_new: bool,
}

impl<R: Resource> Created<R> {
    /// A new record: 201 (CRU-13).
    #[must_use]
    pub fn new(record: Record<R>) -> Self {
        Self { record, is_new: true }
    }

    /// The membership that was there already: 200 (UND-38).
    #[must_use]
    pub fn existing(record: Record<R>) -> Self {
        Self { record, is_new: false }
    }
}

/// Changes records with the meaning of a JSON Merge Patch (CRU-15 to CRU-20).
///
/// # Behaviour
///
/// - `None` when the record does not exist for `cx.tenant`, or its parent is another than the address says.
/// - Everything or nothing is changed; `modified` increases strictly (CRU-19), `created` stays (TYP-15).
/// - The record's own identifier stays whatever was sent (UND-25).
///
/// # Examples
///
/// ```
#[doc = include_str!("ops/labels.md")]
///
/// #[async_trait]
/// impl Update<Tag> for Labels {
///     async fn update(&self, cx: &Context, request: UpdateRequest<Tag>) -> Result<Option<Record<Tag>>> {
///         let Some(no) = request.at.id.number() else { return Ok(None) };
///         let mut rows = self.rows();
///         let Some(label) = rows.get_mut(&(cx.tenant.clone(), no)) else { return Ok(None) };
///         // What was not sent stays as it is.
///         label.name = request.patch.apply(&label.record(no).fields(), cx.now)?.name;
///         label.changed = cx.now.after(label.changed);
///         Ok(Some(label.record(no)))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let fields = Draft::new(&Tag { name: Some("press".into()), ..Tag::default() }).into_raw().fields;
/// let patch = Patch::from_raw(RawPatch::new(Kind::Tag, fields));
/// let changed = labels.update(&cx, UpdateRequest::new(Address::top(Kind::Tag, 7.into()), patch)).await?;
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

/// Deletes records (CRU-05, UND-26).
///
/// # Behaviour
///
/// - `false` when the record does not exist for `cx.tenant`, or its parent is another than the address says.
/// - A container with actions is [`Code::HasDependents`](crate::Code::HasDependents).
///
/// # Examples
///
/// ```
#[doc = include_str!("ops/labels.md")]
///
/// #[async_trait]
/// impl Delete<Tag> for Labels {
///     async fn delete(&self, cx: &Context, request: &DeleteRequest) -> Result<bool> {
///         let Some(no) = request.at.id.number() else { return Ok(false) };
///         Ok(self.rows().remove(&(cx.tenant.clone(), no)).is_some())
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let (labels, cx) = Labels::with_one();
///
/// let request = DeleteRequest::new(Address::top(Kind::Tag, 7.into()));
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

/// Looks records up, for the composed helpers (HAF-02, HAF-05, HAF-08, HLP-04).
///
/// # Behaviour
///
/// - Only records of `cx.tenant`; of several, the oldest.
/// - A key that this kind does not have (a tag has no e-mail address) finds nothing.
///
/// # Examples
///
/// ```
#[doc = include_str!("ops/labels.md")]
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

/// Runs a helper natively (HLP-01 to HLP-23).
///
/// # Behaviour
///
/// - A missing container is [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) (HLP-23); where [`Get`] is registered and
///   [`finds_container`](Self::finds_container) is not true, the library has looked before the call.
/// - An action that cannot be stored stores nothing: [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) (HLP-10). What only the
///   store knows of a tag, a list, a question or a response key fails its own entry of the outcome; person and action
///   stay, unless [`RawPlan::atomic`](crate::helper::RawPlan::atomic) (ERR-34).
/// - Functions that were not named with [`ApiBuilder::functions`](crate::ApiBuilder::functions) are not in the plan: the
///   library reports them (ERR-38).
/// - An action identifier that is known under the same container updates that action instead of recording a second one,
///   so that a retry is safe (UND-24).
///
/// # Examples
///
/// ```
/// # use std::{collections::BTreeMap, sync::{Mutex, PoisonError}};
/// # use async_trait::async_trait;
/// # use svc_core::{*, auth::{Caller, Rights}, draft::*, helper::*, model::{Kind, Person}, record::Meta, value::Timestamp};
/// /// The numbers of subscribers by address.
/// #[derive(Default)]
/// struct Newsletter(Mutex<BTreeMap<String, i64>>);
///
/// #[async_trait]
/// impl Helper<PersonSignup> for Newsletter {
///     async fn run(&self, cx: &Context, plan: Plan<PersonSignup>) -> Result<Outcome<PersonSignup>> {
///         let person = plan.required_person()?;
///         let missing = || Problem::new(Code::FieldRequired, "person.email_addresses", "An address is required.");
///         let email = emails(&person.fields).next().ok_or_else(|| Error::invalid(missing()))?;
///         // One lock around both: two sign-ups at once are one subscriber.
///         let mut subscribers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
///         let next = i64::try_from(subscribers.len())?;
///         let no = *subscribers.entry(email).or_insert(next);
///         let record = Record::new(Meta::new(no.into(), cx.now), person.fields());
///         Ok(Outcome::person(record, EntryStatus::stored(no == next)))
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # use svc_core::model::shared::EmailAddress;
/// # let cx = Context::new(Tenant::new("acme"), Caller::with_rights(Rights::all()), Timestamp::from_micros(0));
/// # let newsletter = Newsletter::default();
///
/// let email = EmailAddress { address: Some("ada@example.org".into()), ..EmailAddress::default() };
/// let person = Draft::new(&Person { email_addresses: Some(vec![email]), ..Person::default() });
/// let mut plan = RawPlan::empty(HelperName::PersonSignup);
/// plan.person = Some(person.into_raw());
/// for is_new in [true, false] {
///     let outcome = newsletter.run(&cx, Plan::from_raw(plan.clone())).await?;
///     assert_eq!(outcome.into_raw().was_created(Kind::Person), is_new);
/// }
/// # Ok(())
/// # }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not run the helper `{H}`",
    label = "missing `impl Helper<{H}> for {Self}`",
    note = "implement `svc_core::Helper<{H}>` for `{Self}`, or register it with `.compose::<{H}>()`"
)]
pub trait Helper<H: HelperSpec>: Send + Sync {
    /// Does what the plan says.
    async fn run(&self, cx: &Context, plan: Plan<H>) -> Result<Outcome<H>>;

    /// Whether [`run`](Self::run) itself answers [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) where there is no such
    /// container (HLP-23). The library then asks [`Get`] for it only before calls that it refuses itself (UND-39).
    ///
    /// Even the 404 then needs what a write needs: a store that cannot write now, because another process holds its file,
    /// answers 503 (UND-36).
    fn finds_container(&self) -> bool {
        false
    }
}

/// Runs the operations of one helper call in one transaction of the backend, so that a composed helper is all or nothing.
///
/// # Behaviour
///
/// - The library begins one for each call, hands it to every operation of the call in its [`Context`], and ends it.
///   Whoever implements an operation asks [`Context::transaction`] first, and begins and commits by itself only where there
///   is none.
/// - Two calls at once must not both find nobody and both make a person: begin with the lock that writers share (`BEGIN
///   IMMEDIATE`, `pg_advisory_xact_lock`, `SELECT ... FOR UPDATE` of the tenant's row), or serializable (HLP-04).
/// - Operations of one call may be waited for at the same time, but only those that read: [`Find`] and [`Get`].
/// - An operation that refuses leaves nothing behind in the transaction, as the call may go on without it (ERR-29): it
///   checks before it writes, or works in a savepoint.
/// - A call that is dropped on the way ends without commit and rollback: a transaction that is dropped is rolled back.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use svc_core::{Context, Result, Transactions};
///
/// // The vendor's pool, and one of its transactions: `sqlx::Transaction<'static, Postgres>`, which takes `&mut self`,
/// // would stand in a `tokio::sync::Mutex`.
/// # struct Pool;
/// # impl Pool { async fn begin(&self) -> std::io::Result<Open> { Ok(Open) } }
/// # struct Open;
/// # impl Open { async fn commit(self) -> std::io::Result<()> { Ok(()) } }
/// struct Crm(Pool);
///
/// #[async_trait::async_trait]
/// impl Transactions for Crm {
///     type Open = Open;
///
///     async fn begin(&self, _: &Context) -> Result<Open> {
///         Ok(self.0.begin().await?)
///     }
///
///     async fn commit(&self, open: Open) -> Result<()> {
///         Ok(open.commit().await?)
///     }
/// }
///
/// impl Crm {
///     /// For operations that only read.
///     async fn reading(&self, cx: &Context) -> Result<Arc<Open>> {
///         match cx.transaction::<Self>() {
///             Some(open) => Ok(open),
///             None => Ok(Arc::new(self.0.begin().await?)),
///         }
///     }
/// }
/// ```
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no transactions for composed helpers",
    label = "missing `impl Transactions for {Self}`",
    note = "implement `svc_core::Transactions` for `{Self}`, or leave `.transactions(...)` out: helpers then go step by step"
)]
pub trait Transactions: Send + Sync {
    /// A transaction that is open. It travels in the [`extensions`](Context::extensions) of the context, in an [`Arc`].
    type Open: Send + Sync + 'static;

    /// Begins a transaction.
    async fn begin(&self, cx: &Context) -> Result<Self::Open>;

    /// Makes everything durable that the operations of the call did.
    async fn commit(&self, open: Self::Open) -> Result<()>;

    /// Undoes everything that the operations of the call did: by dropping it, unless said otherwise.
    async fn rollback(&self, open: Self::Open) -> Result<()> {
        drop(open);
        Ok(())
    }
}

impl Context {
    /// The transaction that this operation is a part of: that of a composed helper, where [`Transactions`] are registered.
    ///
    /// It is lent for the time of the operation: one that is kept longer cannot be committed.
    #[must_use]
    pub fn transaction<T: Transactions>(&self) -> Option<Arc<T::Open>> {
        self.extensions.get().map(Arc::clone)
    }
}

/// [`Transactions`] of whatever type.
#[async_trait]
pub(crate) trait AnyTransactions: Send + Sync {
    /// The same context with a transaction in it.
    async fn begin(&self, cx: &Context) -> Result<Context>;

    /// Ends the transaction in a context that [`begin`](Self::begin) gave.
    async fn end(&self, cx: Context, end: End) -> Result<()>;
}

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Commit,
    Rollback,
}

#[async_trait]
impl<T: Transactions> AnyTransactions for T {
    async fn begin(&self, cx: &Context) -> Result<Context> {
        let mut cx = cx.clone();
        cx.extensions.insert(Arc::new(Transactions::begin(self, &cx).await?));
        Ok(cx)
    }

    async fn end(&self, mut cx: Context, end: End) -> Result<()> {
        let open = cx.extensions.remove::<Arc<T::Open>>();
        let kept = || Error::unexpected("an operation kept the transaction of its call, which cannot be ended");
        let open = open.and_then(Arc::into_inner).ok_or_else(kept)?;
        match end {
            End::Commit => self.commit(open).await,
            End::Rollback => self.rollback(open).await,
        }
    }
}

/// Tells whether anything has changed, at the cost of next to nothing.
///
/// # Behaviour
///
/// - The number is another one after every change that a [`List`] or a [`Get`] of the backend could show, from the moment
///   on at which the change is visible; also when another process made it. Changes may be counted together.
/// - What `List` and `Get` show depends on `cx.tenant` and their arguments only: neither on the caller, nor on the time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not count changes",
    label = "missing `impl CountChanges for {Self}`",
    note = "implement `svc_core::CountChanges` for it, or leave `.keep_reads(...)` out: every read then asks the backend"
)]
pub trait CountChanges: Send + Sync {
    /// The number; `None` when it cannot be told now.
    fn changes(&self) -> Option<u64>;
}

impl<T: CountChanges + ?Sized> CountChanges for Arc<T> {
    fn changes(&self) -> Option<u64> {
        (**self).changes()
    }
}

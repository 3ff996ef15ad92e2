//! Running helpers, and the transactions that composed ones run in.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{
    context::Context,
    error::{Error, Result},
    helper::{HelperSpec, Outcome, Plan},
};

/// Runs a helper natively (HLP-01 to HLP-23).
///
/// # Behaviour
///
/// - A missing container is [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) (HLP-23); where [`Get`](crate::Get) is registered and
///   [`finds_container`](Self::finds_container) is not true, the library has looked before the call.
/// - An action that cannot be stored stores nothing: [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) (HLP-10). What only the
///   store knows of a tag, a list, a question or a response key fails its own entry of the outcome; person and action
///   stay, unless [`Plan::is_atomic`] (ERR-34).
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
/// # use svc_core::{*, auth::{Caller, Rights}, helper::*, model::{Kind, Person}, raw::RawPlan, record::Meta, value::Timestamp};
/// /// The numbers of subscribers by address.
/// #[derive(Default)]
/// struct Newsletter(Mutex<BTreeMap<String, i64>>);
///
/// #[async_trait]
/// impl Helper<PersonSignup> for Newsletter {
///     async fn run(&self, cx: &Context, plan: Plan<PersonSignup>) -> Result<Outcome<PersonSignup>> {
///         let person = plan.required_person()?;
///         let missing = || Problem::new(Code::FieldRequired, "person.email_addresses", "An address is required.");
///         let email = person.emails().next().ok_or_else(|| Error::invalid(missing()))?;
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
/// let email = EmailAddress::default().address("ada@example.org");
/// let person = Draft::new(&Person::default().email_addresses([email]));
/// let mut plan = RawPlan::empty(HelperName::PersonSignup);
/// plan.person = Some(person.into_raw());
/// for is_new in [true, false] {
///     let outcome = newsletter.run(&cx, Plan::from_raw(plan.clone())).await?;
///     assert_eq!(outcome.was_created(Kind::Person), is_new);
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
    /// container (HLP-23). The library then asks [`Get`](crate::Get) for it only before calls that it refuses itself (UND-39).
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
/// - Operations of one call may be waited for at the same time, but only those that read: [`Find`](crate::Find) and [`Get`](crate::Get).
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

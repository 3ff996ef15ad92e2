//! The transactions of a backend: one for each call that writes.

use std::sync::Arc;

use async_trait::async_trait;

use super::LockKey;
use crate::{
    context::Context,
    error::{Error, Result},
};

/// Runs everything that one call writes in one transaction of the backend: each create, update,
/// delete and helper is all or nothing, and no operation begins or commits by itself.
///
/// # Behaviour
///
/// - The library begins one for each call that writes, hands it to every operation of the call in
///   its [`Context`], and ends it once: with a commit, or with a rollback where the call is refused
///   or fails. Operations that only read are called with one where they are a part of a helper, and
///   without one where a client asks for the read itself.
/// - Two calls at once must not both find nobody and both make a person. Either
///   [`begin`](Self::begin) takes a lock that all writers share, such as SQLite's `BEGIN
///   IMMEDIATE`, or [`lock`](Self::lock) takes one for each key.
/// - Where others made the database roll back (serialization failures, deadlocks),
///   [`Error::rolled_back`] runs the whole call again, a few times: say so once in
///   [`ApiBuilder::map_errors`](crate::ApiBuilder::map_errors).
/// - Operations of one call may be waited for at the same time, but only those that read:
///   [`Find`](crate::Find) and [`Get`](crate::Get).
/// - A tag, list or answer of a helper call that is refused fails alone, and the rest stays: it is
///   undone by [`savepoint`](Self::savepoint).
/// - A call that is dropped on the way, as by the request's timeout, ends without commit and
///   rollback: a transaction that is dropped is rolled back.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use svc_core::{Context, LockKey, Result, Transactions, ops::SavepointAction};
///
/// // The vendor's pool, and one of its transactions: `sqlx::Transaction<'static, Postgres>`, which takes `&mut self`,
/// // would stand in a `tokio::sync::Mutex`.
/// # struct Pool;
/// # impl Pool { async fn begin(&self) -> std::io::Result<Open> { Ok(Open) } }
/// # struct Open;
/// # impl Open {
/// #     async fn commit(self) -> std::io::Result<()> { Ok(()) }
/// #     async fn batch_execute(&self, _: &str) -> std::io::Result<()> { Ok(()) }
/// #     async fn execute(&self, _: &str, _: &[&Vec<i64>]) -> std::io::Result<()> { Ok(()) }
/// # }
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
///     async fn lock(&self, open: &Open, keys: &[LockKey]) -> Result<()> {
///         let numbers: Vec<i64> = keys.iter().map(LockKey::advisory_lock_id).collect();
///         Ok(open.execute("SELECT pg_advisory_xact_lock(key) FROM unnest($1::bigint[]) AS key", &[&numbers]).await?)
///     }
///
///     async fn savepoint(&self, open: &Open, savepoint: SavepointAction) -> Result<()> {
///         Ok(open.batch_execute(savepoint.sql()).await?)
///     }
///
///     async fn commit(&self, open: Open) -> Result<()> {
///         Ok(open.commit().await?)
///     }
/// }
///
/// impl Crm {
///     /// For every operation, those that only read too.
///     async fn open(&self, cx: &Context) -> Result<Arc<Open>> {
///         match Self::current(cx) {
///             Some(open) => Ok(open),
///             None => Ok(Arc::new(self.0.begin().await?)),
///         }
///     }
/// }
/// ```
///
/// Requirements: ERR-04, ERR-34, HLP-04, ERR-29.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no transactions",
    label = "missing `impl Transactions for {Self}`",
    note = "implement `svc_core::Transactions` for `{Self}`, or leave `.transactions(...)` out: helpers then go step by step"
)]
pub trait Transactions: Send + Sync {
    /// A transaction that is open. It travels in the [`extensions`](Context::extensions) of the
    /// context, in an [`Arc`].
    type Open: Send + Sync + 'static;

    /// Returns the transaction that this operation is a part of: that of a call that writes.
    ///
    /// It is borrowed for the duration of the operation: one that is kept longer cannot be
    /// committed. The default is right for every implementation.
    #[must_use]
    fn current(cx: &Context) -> Option<Arc<Self::Open>>
    where
        Self: Sized,
    {
        cx.extensions.get().map(Arc::clone)
    }

    /// Begins a transaction.
    async fn begin(&self, cx: &Context) -> Result<Self::Open>;

    /// Locks keys until the transaction ends: whoever else locks one of them waits. They come in
    /// the order of their [numbers](LockKey::advisory_lock_id), the same for every call, so that no
    /// two calls wait for each other; the library asks before it looks anything up, and only where
    /// there are keys.
    ///
    /// What is looked up afterwards has to be what is stored by then: in PostgreSQL, lock in its
    /// default isolation level, `READ COMMITTED`. In the higher ones a transaction sees the moment
    /// before it waited.
    ///
    /// Does nothing unless said otherwise, which is right only where [`begin`](Self::begin) takes a
    /// lock that all writers share.
    async fn lock(&self, open: &Self::Open, keys: &[LockKey]) -> Result<()> {
        let _ = (open, keys);
        Ok(())
    }

    /// Sets a mark in the transaction, releases it, or undoes what came after it. The library sets
    /// one before each tag, list and answer of a helper call that may fail alone; there is never
    /// more than one.
    ///
    /// Does nothing unless said otherwise, which is right only where an operation that refuses has
    /// decided before it wrote: PostgreSQL takes no statement any more after one that failed.
    ///
    /// Requirements: ERR-29.
    async fn savepoint(&self, open: &Self::Open, savepoint: SavepointAction) -> Result<()> {
        let _ = (open, savepoint);
        Ok(())
    }

    /// Makes everything durable that the operations of the call did.
    async fn commit(&self, open: Self::Open) -> Result<()>;

    /// Undoes everything that the operations of the call did: by dropping it, unless said
    /// otherwise.
    async fn rollback(&self, open: Self::Open) -> Result<()> {
        drop(open);
        Ok(())
    }
}

/// What becomes of a mark in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SavepointAction {
    /// It is set.
    Set,
    /// It is forgotten: what came after it stays.
    Release,
    /// What came after it is undone, and it is forgotten.
    Undo,
}

impl SavepointAction {
    /// The same in SQL, as PostgreSQL, SQLite and others understand it.
    #[must_use]
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Set => "SAVEPOINT svc_part",
            Self::Release => "RELEASE SAVEPOINT svc_part",
            Self::Undo => "ROLLBACK TO SAVEPOINT svc_part; RELEASE SAVEPOINT svc_part",
        }
    }
}

/// [`Transactions`] of whatever type; the open transaction is in a context that
/// [`begin`](Self::begin) gave.
#[async_trait]
pub(crate) trait ErasedTransactions: Send + Sync {
    /// The same context with a transaction in it.
    async fn begin(&self, cx: &Context) -> Result<Context>;

    /// Locks keys in the transaction.
    async fn lock(&self, cx: &Context, keys: &[LockKey]) -> Result<()>;

    /// Sets a mark, or comes back to it.
    async fn savepoint(&self, cx: &Context, savepoint: SavepointAction) -> Result<()>;

    /// Ends the transaction.
    async fn end(&self, cx: Context, end: TransactionEnd) -> Result<()>;
}

/// How a transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionEnd {
    Commit,
    Rollback,
}

#[async_trait]
impl<T: Transactions> ErasedTransactions for T {
    async fn begin(&self, cx: &Context) -> Result<Context> {
        let mut cx = cx.clone();
        cx.extensions
            .insert(Arc::new(Transactions::begin(self, &cx).await?));
        Ok(cx)
    }

    async fn lock(&self, cx: &Context, keys: &[LockKey]) -> Result<()> {
        Transactions::lock(self, &*open::<T>(cx)?, keys).await
    }

    async fn savepoint(&self, cx: &Context, savepoint: SavepointAction) -> Result<()> {
        Transactions::savepoint(self, &*open::<T>(cx)?, savepoint).await
    }

    async fn end(&self, mut cx: Context, end: TransactionEnd) -> Result<()> {
        let open = cx.extensions.remove::<Arc<T::Open>>();
        let kept = || {
            Error::unexpected(
                "an operation kept the transaction of its call, which cannot be ended",
            )
        };
        let open = open.and_then(Arc::into_inner).ok_or_else(kept)?;
        match end {
            TransactionEnd::Commit => self.commit(open).await,
            TransactionEnd::Rollback => self.rollback(open).await,
        }
    }
}

fn open<T: Transactions>(cx: &Context) -> Result<Arc<T::Open>> {
    T::current(cx).ok_or_else(|| Error::unexpected("a layer took the transaction of a call away"))
}

//! The transactions of a backend: one for each write request.

use std::sync::Arc;

use async_trait::async_trait;

use super::LockKey;
use crate::{
    context::Context,
    error::{Error, Result},
};

/// Runs all writes of a request in one transaction of the backend.
///
/// Each create, update and delete is then all or nothing. So is a helper request, except for action
/// functions that fail alone: see [`savepoint`](Self::savepoint). No operation begins or
/// commits a transaction itself.
///
/// # Behaviour
///
/// - The library begins one transaction for each write request and passes it to every operation in
///   the [`Context`]. It ends the transaction once: with a commit, or with a rollback if the
///   request is rejected or fails. A read operation gets a transaction if it is part of a helper
///   request. It gets none if a client requests the read itself.
/// - Two concurrent requests must not both find no person and both create one. Either
///   [`begin`](Self::begin) takes a lock that all writers share, such as SQLite's
///   `BEGIN IMMEDIATE`, or [`lock`](Self::lock) takes a lock for each key.
/// - If the database rolls back because of concurrent transactions (serialization failures,
///   deadlocks), return [`Error::rolled_back`]. The library then repeats the whole request a few
///   times. You can map such errors in one place with
///   [`ApiBuilder::map_errors`](crate::ApiBuilder::map_errors).
/// - Operations of one request can run concurrently, but only reads: [`Find`](crate::Find) and
///   [`Get`](crate::Get).
/// - A tag, list or answer of a helper request can be rejected without affecting the rest. It is
///   undone with [`savepoint`](Self::savepoint).
/// - A request that is dropped, for example by the request timeout, ends without commit and without
///   rollback. Dropping a transaction must therefore roll it back.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use svc_core::{Context, LockKey, Result, Transactions, backend::SavepointAction};
///
/// // The vendor's pool and its transaction type. A `sqlx::Transaction<'static, Postgres>` takes `&mut self`,
/// // so put it into a `tokio::sync::Mutex`.
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
///     /// Used by every operation, including reads.
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
    note = "implement `svc_core::Transactions` for `{Self}`, or do not call `.transactions(...)`: helpers then run step by step, without a transaction"
)]
pub trait Transactions: Send + Sync {
    /// An open transaction. The library passes it in an [`Arc`], in the
    /// [`extensions`](Context::extensions) of the context.
    type Open: Send + Sync + 'static;

    /// Returns the transaction of the write request that this operation is part of.
    ///
    /// Use it only during the operation: while a clone of the [`Arc`] exists, the transaction
    /// cannot be committed. The default implementation is right for every backend.
    #[must_use]
    fn current(cx: &Context) -> Option<Arc<Self::Open>>
    where
        Self: Sized,
    {
        cx.extensions().get().map(Arc::clone)
    }

    /// Begins a transaction.
    async fn begin(&self, cx: &Context) -> Result<Self::Open>;

    /// Locks keys until the transaction ends. Other transactions that lock one of the keys wait.
    ///
    /// The keys are always in the order of their [numbers](LockKey::advisory_lock_id), so that no
    /// two requests can deadlock. The library calls this method before any lookup, and only if
    /// there are keys.
    ///
    /// Lookups after this call must see everything that is committed by then. In PostgreSQL, use
    /// the default isolation level, `READ COMMITTED`. At higher levels, a transaction still sees
    /// the state from before it waited.
    ///
    /// By default this method does nothing. That is right only if [`begin`](Self::begin) takes a
    /// lock that all writers share.
    async fn lock(&self, open: &Self::Open, keys: &[LockKey]) -> Result<()> {
        let _ = (open, keys);
        Ok(())
    }

    /// Sets, releases or rolls back to a savepoint in the transaction.
    ///
    /// The library sets a savepoint before each tag, list and answer of a helper request, because
    /// each of them can fail alone. There is never more than one savepoint.
    ///
    /// By default this method does nothing. That is right only if an operation decides whether to
    /// reject before it writes. PostgreSQL accepts no further statement in a transaction after a
    /// failed one.
    ///
    /// Requirements: ERR-29.
    async fn savepoint(&self, open: &Self::Open, savepoint: SavepointAction) -> Result<()> {
        let _ = (open, savepoint);
        Ok(())
    }

    /// Commits the transaction: everything that the operations of the request wrote becomes
    /// durable.
    async fn commit(&self, open: Self::Open) -> Result<()>;

    /// Rolls back everything that the operations of the request wrote. By default the transaction
    /// is dropped.
    async fn rollback(&self, open: Self::Open) -> Result<()> {
        drop(open);
        Ok(())
    }
}

/// What to do with a savepoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SavepointAction {
    /// Set it.
    Set,
    /// Remove it and keep the changes made since it was set.
    Release,
    /// Undo the changes made since it was set, and remove it.
    Rollback,
}

impl SavepointAction {
    /// Returns the SQL statements for PostgreSQL, SQLite and other databases with the same syntax.
    #[must_use]
    pub const fn sql(self) -> &'static str {
        match self {
            Self::Set => "SAVEPOINT svc_part",
            Self::Release => "RELEASE SAVEPOINT svc_part",
            Self::Rollback => "ROLLBACK TO SAVEPOINT svc_part; RELEASE SAVEPOINT svc_part",
        }
    }
}

/// [`Transactions`] of any type. The open transaction is in a context that [`begin`](Self::begin)
/// returned.
#[async_trait]
pub(crate) trait ErasedTransactions: Send + Sync {
    /// Begins a transaction and returns a copy of the context that contains it.
    async fn begin(&self, cx: &Context) -> Result<Context>;

    /// Locks keys in the transaction.
    async fn lock(&self, cx: &Context, keys: &[LockKey]) -> Result<()>;

    /// Sets, releases or rolls back to a savepoint.
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
        let open = Transactions::begin(self, &cx).await?;
        cx.extensions_mut().insert(Arc::new(open));
        Ok(cx)
    }

    async fn lock(&self, cx: &Context, keys: &[LockKey]) -> Result<()> {
        Transactions::lock(self, &*open::<T>(cx)?, keys).await
    }

    async fn savepoint(&self, cx: &Context, savepoint: SavepointAction) -> Result<()> {
        Transactions::savepoint(self, &*open::<T>(cx)?, savepoint).await
    }

    async fn end(&self, mut cx: Context, end: TransactionEnd) -> Result<()> {
        let open = cx.extensions_mut().remove::<Arc<T::Open>>();
        let kept = || {
            Error::unexpected(
                "an operation still holds the transaction of its request, so the transaction cannot end",
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
    T::current(cx).ok_or_else(|| {
        Error::unexpected("a layer removed the transaction from the context of a request")
    })
}

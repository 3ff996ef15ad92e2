//! Whether anything has changed.

use std::{sync::Arc, time::Instant};

use async_trait::async_trait;

use crate::context::Tenant;

/// Tells whether anything of a tenant has changed, at the cost of next to nothing.
///
/// # Behaviour
///
/// - The number is another one after every change that a [`List`](crate::List) or a
///   [`Get`](crate::Get) of the backend could show to the tenant, from the moment on at which the
///   change is visible; also when another process made it. Changes may be counted together, and
///   those of other tenants, too.
/// - What `List` and `Get` show depends on `cx.tenant` and their arguments only: neither on the
///   caller, nor on the time.
///
/// # Examples
///
/// ```
/// use std::{sync::atomic::{AtomicU64, Ordering}, time::Instant};
///
/// use async_trait::async_trait;
/// use svc_core::{RevisionSource, Tenant};
///
/// /// Whoever changes a record adds one here, once the change can be seen.
/// #[derive(Default)]
/// struct Crm { changes: AtomicU64 }
///
/// #[async_trait]
/// impl RevisionSource for Crm {
///     async fn revision(&self, _: &Tenant, _: Instant) -> Option<u64> {
///         Some(self.changes.load(Ordering::Acquire))
///     }
/// }
///
/// let crm = Crm::default();
/// let acme = Tenant::new("acme");
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let before = crm.revision(&acme, Instant::now()).await;
/// crm.changes.fetch_add(1, Ordering::Release);
/// assert_ne!(crm.revision(&acme, Instant::now()).await, before);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not tell its revision",
    label = "missing `impl RevisionSource for {Self}`",
    note = "implement `svc_core::RevisionSource` for it, or leave `.response_cache(...)` out: every read then asks the backend"
)]
#[async_trait]
pub trait RevisionSource: Send + Sync {
    /// A number that stands for what the tenant has now, or had at any moment after `since`, which
    /// is when the request began: what a backend has found out meanwhile, for this request or for
    /// another one, it need not ask again. `None` when it cannot be told now.
    async fn revision(&self, tenant: &Tenant, since: Instant) -> Option<u64>;

    /// Whether the number comes from another process. It is then asked for only if a read of the
    /// same address has succeeded before: a first read, and one of something that does not exist,
    /// is one round trip. `false` unless overridden.
    fn is_remote(&self) -> bool {
        false
    }
}

#[async_trait]
impl<T: RevisionSource + ?Sized> RevisionSource for Arc<T> {
    async fn revision(&self, tenant: &Tenant, since: Instant) -> Option<u64> {
        (**self).revision(tenant, since).await
    }

    fn is_remote(&self) -> bool {
        (**self).is_remote()
    }
}

//! The revision of a tenant's data.

use std::{sync::Arc, time::Instant};

use async_trait::async_trait;

use crate::context::Tenant;

/// Reports whether any data of a tenant has changed, at almost no cost.
///
/// # Behaviour
///
/// - The revision changes after every change that a [`List`](crate::List) or a [`Get`](crate::Get)
///   of the backend could return to the tenant. Changes by other processes count as well. The
///   revision changes no later than the change becomes visible. Several changes may count as one,
///   and changes of other tenants may count as well.
/// - The results of `List` and `Get` depend only on `cx.tenant()` and the arguments. They do not
///   depend on the caller or the time.
///
/// # Examples
///
/// ```
/// use std::{sync::atomic::{AtomicU64, Ordering}, time::Instant};
///
/// use async_trait::async_trait;
/// use svc_core::{RevisionSource, Tenant};
///
/// /// A counter that every write increments as soon as its change is visible.
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
    message = "`{Self}` does not report a revision",
    label = "missing `impl RevisionSource for {Self}`",
    note = "implement `svc_core::RevisionSource` for it, or do not call `.response_cache(...)`: every read then goes to the backend"
)]
#[async_trait]
pub trait RevisionSource: Send + Sync {
    /// Returns a number for the state of the tenant's data, now or at any time after `since`.
    ///
    /// `since` is when the request began. A backend need not determine the number again if it has
    /// done so after `since`, for this request or another one. `None` means that the number is not
    /// available now.
    async fn revision(&self, tenant: &Tenant, since: Instant) -> Option<u64>;

    /// Returns whether the number comes from another process.
    ///
    /// The library then requests it only if a read of the same address has succeeded before. A
    /// first read, and a read of a missing record, thus needs one round trip. The default is
    /// `false`.
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

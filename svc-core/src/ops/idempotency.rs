//! Answers that a vendor keeps for calls that come again.

use std::sync::Arc;

use super::StoredResponse;
use crate::{context::Context, error::Result};
use async_trait::async_trait;

/// Keeps the answers of calls that came with `Idempotency-Key`, so that a client which did not get
/// its answer may send the call again and nothing is done twice.
///
/// A table of two columns is enough: the key, which is unique in it, and the answer.
///
/// # Behaviour
///
/// - [`load`](Self::load) is asked before a call is done, and [`save`](Self::save) when
///   it is done. With [`Transactions`](crate::Transactions) both are in the transaction of the
///   call, and so an answer is kept if, and only if, what it tells of is stored. Without them a
///   program that ends between the two does the call again when it comes again.
/// - The key is unique for the tenant. Where another call has kept an answer under it meanwhile,
///   `save` fails: say by [`ApiBuilder::map_errors`](crate::ApiBuilder::map_errors) that this
///   [rolls back](crate::Error::rolled_back), and the library runs the call again, which then finds
///   that answer.
/// - An answer is kept for 24 hours at least; those from before [`StoredResponse::expires_before`]
///   may go.
/// - Answers hold personal data: delete a person's with the person ([`StoredResponse::people`],
///   UND-26).
///
/// # Examples
///
/// ```
/// use std::{collections::HashMap, sync::{Arc, Mutex}};
///
/// use svc_core::{Context, Error, IdempotencyStore, Result, Tenant, ops::StoredResponse};
///
/// /// Answers by tenant and key, as a table has them.
/// #[derive(Default)]
/// struct Answers(Mutex<HashMap<(Tenant, Arc<str>), Vec<u8>>>);
///
/// #[async_trait::async_trait]
/// impl IdempotencyStore for Answers {
///     async fn load(&self, cx: &Context, key: &Arc<str>) -> Result<Option<Vec<u8>>> {
///         let answers = self.0.lock().map_err(|_| Error::unexpected("poisoned"))?;
///         Ok(answers.get(&(cx.tenant.clone(), Arc::clone(key))).cloned())
///     }
///
///     async fn save(&self, cx: &Context, kept: StoredResponse) -> Result<()> {
///         let mut answers = self.0.lock().map_err(|_| Error::unexpected("poisoned"))?;
///         match answers.insert((cx.tenant.clone(), kept.key), kept.body.to_vec()) {
///             None => Ok(()),
///             Some(_) => Err(Error::rolled_back()),
///         }
///     }
/// }
/// ```
///
/// Requirements: IDM-01, IDM-03, IDM-06.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot keep the answers of calls that may come again",
    label = "missing `impl IdempotencyStore for {Self}`",
    note = "implement `svc_core::IdempotencyStore` for it: a table of a key and an answer is enough"
)]
pub trait IdempotencyStore: Send + Sync {
    /// The answer that is kept under a key of the tenant; `None` where there is none.
    async fn load(&self, cx: &Context, key: &Arc<str>) -> Result<Option<Vec<u8>>>;

    /// Keeps an answer of the tenant.
    ///
    /// # Errors
    ///
    /// Where one is kept under its key already.
    async fn save(&self, cx: &Context, kept: StoredResponse) -> Result<()>;
}

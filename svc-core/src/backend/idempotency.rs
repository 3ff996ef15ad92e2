//! Stored responses for repeated requests.

use std::sync::Arc;

use super::StoredResponse;
use crate::{
    context::Context,
    error::{Error, Result},
};
use async_trait::async_trait;

/// Stores the responses of requests with an `Idempotency-Key`.
///
/// A client that did not receive its response can repeat the request. It gets the stored response,
/// and the request is not executed again.
///
/// The guide has the columns of a suitable table. The important ones are a key that is unique for
/// the tenant, and the response.
///
/// # Behaviour
///
/// - The library calls [`load`](Self::load) before it executes a request, and [`save`](Self::save)
///   afterwards. With [`Transactions`](crate::Transactions), both are in the transaction of the
///   request, so the response is stored if and only if the changes are stored. Without them, a
///   program that stops between the two executes a repeated request again.
/// - The key that the library passes is unique for the tenant: it also contains a digest of the
///   API key. If a concurrent request has stored a response under it, `save` fails. Map this error to [`Error::rolled_back`](crate::Error::rolled_back) with
///   [`ApiBuilder::map_errors`](crate::ApiBuilder::map_errors). The library then repeats the
///   request and finds that response.
/// - A response can report parts of a helper request that failed, such as a tag that does not exist.
///   If such a request is repeated and a part succeeds now, the new response replaces the stored
///   one. This needs [`Transactions`](crate::Transactions), a composed helper, and
///   [`replace`](Self::replace). Otherwise the stored response is returned.
/// - Store a response for at least 24 hours. Responses from before
///   [`StoredResponse::expires_before`] can be deleted.
/// - Responses contain personal data. When a person is deleted, delete the responses that contain
///   it ([`StoredResponse::people`]).
///
/// # Examples
///
/// ```
/// use std::{collections::HashMap, sync::{Arc, Mutex}};
///
/// use svc_core::{Context, Error, IdempotencyStore, Result, Tenant, backend::StoredResponse};
///
/// /// Responses by tenant and key, like the rows of a table.
/// #[derive(Default)]
/// struct Answers(Mutex<HashMap<(Tenant, Arc<str>), Vec<u8>>>);
///
/// #[async_trait::async_trait]
/// impl IdempotencyStore for Answers {
///     async fn load(&self, cx: &Context, key: &Arc<str>) -> Result<Option<Vec<u8>>> {
///         let answers = self.0.lock().map_err(|_| Error::unexpected("poisoned"))?;
///         Ok(answers.get(&(cx.tenant().clone(), Arc::clone(key))).cloned())
///     }
///
///     async fn save(&self, cx: &Context, kept: StoredResponse) -> Result<()> {
///         let mut answers = self.0.lock().map_err(|_| Error::unexpected("poisoned"))?;
///         match answers.insert((cx.tenant().clone(), kept.key), kept.body.to_vec()) {
///             None => Ok(()),
///             Some(_) => Err(Error::rolled_back()),
///         }
///     }
/// }
/// ```
///
/// Requirements: IDM-01, IDM-03, IDM-06, UND-26.
#[async_trait]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot store the responses of requests with an `Idempotency-Key`",
    label = "missing `impl IdempotencyStore for {Self}`",
    note = "implement `svc_core::IdempotencyStore` for it: a table with a key and a response is sufficient"
)]
pub trait IdempotencyStore: Send + Sync {
    /// Returns the response that is stored under a key of the tenant, or `None`.
    async fn load(&self, cx: &Context, key: &Arc<str>) -> Result<Option<Vec<u8>>>;

    /// Stores a response of the tenant.
    ///
    /// # Errors
    ///
    /// Returns an error if a response is already stored under its key.
    async fn save(&self, cx: &Context, kept: StoredResponse) -> Result<()>;

    /// Returns whether [`replace`](Self::replace) is implemented. The default is `false`.
    fn replaces(&self) -> bool {
        false
    }

    /// Replaces the response under the key of `kept`, together with its people.
    ///
    /// # Errors
    ///
    /// Returns [`Error::rolled_back`] if the stored response differs from `before`, for example
    /// because a concurrent request has replaced it.
    async fn replace(&self, cx: &Context, before: &[u8], kept: StoredResponse) -> Result<()> {
        let _ = (cx, before, kept);
        Err(Error::not_implemented())
    }
}

//! Items that `svc-docs` and tests use. They may change in any release.

use std::sync::Arc;

pub use crate::api::document_renderer::{DocumentRenderer, VendorRelation};
use crate::{api::Api, store::Store};

/// Returns the store of an API: the registered one, or one that consists of the registered
/// operations.
#[must_use]
pub fn store(api: &Api) -> Arc<dyn Store> {
    api.store()
}

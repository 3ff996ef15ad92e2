//! Items that `svc-docs` uses. They may change in any release.

pub use crate::api::document_renderer::{DocumentRenderer, VendorRelation};

//! Items that `svc-docs` uses. They may change in any release.

pub use crate::api::description::{DocumentRenderer, VendorRelation};

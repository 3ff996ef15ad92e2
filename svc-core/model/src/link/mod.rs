//! URLs: the dialect, the targets of URLs, and how URLs are written and read.

mod base_url;
mod conventional;
mod dialect;
mod layout;
#[doc(hidden)]
pub mod layout_tests;
mod target;
mod vendor_relations;

pub use crate::schema::ShareNames;
pub use base_url::BaseUrl;
pub use conventional::ConventionalLayout;
pub use dialect::Dialect;
pub use layout::Layout;
pub use target::{LinkValue, RecordAddress, Scope, Target};
#[doc(hidden)]
pub use vendor_relations::is_name as is_relation_name;
pub use vendor_relations::{VendorLink, VendorRelations};

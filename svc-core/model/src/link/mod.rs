//! URLs: the dialect, the targets of URLs, and how URLs are written and read.

mod base;
mod conventional;
mod dialect;
#[doc(hidden)]
pub mod law;
mod layout;
mod own_relations;
mod target;

pub use crate::schema::ShareNames;
pub use base::BaseUrl;
pub use conventional::ConventionalLayout;
pub use dialect::Dialect;
pub use layout::Layout;
#[doc(hidden)]
pub use own_relations::is_name as is_relation_name;
pub use own_relations::{VendorLink, VendorRelations};
pub use target::{LinkValue, RecordAddress, Scope, Target};

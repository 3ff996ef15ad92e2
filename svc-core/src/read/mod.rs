//! Reading of requests: strict JSON, then validation against the tables. Every problem has the path
//! of its property.
//!
//! Requirements: ERR-39.

mod body;
mod identifiers;
mod link;
mod constraints;
mod value_path;
mod ignored_members;
mod validate;
mod value;

pub use crate::json::{
    ContentLimits, Json, JsonLimits, Number, Object, merge_patch, merge_value, write_string,
};
pub use body::{BodyReader, HelperBodyOptions};
pub use link::LinkReader;
pub use constraints::AcceptedMembers;
pub(crate) use constraints::wrong_default;
pub(crate) use ignored_members::BodyPurpose;
pub use ignored_members::nearest;
pub(crate) use validate::{MAX_PROBLEMS, Validator};

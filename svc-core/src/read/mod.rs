//! Reading of requests: strict JSON, then validation against the tables. Every problem has the path
//! of its property.
//!
//! Requirements: ERR-39.

mod body;
mod identifiers;
mod link;
mod narrow;
mod path;
mod surplus;
mod validate;
mod value;

pub use crate::json::{
    ContentLimits, Json, JsonLimits, Number, Object, merge_patch, merge_value, write_string,
};
pub use body::{BodyReader, HelperBodyOptions};
pub use link::LinkReader;
pub use narrow::AcceptedMembers;
pub(crate) use narrow::wrong_default;
pub(crate) use surplus::BodyPurpose;
pub use surplus::nearest;
pub(crate) use validate::{MOST_PROBLEMS, Validator};

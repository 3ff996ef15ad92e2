//! Reading of requests: strict JSON, then validation against the tables. Every problem has the path
//! of its property.
//!
//! Requirements: ERR-39.

mod body;
mod constraints;
mod identifiers;
mod ignored;
mod link;
mod stored;
mod validate;
mod value;
mod value_path;

pub use crate::json::{
    ContentLimits, Json, JsonLimits, Number, Object, merge_patch, merge_value, write_string,
};
pub use body::{BodyReader, HelperBodyOptions};
pub use constraints::AcceptedMembers;
pub(crate) use constraints::wrong_default;
pub use ignored::{BodyReport, nearest};
pub(crate) use ignored::{LINKS, PERSON, is_enveloped, read_only};
pub use link::LinkReader;
pub(crate) use validate::{MAX_PROBLEMS, Validator};

//! Reading requests: strict JSON, then validation against the tables, with every problem named by its path (ERR-39).

mod access;
mod body;
mod identifiers;
pub mod json;
mod link;
mod merge;
mod path;
mod rules;
mod validate;
mod value;

pub use body::{Bodies, HelperBody};
pub use json::{Json, Limits, Number, Object, write_string};
pub use link::Links;
pub use merge::{merge_patch, merge_value};
pub use rules::Rules;
pub(crate) use validate::{MOST_PROBLEMS, Validator};

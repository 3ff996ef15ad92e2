//! Reading requests: strict JSON, validation against the tables.

pub mod json;
mod merge;

pub use json::{Json, Limits, Number, Object, write_string};
pub use merge::{merge_patch, merge_value};

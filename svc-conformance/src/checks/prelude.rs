//! The imports of nearly every check.

pub(super) use serde_json::{Value, json};

pub(super) use super::record_comparison::{
    SubjectLoop, compare_stored, each, holds, is_one, must, needs, part, put,
};
pub(super) use crate::check::{Check, CheckContext};
pub(super) use crate::client::CheckClient;
pub(super) use crate::ids;
pub(super) use crate::kinds::{CatalogueKind, kind};
pub(super) use crate::outcome::{CheckStop, none};
pub(super) use crate::response::{Representation, TestResponse};

//! The imports of nearly every check.

pub(super) use serde_json::{Value, json};

pub(super) use super::compare::{SubjectLoop, each, holds, is_one, kept, must, needs, part, put};
pub(super) use crate::answer::{Representation, TestResponse};
pub(super) use crate::check::{Check, CheckContext};
pub(super) use crate::client::CheckClient;
pub(super) use crate::kinds::{CatalogueKind, kind};
pub(super) use crate::outcome::{CheckStop, none};
pub(super) use crate::row;

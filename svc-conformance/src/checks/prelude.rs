//! What nearly every check is written with.

pub(super) use serde_json::{Value, json};

pub(super) use super::compare::{Each, each, holds, is_one, kept, must, needs, part, put};
pub(super) use crate::answer::{Answer, Record};
pub(super) use crate::check::{Check, Cx};
pub(super) use crate::client::Client;
pub(super) use crate::kinds::{Kind, kind};
pub(super) use crate::outcome::{Stop, none};
pub(super) use crate::row;

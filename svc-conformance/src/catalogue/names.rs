//! What the catalogue names besides its rows: kinds, and behaviours that a declaration may list.

use serde::Deserialize;

/// A kind of record.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KindRow {
    pub(crate) one: String,
    pub(crate) many: String,
    pub(crate) under: Option<String>,
    pub(crate) counted: Option<String>,
    pub(crate) helper: Option<String>,
}

/// A word that a declaration may list as a behaviour.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Behaviour {
    pub(crate) name: String,
    pub(crate) means: String,
}

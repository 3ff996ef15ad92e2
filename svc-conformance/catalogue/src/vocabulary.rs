//! What the catalogue names besides its rows: kinds, and behaviours that a declaration may list.

use serde::Deserialize;

/// A kind of record.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueKindEntry {
    /// Relation of one record.
    pub one: String,
    /// Relation of its collection.
    pub many: String,
    /// The kind in whose collection it is created; none for the collections of the entry point.
    pub under: Option<String>,
    /// The field of the container that counts it.
    pub counted: Option<String>,
    /// The helper of the container that records it.
    pub helper: Option<String>,
}

/// A word that a declaration may list as a behaviour.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Behaviour {
    /// The word.
    pub name: String,
    /// What it says of a server.
    pub means: String,
}

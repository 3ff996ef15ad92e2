//! The names in the catalogue apart from its requirements: kinds, and behaviours that a declaration
//! may list.

use serde::Deserialize;

/// A kind of records.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueKindEntry {
    /// The relation of one record.
    pub one: String,
    /// The relation of its collection.
    pub many: String,
    /// The kind in whose collection it is created. `None` for the collections of the entry point.
    pub under: Option<String>,
    /// The field of the container that counts its records.
    pub counted: Option<String>,
    /// The helper of the container that creates its records.
    pub helper: Option<String>,
}

/// A behaviour that a declaration may list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Behaviour {
    /// The name of the behaviour.
    pub name: String,
    /// What it means for a server.
    pub means: String,
}

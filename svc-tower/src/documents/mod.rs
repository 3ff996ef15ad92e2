//! Documents about an API, generated from the same tables that route its requests: `OpenAPI`, JSON
//! Schemas, and the documentation as plain data.
//!
//! A service answers with them below `docs/`. A program that publishes them elsewhere makes them
//! here.

mod example;
#[cfg(feature = "pages")]
pub(crate) mod forms;
pub(crate) mod graph;
#[cfg(feature = "openapi")]
mod json_schema;
#[cfg(feature = "openapi")]
mod openapi;
mod own;
mod page;
mod parameters;
mod refusals;
#[cfg(feature = "pages")]
pub(crate) mod search;

pub use example::{ExampleRequest, Language, indented};
#[cfg(feature = "openapi")]
pub use json_schema::json_schema;
#[cfg(feature = "openapi")]
pub use openapi::openapi;
pub use page::{
    DocField, DocLink, DocOperation, DocPage, DocRule, Docs, Entry, Facts, Listing, Subject,
};

use svc_core::{Base, api::Api, capability::Declaration, schema::ObjectSchema};

/// The capability document of a service for an API, under a base: that of the API, with the
/// addresses of the documents that the service has (UND-40).
#[must_use]
pub fn capabilities(api: &Api, base: &Base) -> Declaration {
    let mut declaration = svc_core::api::capabilities(api, base);
    if !cfg!(feature = "openapi") {
        declaration.openapi = None;
        declaration.schemas.clear();
    }
    declaration
}

/// The names of the schema documents that a service for an API has: each kind and each helper that
/// it offers, and the rest of what it answers.
#[must_use]
pub fn json_schema_names(api: &Api) -> Vec<&'static str> {
    if cfg!(feature = "openapi") {
        svc_core::api::json_schema_names(api)
    } else {
        Vec::new()
    }
}

/// Whether two tables are one: a constant may have several addresses.
fn is_same(left: &ObjectSchema, right: &ObjectSchema) -> bool {
    let names = |schema: &ObjectSchema| {
        schema
            .fields
            .iter()
            .map(|field| field.name)
            .collect::<Vec<_>>()
    };
    left.name == right.name && names(left) == names(right)
}

//! Documents about an API, generated from the same tables that route its requests: `OpenAPI`, JSON
//! Schemas, and the documentation as plain data.
//!
//! A service with [`Docs`](crate::Docs) serves them under `docs/`. A program that publishes them
//! elsewhere creates them here.

mod effective_field;
mod error_codes;
mod example;
pub(crate) mod forms;
pub(crate) mod graph;
mod json_schema;
mod openapi;
mod page;
mod parameters;
pub(crate) mod search;

pub use example::{ExampleRequest, SnippetLanguage, to_pretty_json};
pub use json_schema::json_schema;
pub use openapi::openapi;
pub use page::{
    DocField, DocLink, DocLinkGroup, DocOperation, DocPage, DocPages, DocReference, DocRequirement,
    DocSubject, DocTable,
};

pub use svc_core::api::{capabilities, json_schema_names};
use svc_core::schema::ObjectSchema;

/// Returns whether two schemas are the same one: a constant may have several addresses.
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

//! Documents about an API, generated from the same tables that route its requests.

mod capability;
mod declaration;
mod example;
mod json_schema;
mod openapi;
mod page;

pub use capability::{capabilities, type_name};
pub use declaration::{
    Declaration, DeclaredAuthentication, DeclaredCollection, DeclaredDialect, DeclaredEntryPoint, DeclaredField,
    DeclaredHelper, DeclaredLimits,
};
pub use example::{ExampleRequest, Language, indented};
pub use json_schema::{json_schema, json_schema_names};
pub use openapi::{openapi, openapi_without_html};
pub use page::{DocField, DocLink, DocOperation, DocPage, Docs, Entry, Facts, Listing, Subject};

use crate::operation::without_row;

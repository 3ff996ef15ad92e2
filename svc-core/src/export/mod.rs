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

/// A doc comment of the tables without the requirement row at its end.
fn without_row(doc: &str) -> &str {
    let doc = doc.trim();
    let row = doc.rsplit_once(" (").filter(|(_, row)| row.ends_with(").") && row.contains('-'));
    row.map_or(doc, |(text, _)| text)
}

//! The capability document: what a server supports, for machines, as it is published and as it is read (CAP-04, UND-40).

mod declaration;
mod document;

pub use declaration::{
    Declaration, DeclaredAuthentication, DeclaredCollection, DeclaredDialect, DeclaredEntryPoint, DeclaredField,
    DeclaredHelper, DeclaredLimits,
};
pub use document::{capabilities, json_schema_names, type_name};

//! Documents about an API, generated from the same tables that route its requests.

mod capability;
mod declaration;

pub use capability::{capabilities, type_name};
pub use declaration::{
    Declaration, DeclaredAuthentication, DeclaredCollection, DeclaredDialect, DeclaredEntryPoint, DeclaredField,
    DeclaredHelper, DeclaredLimits,
};

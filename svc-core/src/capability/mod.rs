//! The capability document: what a server supports, for machines, as it is published and as it is read (CAP-04, UND-40).

mod declaration;

pub use declaration::{
    Declaration, DeclaredAuthentication, DeclaredCollection, DeclaredDialect, DeclaredEntryPoint, DeclaredField,
    DeclaredHelper, DeclaredLimits,
};

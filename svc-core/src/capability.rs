//! The capability document: the machine-readable description of what a server supports.
//!
//! Requirements: CAP-04, UND-40.

pub use svc_declaration::{
    Declaration, DeclaredAuthentication, DeclaredCollection, DeclaredDialect, DeclaredEntryPoint,
    DeclaredField, DeclaredHelper, DeclaredLimits, DeclaredLink, EXTENSIONS,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::Dialect;

    /// HAL-09 to HAL-11: names that a document omits are those of the default dialect.
    #[test]
    fn names_that_a_document_leaves_out_are_the_default_dialect() {
        let (names, dialect) = (DeclaredDialect::default(), Dialect::default());
        assert_eq!(names.prefix, dialect.prefix());
        assert_eq!(&names.key_header, &dialect.key_header_text());
        assert_eq!(names.version_field, dialect.version_field());
        assert_eq!(names.network_a_share, dialect.share_names().network_a());
        assert_eq!(names.network_b_share, dialect.share_names().network_b());
    }
}

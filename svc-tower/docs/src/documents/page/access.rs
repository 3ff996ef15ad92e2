//! Whether a field is readable, writable, or both.

/// The support of a field by this server.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldAccess {
    pub(super) readable: bool,
    pub(super) writable: bool,
}

impl FieldAccess {
    /// The field is readable and writable.
    pub(super) const BOTH: Self = Self {
        readable: true,
        writable: true,
    };
    /// The field is only accepted, as in the body of a helper.
    pub(super) const TAKEN: Self = Self {
        readable: false,
        writable: true,
    };
}

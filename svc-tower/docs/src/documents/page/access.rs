//! Whether a field is sent, taken, or both.

/// What this server does with a field.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldAccess {
    pub(super) readable: bool,
    pub(super) writable: bool,
}

impl FieldAccess {
    /// It is sent and taken.
    pub(super) const BOTH: Self = Self {
        readable: true,
        writable: true,
    };
    /// It is only taken, as in the body of a helper.
    pub(super) const TAKEN: Self = Self {
        readable: false,
        writable: true,
    };
}

//! The operations on a kind.

/// An operation on a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// Read a collection.
    List,
    /// Read one record.
    Read,
    /// Create a record.
    Create,
    /// Change a record.
    Update,
    /// Delete a record.
    Delete,
}

impl Operation {
    /// Every operation.
    pub const ALL: &'static [Operation] = &[
        Self::List,
        Self::Read,
        Self::Create,
        Self::Update,
        Self::Delete,
    ];

    /// Returns the name in capabilities and rights.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Read => "read",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }

    /// Returns whether the operation changes nothing.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(self, Self::List | Self::Read)
    }
}

//! The types of the events that a webhook sends.

use std::fmt;

use super::ChangeKind;

/// The type of an event that a webhook sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventType {
    /// A record was created.
    Created,
    /// The `modified_date` of a record changed.
    Changed,
    /// A record was deleted, alone or together with the record that it belonged to.
    Deleted,
    /// A person was deleted because it was merged into another one.
    Merged,
}

impl EventType {
    /// All values.
    pub const ALL: [Self; 4] = [Self::Created, Self::Changed, Self::Deleted, Self::Merged];

    /// Returns the name of the type in requests, responses and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => ChangeKind::Created.as_str(),
            Self::Changed => ChangeKind::Changed.as_str(),
            Self::Deleted => ChangeKind::Deleted.as_str(),
            Self::Merged => "merged",
        }
    }
}

impl From<ChangeKind> for EventType {
    fn from(change: ChangeKind) -> Self {
        match change {
            ChangeKind::Created => Self::Created,
            ChangeKind::Changed => Self::Changed,
            ChangeKind::Deleted => Self::Deleted,
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

//! Which state of a record somebody has seen.

use super::Meta;
use crate::value::Timestamp;

/// A state of a record, by which a change is made to what its client knows, or not at all.
///
/// Where a backend counts a version in [`Meta::with_version`], that alone decides; otherwise the
/// date of the last change does.
///
/// # Examples
///
/// ```
/// use svc_core::{record::{Meta, RecordState}, value::Timestamp};
///
/// let noon = Timestamp::from_micros(0);
/// let seen = Meta::new(7.into(), noon).with_version(3).state();
/// assert!(seen.matches(RecordState::new(noon).with_version(3)));
/// // Changed twice in what the column knows as one moment.
/// assert!(!seen.matches(RecordState::new(noon).with_version(4)));
/// ```
///
/// Requirements: ETG-07.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordState {
    /// When the record was last changed.
    pub modified: Timestamp,
    /// The version of it, where its backend counts one.
    pub version: Option<i64>,
}

impl RecordState {
    /// Of a record that was last changed at this moment.
    #[must_use]
    pub fn new(modified: Timestamp) -> Self {
        Self {
            modified,
            version: None,
        }
    }

    /// With the version that the backend counts.
    #[must_use]
    pub fn with_version(mut self, version: i64) -> Self {
        self.version = Some(version);
        self
    }

    /// Whether the record is the same one as it is now.
    #[must_use]
    pub fn matches(self, now: impl Into<Self>) -> bool {
        let now = now.into();
        match (self.version, now.version) {
            (Some(seen), Some(now)) => seen == now,
            _ => self.modified == now.modified,
        }
    }
}

impl From<Timestamp> for RecordState {
    fn from(modified: Timestamp) -> Self {
        Self::new(modified)
    }
}

impl From<&Meta> for RecordState {
    fn from(meta: &Meta) -> Self {
        meta.state()
    }
}

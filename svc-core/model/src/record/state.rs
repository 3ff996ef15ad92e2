//! The state of a record that a client has seen.

use super::Meta;
use crate::value::Timestamp;

/// A state of a record. A conditional change applies only if the record is still in this state.
///
/// States are compared by the version of [`Meta::with_version`] if the backend has one, and
/// otherwise by the date of the last change.
///
/// # Examples
///
/// ```
/// use svc_core::{record::{Meta, RecordState}, value::Timestamp};
///
/// let noon = Timestamp::from_micros(0);
/// let seen = Meta::new(7.into(), noon).with_version(3).state();
/// assert!(seen.matches(RecordState::new(noon).with_version(3)));
/// // Changed twice within the precision of the date column.
/// assert!(!seen.matches(RecordState::new(noon).with_version(4)));
/// ```
///
/// Requirements: ETG-07.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordState {
    /// The time of the last change.
    pub modified: Timestamp,
    /// The version, if the backend has one.
    pub version: Option<i64>,
}

impl RecordState {
    /// Creates the state of a record that was last changed at this time.
    #[must_use]
    pub fn new(modified: Timestamp) -> Self {
        Self {
            modified,
            version: None,
        }
    }

    /// Sets the version.
    #[must_use]
    pub fn with_version(mut self, version: i64) -> Self {
        self.version = Some(version);
        self
    }

    /// Returns whether the record is still in this state.
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

//! The timestamps of the examples.

/// A timestamp, and a later one.
pub(super) const EARLIER: &str = "2026-03-14T17:30:00Z";
pub(super) const LATER: &str = "2026-03-14T19:30:00Z";

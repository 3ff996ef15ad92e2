//! What tests the suite itself: a second service, faulty servers, and odd but conformant ones (feature `self-test`).
//!
//! - [`mirror`]: an independent service, written from the catalogue alone.
//! - [`fields`]: the fields that the catalogue names, row by row.

pub mod fields;
pub mod mirror;

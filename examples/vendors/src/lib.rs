//! Examples of what a vendor writes.
//!
//! The programs in `src/bin` are short, and each is whole in itself; what is longer stands in [`crm`] and, with the feature `postgres`, in
//! `postgres`, so that tests can run it in their own process.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

pub mod crm;
#[cfg(feature = "postgres")]
pub mod postgres;

/// The README's own examples, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

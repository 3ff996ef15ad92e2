//! Programs that run locally: the demo server `svc-demo`, and examples of what a vendor writes.
//!
//! The programs in `src/bin` are short; what is longer stands in [`demo`] and [`crm`], so that tests can run it in their own
//! process.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

pub mod crm;
pub mod demo;

/// The README's own examples, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

//! Programs that run locally: the demo server `svc-demo`, and the service mounted in axum and in bare hyper.
//!
//! The programs in `src/bin` are short; what they do stands in [`demo`], so that tests can run it in their own process.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

pub mod demo;

/// The README's own examples, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

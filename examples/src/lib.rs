//! Programs that run locally: the demo server `svc-demo`, and the service mounted in axum and in bare hyper.
//!
//! The programs in `src/bin` are short; what they do stands in [`demo`], so that tests can run it in their own process.

pub mod demo;

/// The README's own examples, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

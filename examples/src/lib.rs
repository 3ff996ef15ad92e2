//! The demo server `svc-demo`, and in [`mapped`] a program of a vendor whose tables are mapped.
//!
//! The program in `src/bin` is short; what it does stands in [`demo`], so that tests can run it in
//! their own process.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

pub mod demo;
pub mod mapped;

//! The demo server `svc-demo`.
//!
//! The program in `src/bin` calls [`demo::main`]. The code is in [`demo`], so that tests can run it
//! in their own process.

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

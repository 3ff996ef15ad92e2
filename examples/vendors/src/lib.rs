//! Example programs of vendors.
//!
//! The programs in `src/bin` are short, and each is complete; longer code is in [`crm`],
//! [`mapped`], [`postgres`] and [`wide`], so that tests can run it in their own process.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

pub mod crm;
pub mod mapped;
pub mod postgres;
pub mod wide;

/// The examples of the README of the repository, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The examples of the README of this package, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct VendorsReadme;

/// Lists the tests that `cargo test` skips, and the command that runs each. Ignored documentation
/// tests of the last package are the last lines that `cargo test` prints.
#[cfg(doctest)]
mod skipped_tests {
    /// ```ignore
    /// .ci/postgres
    /// ```
    mod postgresql_is_run_by_ci_postgres {}

    /// ```ignore
    /// .ci/mariadb
    /// ```
    mod mariadb_is_run_by_ci_mariadb {}

    /// ```ignore
    /// .ci/browser
    /// ```
    mod chromium_is_run_by_ci_browser {}

    /// ```ignore
    /// .ci/languages
    /// ```
    mod python_and_node_are_run_by_ci_languages {}

    /// ```ignore
    /// .ci/full settings histories
    /// ```
    mod long_ones_are_run_by_ci_full {}
}

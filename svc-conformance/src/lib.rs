//! The conformance suite of the Activist Data Exchange API.
//!
//! ```
//! use svc_conformance::catalogue::{Catalogue, Level};
//! use svc_conformance::ledger::Ledger;
//! use svc_conformance::row;
//!
//! // What a server can be held to: 621 rows, each with a stable id.
//! let catalogue = Catalogue::built_in()?;
//! let row = catalogue.row("COL-20").ok_or("no such row")?;
//! assert_eq!((row.area(), row.level), ("COL", Level::Must));
//!
//! // A test states which row an assertion proves. Were it false, it would fail with the row's id and statement.
//! let ledger = Ledger::new();
//! let (total_records, per_page, total_pages) = (26_u64, 25_u64, 2_u64);
//! row!(ledger, "COL-20", total_pages == total_records.div_ceil(per_page), "{total_pages} pages");
//! assert_eq!(ledger.count("COL-20"), 1);
//!
//! // What is still to be proven; an exemption is an id with its reason.
//! let exemptions = [("ERR-05", "needs a fault in the store")];
//! let missing = ledger.missing(catalogue, Level::Must, &exemptions);
//! assert!(missing.iter().all(|row| row.id != "COL-20" && row.id != "ERR-05"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`catalogue`]: the rows, read from the `catalogue.toml` that is built into the crate.
//! - [`ledger`]: which rows a test run has proven, through the assertion [`row!`].
//!
//! The crate depends on no other crate of the workspace: what judges a server must not share a mistake with it.

pub mod catalogue;
pub mod ledger;
#[cfg(feature = "self-test")]
pub mod self_test;

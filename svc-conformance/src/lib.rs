//! The conformance suite of the Activist Data Exchange API.
//!
//! ```
//! use svc_conformance::catalogue::{Catalogue, Level};
//!
//! // What a server can be held to: 621 rows, each with a stable id.
//! let catalogue = Catalogue::built_in()?;
//! let row = catalogue.row("COL-20").ok_or("no such row")?;
//! assert_eq!((row.area(), row.level), ("COL", Level::Must));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`catalogue`]: the rows, read from the `catalogue.toml` that is built into the crate.
//! - [`Suite`]: a run against a [`Target`], [`InProcess`] or [`Remote`], which ends in a [`Report`].
//!
//! Of the workspace the crate uses only `svc-declaration`, the form of the capability document: what judges a server must not
//! share a mistake with it.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod address;
mod answer;
pub mod catalogue;
mod check;
mod checks;
mod clean_up;
mod condition;
mod connect;
mod declared;
mod fields;
mod generate;
#[cfg(feature = "harness")]
pub mod harness;
mod journal;
mod kinds;
mod model;
mod outcome;
mod passive;
mod pins;
mod plan;
mod probe;
mod profile;
#[cfg(feature = "program")]
pub mod program;
mod recorder;
mod replay;
mod report;
mod run;
mod runner;
mod seed;
mod select;
#[cfg(feature = "self-test")]
pub mod self_test;
mod session;
mod snapshot;
mod suite;
mod target;
mod world;

pub use check::Intensity;
pub use clean_up::{CleanUp, resume as clean};
pub use declared::{
    Declaration, DeclarationError, Source, read_file as read_declaration, source as declaration_source,
};
pub use outcome::{Finding, Outcome};
pub use plan::{Plan, Planned};
pub use probe::Probed;
pub use profile::Profile;
pub use recorder::{Answered, Exchange};
pub use replay::{Replay, Replayed, Step};
pub use report::{CheckReport, Cut, Format, Report, RowReport, Score, UnknownFormat};
pub use select::Waiver;
pub use snapshot::differences;
pub use suite::{Keys, Progress, Suite, SuiteError};
pub use target::{InProcess, Remote, Target, TargetError};

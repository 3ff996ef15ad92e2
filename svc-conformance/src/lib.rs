//! The conformance suite of the Activist Data Exchange API.
//!
//! It sends requests to a server, and reports which requirements of the specification the server
//! fulfils. The catalogue contains the requirements, each with a stable id:
//!
//! ```
//! use svc_conformance::catalogue::{Catalogue, Level};
//!
//! let catalogue = Catalogue::built_in()?;
//! let requirement = catalogue.requirement("COL-20").ok_or("no such row")?;
//! assert_eq!((requirement.area(), requirement.level), ("COL", Level::Must));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The suite can test a service in the process of your test, without a network. The following run
//! has the lowest intensity, and is limited to the requirements of two areas. For a server at a
//! URL, use [`Remote`] instead of [`InProcess`].
//!
//! ```
//! use svc_conformance::{InProcess, Intensity, Keys, Suite};
//! use svc_self_test::independent_server::{ServerOptions, IndependentServer};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let service = IndependentServer::new(ServerOptions::default());
//! let suite = Suite::new(InProcess::new(service).base_url("http://crm.example.org/rest/"))
//!     .keys(Keys::primary("k-one").other_tenant("k-two"))
//!     .intensity(Intensity::Quick)
//!     .only(["ENT", "HAL"]);
//! let report = suite.run().await?;
//! report.assert_conformant();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`catalogue`]: the requirements. It is the crate `svc-catalogue`.
//! - [`ids`]: the id of each requirement as a constant.
//! - [`Suite`]: the settings of a run. [`Suite::run`] returns a [`Report`].
//! - [`Target`]: the server to test, such as [`InProcess`] or [`Remote`].
//!
//! The suite must not share a bug with a server that it tests. It therefore does not use
//! `svc-core`. It uses only two crates of this repository: `svc-catalogue`, and `svc-declaration`
//! with the format of the capability document.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod address;
mod cause;
mod response;
#[macro_use]
mod check;
mod checks;
mod clean_up;
mod client;
#[cfg(feature = "cli")]
mod compare;
mod condition;
mod connect;
mod counted;
pub mod custom_check;
mod declared;
mod delays;
mod diagnosis;
mod error;
mod fields;
mod fixtures;
mod formats;
mod generate;
#[cfg(feature = "harness")]
pub mod harness;
mod journal;
mod keys;
mod kinds;
mod linked_resources;
mod model;
mod needed_fixtures;
mod observability;
mod outcome;
mod passive;
mod pins;
mod plan;
mod presence;
mod private_file;
mod probe;
mod profile;
#[cfg(feature = "cli")]
pub mod program;
mod progress;
mod receiver;
mod recorder;
mod replay;
mod report;
mod result;
mod run_context;
mod runner;
mod seed;
mod selection;
mod settings;
mod snapshot;
mod suite;
mod target;
mod values;

pub use svc_catalogue::{self as catalogue, ids};

pub use cause::{Cause, CauseKind};
pub use clean_up::{CleanUpReport, clean_up_from_journal as clean};
#[cfg(feature = "https")]
pub use connect::{CertificatesError, Tls};
pub use declared::{
    Declaration, DeclarationError, DeclarationSource, parse_declaration as read_declaration,
    source as declaration_source,
};
pub use error::SuiteError;
pub use formats::{Format, ParseFormatError};
pub use keys::Keys;
pub use outcome::{Finding, RequirementOutcome};
pub use plan::{Fixture, PlannedCheck, RunPlan};
pub use probe::ProbeReport;
pub use profile::Profile;
pub use progress::Progress;
pub use recorder::{Exchange, RecordedResponse};
pub use replay::{Replay, ReplayReport, ReplayStep};
pub use report::{
    CauseReport, CheckReport, CheckTimeout, EarlierReport, Report, RequirementReport, Score,
};
pub use selection::Waiver;
pub use settings::Intensity;
pub use snapshot::differences;
pub use suite::Suite;
pub use target::{InProcess, Remote, Target, TargetError};

//! Tests of the conformance suite itself: a second service, mutants, and unusual but conformant
//! servers. They use the public API of the suite only, like its users.
//!
//! - [`independent_server`]: an independent service, written from the catalogue alone.
//! - [`fields`]: the fields of the catalogue, from its requirements.
//! - [`mutants`]: mutants, with the requirements that they break.
//! - [`unusual`]: unusual but conformant servers.
//! - [`score`]: runs the suite against all of them; [`results`]: the results; [`progress`]: the
//!   results of a self-test that was stopped.
//! - [`smallest`]: the smallest cases of the planted faults; [`detections`]: the requirements that
//!   failed for a mutant.
//! - [`triples`]: three faults in one server, and whether the report separates them; [`known`]: the
//!   requirements that fail for each fault.
//! - [`settings`]: the settings of the self-test; [`trial`]: one run.
//! - [`relay`]: one change to the messages that a service sends to the receivers of its webhooks.
//! - [`interceptor`], [`link_map`], [`transport`], [`subject`]: one change to the messages between
//!   a client and a service.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

pub mod detections;
pub mod fields;
pub mod independent_server;
pub mod interceptor;
pub mod known;
pub mod link_map;
pub mod mutants;
mod pool;
pub mod progress;
pub mod relay;
pub mod results;
pub mod score;
pub mod settings;
pub mod smallest;
pub mod subject;
pub mod transport;
pub mod trial;
pub mod triples;
pub mod unusual;

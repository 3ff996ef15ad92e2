//! What tests the conformance suite itself: a second service, faulty servers, and odd but
//! conformant ones. It knows the suite as its users do, by its public face alone.
//!
//! - [`second_server`]: an independent service, written from the catalogue alone.
//! - [`fields`]: the fields that the catalogue names, row by row.
//! - [`faults`]: faulty servers, with the rows that they break.
//! - [`odd`]: odd but conformant servers.
//! - [`score`]: runs the suite against all of them; [`results`]: what came of it.
//! - [`smallest`]: the smallest cases of the planted faults; [`detections`]: which rows a faulty
//!   server was seen to fail.
//! - [`triples`]: three faults in one server, and whether the report separates them; [`known`]:
//!   what it knows of each fault.
//! - [`settings`]: what is run; [`trial`]: one run.
//! - [`relay`]: one change to what a service sends to the receivers of its webhooks.
//! - [`interceptor`], [`link_map`], [`transport`], [`subject`]: one change to what passes between a
//!   client and a service.

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
pub mod faults;
pub mod fields;
pub mod interceptor;
pub mod known;
pub mod link_map;
pub mod odd;
mod pool;
pub mod relay;
pub mod results;
pub mod score;
pub mod second_server;
pub mod settings;
pub mod smallest;
pub mod subject;
pub mod transport;
pub mod trial;
pub mod triples;

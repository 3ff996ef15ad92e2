//! Tests that need a PostgreSQL server, and some of them pgbouncer. `.ci/postgres` runs them.

mod cluster;
mod conformance;
mod crash;
mod explain;
mod laws;
mod processes;
mod round_trips;
#[allow(dead_code, reason = "the bench uses the rest of it")]
mod server;
mod store;
mod support;
mod support_works;
#[cfg(feature = "tls")]
mod tls;
mod trouble;

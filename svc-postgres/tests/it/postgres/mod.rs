//! What needs a PostgreSQL server, and for some tests pgbouncer. `.ci/postgres` runs it.

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

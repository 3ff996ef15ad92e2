//! Tests that need a PostgreSQL server, and some of them pgbouncer. `.ci/postgres` runs them.

mod cluster;
mod conformance;
mod crash;
mod duplicates;
mod explain;
mod multi_process;
mod round_trips;
#[allow(dead_code, reason = "the bench uses the rest of it")]
mod server;
mod store;
mod store_contract;
mod support;
mod support_tests;
#[cfg(feature = "tls")]
mod tls;
mod transient_failures;

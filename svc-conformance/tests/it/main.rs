//! The integration tests of `svc-conformance`: one program, so that it is linked once. Run a module
//! with `cargo test -p svc-conformance --test it MODULE`.

mod architecture;
mod between;
mod catalogue;
#[cfg(feature = "cli")]
mod catalogue_pages;
mod causes;
mod check_timeout;
#[cfg(feature = "cli")]
mod compare;
#[cfg(feature = "cli")]
mod config;
mod deliveries;
mod double_entry;
#[cfg(feature = "cli")]
mod early_end;
#[cfg(feature = "cli")]
mod file_safety;
mod helpers_only;
mod html_report;
#[cfg(feature = "cli")]
mod https;
mod independent_server;
mod insta_in_programs;
#[cfg(feature = "cli")]
mod languages;
#[cfg(feature = "cli")]
#[path = "../../../examples/server/tests/it/support/loopback.rs"]
mod loopback;
mod malformed_responses;
mod matrix;
mod matrix_mutants;
mod misbehaving_sockets;
mod mutants;
#[cfg(feature = "cli")]
mod options;
mod partial_servers;
#[cfg(feature = "cli")]
mod pins;
#[cfg(feature = "cli")]
mod profiles;
#[cfg(feature = "cli")]
mod program;
mod rate_limits;
mod requirement_ids;
#[cfg(feature = "cli")]
mod result_file;
mod results;
mod same_seed;
#[cfg(feature = "cli")]
mod snapshots;
mod stateful;
#[cfg(feature = "cli")]
mod stopped;
#[cfg(feature = "cli")]
mod support;
#[cfg(feature = "cli")]
mod watch;

//! The integration tests of `svc-conformance`: one program, so that it is linked once. Run a module
//! with `cargo test -p svc-conformance --test it MODULE`.

mod architecture;
mod between;
mod catalogue;
mod causes;
#[cfg(feature = "program")]
mod compare;
#[cfg(feature = "program")]
mod config;
mod check_timeout;
mod deliveries;
mod double_entry;
#[cfg(feature = "program")]
mod early_end;
mod mutants;
mod helpers_only;
mod malformed_responses;
mod misbehaving_sockets;
#[cfg(feature = "program")]
mod https;
mod insta_in_programs;
#[cfg(feature = "program")]
mod languages;
#[cfg(feature = "program")]
#[path = "../../../examples/server/tests/it/support/loopback.rs"]
mod loopback;
mod matrix;
mod matrix_mutants;
mod partial_servers;
#[cfg(feature = "program")]
mod options;
mod html_report;
#[cfg(feature = "program")]
mod catalogue_pages;
#[cfg(feature = "program")]
mod pins;
#[cfg(feature = "program")]
mod file_safety;
#[cfg(feature = "program")]
mod profiles;
#[cfg(feature = "program")]
mod program;
mod rate_limits;
#[cfg(feature = "program")]
mod result_file;
mod results;
mod requirement_ids;
mod same_seed;
mod independent_server;
#[cfg(feature = "program")]
mod snapshots;
mod stateful;
#[cfg(feature = "program")]
mod stopped;
#[cfg(feature = "program")]
mod support;
#[cfg(feature = "program")]
mod watch;

//! The integration tests of `svc-conformance`: one program, so that it is linked once. Run a module
//! with `cargo test -p svc-conformance --test it MODULE`.

mod architecture;
mod between;
mod catalogue;
#[cfg(feature = "program")]
mod catalogue_pages;
mod causes;
mod check_timeout;
#[cfg(feature = "program")]
mod compare;
#[cfg(feature = "program")]
mod config;
mod deliveries;
mod double_entry;
#[cfg(feature = "program")]
mod early_end;
#[cfg(feature = "program")]
mod file_safety;
mod helpers_only;
mod html_report;
#[cfg(feature = "program")]
mod https;
mod independent_server;
mod insta_in_programs;
#[cfg(feature = "program")]
mod languages;
#[cfg(feature = "program")]
#[path = "../../../examples/server/tests/it/support/loopback.rs"]
mod loopback;
mod malformed_responses;
mod matrix;
mod matrix_mutants;
mod misbehaving_sockets;
mod mutants;
#[cfg(feature = "program")]
mod options;
mod partial_servers;
#[cfg(feature = "program")]
mod pins;
#[cfg(feature = "program")]
mod profiles;
#[cfg(feature = "program")]
mod program;
mod rate_limits;
mod requirement_ids;
#[cfg(feature = "program")]
mod result_file;
mod results;
mod same_seed;
#[cfg(feature = "program")]
mod snapshots;
mod stateful;
#[cfg(feature = "program")]
mod stopped;
#[cfg(feature = "program")]
mod support;
#[cfg(feature = "program")]
mod watch;

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
mod cut;
mod deliveries;
mod double_entry;
#[cfg(feature = "program")]
mod early_end;
mod faults;
mod helpers_only;
mod hostile;
mod hostile_socket;
#[cfg(feature = "program")]
mod https;
mod insta_in_programs;
#[cfg(feature = "program")]
mod languages;
#[cfg(feature = "program")]
#[path = "../../../examples/server/tests/it/support/loopback.rs"]
mod loopback;
mod matrix;
mod matrix_faults;
mod narrow;
#[cfg(feature = "program")]
mod options;
mod page;
#[cfg(feature = "program")]
mod pages;
#[cfg(feature = "program")]
mod pins;
#[cfg(feature = "program")]
mod private;
#[cfg(feature = "program")]
mod profiles;
#[cfg(feature = "program")]
mod program;
mod rate_limits;
#[cfg(feature = "program")]
mod result_file;
mod results;
mod rows;
mod same_seed;
mod second_server;
#[cfg(feature = "program")]
mod snapshots;
mod stateful;
#[cfg(feature = "program")]
mod stopped;
#[cfg(feature = "program")]
mod support;
#[cfg(feature = "program")]
mod watch;

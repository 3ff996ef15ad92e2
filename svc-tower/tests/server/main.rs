//! The server over raw sockets, around a service that stands in for the interface (UND-17, UND-34, UND-42).

mod clients;
#[path = "../../../examples/tests/support/raw.rs"]
#[allow(dead_code, reason = "the tests of the programs use the rest of it")]
mod raw;
mod running;
mod stop;
mod streams;

//! Tests the server over raw sockets, with a test service instead of the API.
//!
//! Requirements: UND-17, UND-34, UND-42, UND-44.

#[cfg(target_os = "linux")]
mod addresses;
mod clients;
mod running;
mod stop;
mod streams;

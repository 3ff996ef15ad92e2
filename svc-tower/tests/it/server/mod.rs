//! The server over raw sockets, around a service that stands in for the interface.
//!
//! Requirements: UND-17, UND-34, UND-42, UND-44.

#[cfg(target_os = "linux")]
mod addresses;
mod clients;
mod running;
mod stop;
mod streams;

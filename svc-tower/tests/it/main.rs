//! The integration tests of `svc-tower`, as one program that is linked once:
//! `cargo test -p svc-tower --test it MODULE`.

mod guides;
#[cfg(feature = "server")]
#[path = "../../../examples/server/tests/it/support/loopback.rs"]
mod loopback;
#[cfg(feature = "server")]
#[path = "../../../examples/server/tests/it/support/raw.rs"]
#[allow(dead_code, reason = "the tests of the programs use the rest of it")]
mod raw;
#[cfg(feature = "server")]
mod server;
mod service;
#[path = "../../src/testing.rs"]
mod testing;
#[cfg(feature = "webhooks")]
mod webhooks;

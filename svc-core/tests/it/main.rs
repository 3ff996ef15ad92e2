//! The integration tests of `svc-core`: one program, so that it is linked once.
//! `cargo test -p svc-core --test it MODULE`.

mod support;

mod bodies;
#[cfg(feature = "memory")]
mod changes;
mod compile_fail;
mod composed;
#[cfg(feature = "memory")]
mod conditional;
#[cfg(feature = "memory")]
mod dates;
mod golden;
mod handling;
#[cfg(feature = "store-tests")]
mod laws;
mod links;
mod matching;
mod narrowing;
mod native;
mod operations;
mod properties;
mod registration;
mod response_cache;
mod responses;
#[cfg(feature = "store-tests")]
mod rounds;
mod strangers;
#[cfg(feature = "memory")]
mod sweep;
mod transactions;
#[cfg(all(feature = "memory", feature = "webhooks"))]
mod webhooks;

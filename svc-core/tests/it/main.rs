//! The integration tests of `svc-core`, in one program, so that it is linked once:
//! `cargo test -p svc-core --test it MODULE`.

mod support;

mod bodies;
mod changes;
mod compile_fail;
mod composed;
mod conditional;
mod dates;
mod golden;
mod handling;
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
mod rounds;
mod strangers;
mod sweep;
mod transactions;
#[cfg(feature = "webhooks")]
mod webhooks;

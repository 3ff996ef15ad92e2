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
mod preferences;
mod store_contract;
mod links;
mod person_matching;
mod constraints;
mod native_helpers;
mod operations;
mod properties;
mod registration;
mod response_cache;
mod responses;
mod fetch_rounds;
mod anonymous;
mod sweep;
mod transactions;
#[cfg(feature = "webhooks")]
mod webhooks;

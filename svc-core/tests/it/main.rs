//! The integration tests of `svc-core`, in one program, so that it is linked once:
//! `cargo test -p svc-core --test it MODULE`.

mod support;

mod anonymous;
mod bodies;
mod changes;
mod compile_fail;
mod composed;
mod conditional;
mod constraints;
mod dates;
mod failed_parts;
mod fetch_rounds;
mod golden;
mod links;
mod merge_operations;
mod merged_people;
mod native_helpers;
mod operation_histories;
mod operations;
mod person_matching;
mod preferences;
mod properties;
mod registration;
mod response_cache;
mod responses;
mod store_contract;
mod sweep;
mod transactions;
#[cfg(feature = "webhooks")]
mod webhooks;

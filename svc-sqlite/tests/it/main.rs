//! The integration tests of `svc-sqlite`. They are one program, so that it is linked once: `cargo
//! test -p svc-sqlite --test it MODULE`.

mod both_stores;
#[path = "../../../svc-core/tests/it/support/generate.rs"]
#[allow(dead_code, reason = "the tests of svc-core use the rest of it")]
mod generate;
mod log;
#[path = "../../../svc-core/tests/it/support/partial_calls.rs"]
mod partial_calls;
mod polling;
mod server;

mod anonymous;
mod backup;
mod batch;
mod batch_ndjson;
mod complete_errors;
mod concurrency;
mod crud;
mod damage;
#[cfg(unix)]
mod damaged_file;
mod deliveries;
mod duplicate_pairs;
mod duplicates;
mod erasure;
mod events;
mod export;
mod file;
mod filters;
mod helpers;
mod idempotency;
mod import;
mod irregular_values;
mod keys;
mod links;
mod list_sizes;
mod lost_updates;
mod memory_conformance;
mod merge_batch;
mod merge_helper;
mod merges;
mod money;
mod moves;
mod one_action;
mod paging;
mod people_data;
mod regressions;
mod repair;
mod requirements;
mod rights;
mod shared_transactions;
mod stats;
mod store_contract;
mod store_differential;
mod sweep;
mod tenants;
mod undo_merge;
mod undo_merge_helper;

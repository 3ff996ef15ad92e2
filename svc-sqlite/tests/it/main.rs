//! The integration tests of `svc-sqlite`. They are one program, so that it is linked once: `cargo
//! test -p svc-sqlite --test it MODULE`.

#[path = "../../../svc-core/tests/it/support/generate.rs"]
#[allow(dead_code, reason = "the tests of svc-core use the rest of it")]
mod generate;
mod log;
mod polling;
mod server;

mod backup;
mod batch;
mod batch_ndjson;
mod concurrency;
mod crud;
mod damage;
mod deliveries;
mod erasure;
mod events;
mod complete_errors;
mod export;
mod file;
mod filters;
mod helpers;
mod keys;
mod store_contract;
mod links;
mod lost_updates;
mod memory_conformance;
mod money;
mod paging;
mod repair;
mod regressions;
mod rights;
mod requirements;
mod import;
mod stats;
mod store_differential;
mod anonymous;
mod sweep;
mod tenants;
mod shared_transactions;
#[cfg(unix)]
mod damaged_file;

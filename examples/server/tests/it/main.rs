//! The integration tests of the demo, as one program that is linked once:
//! `cargo test -p svc-server --test it MODULE`.

mod badges;
mod browser;
mod conformance;
mod crash;
mod demo;
mod export;
mod malformed_requests;
mod import;
mod languages;
mod log;
mod memory;
mod metrics;
mod options;
mod pages;
mod postgres;
mod spawned_programs;
mod proxies;
mod readme;
mod retries;
mod support;
mod walk;
mod webhooks;
mod wording;

//! The integration tests of the demo, as one program that is linked once:
//! `cargo test -p svc-server --test it MODULE`.

mod badges;
mod browser;
mod conformance;
mod crash;
mod demo;
mod export;
mod import;
mod import_actions;
mod import_page;
mod languages;
mod log;
mod malformed_requests;
mod memory;
mod metrics;
mod options;
mod pages;
mod postgres;
mod proxies;
mod readme;
mod records;
mod retries;
mod spawned_programs;
mod support;
mod walk;
mod webhooks;
mod wording;

//! The service over a small backend: what each request gets, without a network.

mod backend;
mod client;

mod bodies;
mod compare;
mod connections;
#[cfg(feature = "tokio")]
mod deliveries;
mod docs;
mod for_people;
mod frame;
mod heads;
mod http_rules;
mod keys;
mod light;
mod log;
mod machine;
mod map;
mod observe;
mod order;
mod refusals;
mod sites;
mod trouble;

//! The service over a small backend: what each request gets, without a network.

mod backend;
mod client;

mod bodies;
#[cfg(feature = "pages")]
mod compare;
mod connections;
#[cfg(feature = "tokio")]
mod deliveries;
#[cfg(feature = "pages")]
mod docs;
#[cfg(feature = "pages")]
mod for_people;
#[cfg(feature = "pages")]
mod frame;
mod heads;
mod http_rules;
mod keys;
#[cfg(feature = "pages")]
mod light;
mod log;
#[cfg(not(feature = "pages"))]
mod machine;
#[cfg(feature = "pages")]
mod map;
mod observe;
mod order;
mod refusals;
mod sites;
mod trouble;

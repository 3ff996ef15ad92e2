//! The library as a vendor and a client see it: a backend in memory, and requests answered without HTTP.

#[path = "../support/mod.rs"]
mod support;

mod composed;
#[cfg(feature = "memory")]
mod conditional;
mod golden;
mod handling;
mod links;
mod matching;
mod narrowing;
mod native;
mod operations;
mod properties;
mod registration;
mod response_cache;
mod responses;
mod strangers;
mod transactions;

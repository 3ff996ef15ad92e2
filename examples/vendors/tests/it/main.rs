//! The integration tests of the vendors' examples: one program, so that it is linked once.

#[cfg(feature = "compliance")]
mod compliance;
mod crm;
mod examples;
mod mounts;
mod narrower;
#[cfg(feature = "postgres")]
mod postgres;
mod service;
mod support;

//! The integration tests of the vendors' examples: one program, so that it is linked once.

mod compliance;
mod crm;
mod examples;
mod mounts;
mod narrower;
mod postgres;
mod service;
mod support;

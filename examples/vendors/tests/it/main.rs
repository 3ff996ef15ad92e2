//! The integration tests of the vendor examples, as one program that is linked once.

mod compliance;
mod constraints;
mod crm;
mod examples;
mod mapped;
mod mapped_guide;
mod mapped_histories;
mod mapped_sqlite;
mod mariadb;
mod mounts;
mod other_engine;
mod postgres;
mod service;
mod support;
mod wide_sqlite;

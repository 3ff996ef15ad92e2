//! The embedded reference backend of the Activist Data Exchange API: durable and fast, on SQLite.

#![allow(dead_code, reason = "the kinds' operations, which use the floor, land next")]

mod backup;
mod batch;
mod continuation;
mod file;
mod hex;
mod key_admin;
mod keys;
mod marks;
mod members;
mod migrate;
mod options;
mod pages;
mod readers;
mod store;
mod tenants;
mod trouble;
mod writer;

pub use file::{APPLICATION_ID, FileError, is_data_file, remove_data_file};
pub use key_admin::{KeyError, KeyInfo, KeyOptions, NewKey};
pub use options::Options;
pub use store::Store;

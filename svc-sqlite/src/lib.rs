//! The embedded reference backend of the Activist Data Exchange API: durable and fast, on SQLite.

#![allow(dead_code, reason = "the kinds' operations, which use the floor, land next")]

mod batch;
mod continuation;
mod file;
mod hex;
mod members;
mod migrate;
mod options;
mod pages;
mod readers;
mod store;
mod trouble;
mod writer;

pub use file::{FileError, is_data_file, remove_data_file};
pub use options::Options;
pub use store::Store;

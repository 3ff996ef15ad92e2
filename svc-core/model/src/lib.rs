//! The data model of the Activist Data Exchange API: kinds of records, values, links, drafts,
//! pages, filters, helper requests, errors and JSON.
//!
//! Depend on `svc-core`, which re-exports all of it.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

pub mod auth;
pub mod context;
pub mod draft;
pub mod duplicates;
pub mod error;
pub mod field_set;
pub mod filter;
pub mod helper;
#[doc(hidden)]
pub mod internal;
pub mod json;
pub mod link;
pub mod model;
pub mod names;
pub mod page;
pub mod raw;
pub mod record;
pub mod schema;
pub mod types;
pub mod value;

pub use context::{BaseUrl, Context, Tenant};
pub use draft::{Draft, Patch};
pub use error::{Error, ErrorCode, ErrorKind, Problem, Result};
pub use page::{ListRequest, NextPage, Page, PageRequest};
pub use record::Record;

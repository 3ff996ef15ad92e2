//! The rulebook of the Activist Data Exchange API, and the port through which a store serves it.
//! `svc-core` re-exports all of it, and is the crate to depend on.
//!
//! [`rules::decide`] is a synchronous function over plain data: a [`store::WriteRequest`] goes in,
//! [`store::Lookup`]s and [`store::Change`]s come out. It knows no database and no HTTP.

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

pub mod outbox;
pub mod rules;
pub mod store;

use svc_model::{
    context, draft, error, filter, helper, json, link, model, page, record, schema, value,
};

//! The rules of the Activist Data Exchange API, and the traits through which a store executes them.
//! `svc-core` re-exports this crate. Depend on `svc-core` instead.
//!
//! [`rules::decide`] is a synchronous function over plain data. It takes a [`store::WriteRequest`].
//! It requests data from the store with [`store::Lookup`]s, and returns the [`store::Change`]s to
//! apply. It does not depend on a database or on HTTP.

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
    context, draft, duplicates, error, filter, helper, json, link, model, page, record, schema,
    value,
};

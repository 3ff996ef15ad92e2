//! The documentation of a server of the Activist Data Exchange API: the `OpenAPI` document, JSON
//! Schemas, HTML pages, the same pages as HAL (JSON with links), and the explorer.
//!
//! The explorer is a page that sends requests from a browser. [`Docs`] adds the documentation to a
//! service. All documents are generated from the operations that the
//! [`Api`](svc_core::api::Api) offers.
//!
//! ```
//! # fn about(api: svc_core::api::Api) {
//! use svc_docs::Docs;
//! use svc_tower::SvcService;
//!
//! let service = SvcService::new(api).with_docs(Docs::new());
//! # }
//! ```
//!
//! To publish the documents elsewhere, create them with [`documents`].
//!
//! Public items of this crate use types of other crates: `svc_core` (the API that is documented),
//! `svc_tower` (the trait [`Documentation`](svc_tower::Documentation)), and `serde_json::Value`
//! (documents).

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

mod docs;
mod document_cache;
pub mod documents;
mod gzip;
mod media;
mod pages;
mod quality;
#[cfg(test)]
mod testing;

pub use docs::Docs;

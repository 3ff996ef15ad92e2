//! The Activist Data Exchange API as a `tower::Service` for axum, hyper and any hyper-based
//! framework.
//!
//! `svc-core` builds an [`Api`](svc_core::api::Api), and [`SvcService`] serves it over HTTP. In this
//! example, clients can read tags:
//!
//! ```
//! use std::sync::Arc;
//!
//! use async_trait::async_trait;
//! use http::{Request, StatusCode};
//! use http_body_util::{BodyExt, Empty};
//! use svc_core::{
//!     Context, Get, Record, Result, Tenant,
//!     api::{Api, ResourceConfig, Vendor},
//!     auth::{Authenticator, Caller, Credentials, Principal, Rights},
//!     link::RecordAddress,
//!     model::Tag,
//!     record::Meta,
//! };
//! use svc_tower::SvcService;
//! use tower::ServiceExt;
//!
//! /// A backend with one kind of record, which can be read.
//! struct Crm;
//!
//! #[async_trait]
//! impl Get<Tag> for Crm {
//!     async fn get(&self, cx: &Context, at: &RecordAddress) -> Result<Option<Record<Tag>>> {
//!         let tag = Tag::default().name("volunteer");
//!         Ok(Some(Record::new(Meta::new(at.id.clone(), cx.received_at()), tag)))
//!     }
//! }
//!
//! /// One key.
//! struct Keys;
//!
//! #[async_trait]
//! impl Authenticator for Keys {
//!     async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<Principal>> {
//!         let is_known = credentials.key == Some("secret");
//!         Ok(is_known.then(|| Principal::new(Tenant::new("acme"), Caller::with_rights(Rights::all()))))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"))
//!     .base_url("https://crm.acme.example/api/v1/")
//!     .authenticator(Keys)
//!     .resource::<Tag, _>(&Arc::new(Crm), ResourceConfig::get)
//!     .build()?;
//! // In axum: `router.nest_service("/api/v1", SvcService::new(api))`. Without a router, it removes the prefix:
//! let service = SvcService::new(api).mounted_at("/api/v1");
//!
//! let request = Request::get("/api/v1/tags/7").header("SVC-API-Token", "secret").body(Empty::<&[u8]>::new())?;
//! let response = service.oneshot(request).await?;
//! assert_eq!(response.status(), StatusCode::OK);
//! let body = response.into_body().collect().await?.to_bytes();
//! assert!(body.starts_with(br#"{"identifiers":["acme:7"]"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The service executes a request in these steps. A step that fails ends the request.
//!
//! 1. It checks the head. A path outside the mount is 404, ambiguous HTTP is 400, and an unknown URL
//!    is 404.
//! 2. It responds to `OPTIONS`, also to the preflight requests of [`Cors`] for record helpers. These
//!    are the six helpers that record an action.
//! 3. It checks the API key (401), then whether the server offers the operation (500
//!    `NOT_IMPLEMENTED`, or 404 if the record does not exist), then the right of the key (403).
//! 4. It checks the media type and the size of the body, and reads the body. It is not read earlier.
//! 5. If the URL is a page of the documentation, the service itself responds. For all other requests,
//!    `svc-core` parses and validates the body, calls the backend and renders the response.
//!
//! The crate `svc-docs` adds the documentation with [`SvcService::with_docs`]: the `OpenAPI`
//! document, JSON Schemas, HTML pages and the explorer. Your own documentation implements the trait
//! [`Documentation`].
//!
//! The feature `server` adds a server with limits on slow clients: `svc_tower::server`.
//!
//! The feature `webhooks` adds the sender of webhook messages: `svc_tower::webhooks`.
//!
//! The [`guide`] describes the steps from an existing program to production.
//!
//! Public items of this crate use types of other crates: `svc_core` (the API to serve), `http`
//! (requests and responses), `http_body` (any request body, and the response body), `bytes::Bytes`
//! (the data of a response body), `tower_service::Service`, and `tokio::net::TcpListener` (the
//! server).
//!
//! A panic in a backend becomes a 500 response of its request. Each request has a `tracing` span
//! with method, route, tenant, status and reference code. The span never has an API key, a query, an
//! id of a record or a body.
//!
//! Requirements: UND-39, UND-34, UND-35, UND-28, HLP-08, AUT-03, AUT-04, ERR-07, UND-17, UND-27,
//! ENT-22, ERR-05, UND-42.

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

mod body;
mod budget;
mod catch_panic;
mod cors;
#[cfg(feature = "tokio")]
mod delivery_worker;
mod dispatch;
mod documentation;
mod forwarded;
pub mod guide;
mod minimal;
mod ndjson;
mod observe;
mod request_head;
mod response;
mod response_body;
mod response_time;
mod route;
#[cfg(feature = "server")]
pub mod server;
mod service;
mod settings;
#[cfg(test)]
mod testing;
mod timer;
#[cfg(feature = "webhooks")]
pub mod webhooks;

pub use body::BodyTimeoutError;
pub use budget::{BodyBudget, BodyBudgetUsage};
pub use cors::Cors;
#[cfg(feature = "tokio")]
pub use delivery_worker::{DeliveryStats, DeliveryWorker};
pub use documentation::{DocsAnswer, DocsFuture, DocsRequest, Documentation};
pub use forwarded::PeerAddr;
pub use observe::ObservedResponse;
pub use response_body::ResponseBody;
pub use service::SvcService;

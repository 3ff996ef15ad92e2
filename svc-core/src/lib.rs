//! The core of the Activist Data Exchange API. It converts a request into a response: operations,
//! validation, links, errors, and rendering of HAL documents (JSON with links). It performs no I/O.
//!
//! A *vendor*, the maker of a server, implements a trait for each supported operation over its
//! existing tables, and registers the operation. The API offers, links and declares exactly the
//! registered operations. In this example, the vendor has a list of contacts. It implements one
//! helper, the sign-up of a person:
//!
//! ```
//! use std::{
//!     sync::{Arc, Mutex},
//!     time::Duration,
//! };
//!
//! use async_trait::async_trait;
//! use http::Method;
//! use svc_core::{
//!     Api, Context, Error, Helper, Result, Tenant, Vendor,
//!     api::Request,
//!     auth::{Authenticator, Caller, Credentials, Identity, Principal, Rights},
//!     helper::{EntryStatus, HelperOutcome, PersonSignup, HelperRequest},
//!     record::{Meta, Record},
//!     value::Id,
//! };
//!
//! /// The table of the vendor: name and e-mail address.
//! #[derive(Default)]
//! struct Crm(Mutex<Vec<(String, String)>>);
//!
//! #[async_trait]
//! impl Helper<PersonSignup> for Crm {
//!     async fn run(&self, cx: &Context, plan: HelperRequest<PersonSignup>) -> Result<HelperOutcome<PersonSignup>> {
//!         let person = plan.person().ok_or_else(|| Error::unexpected("a sign-up has a person"))?.fields();
//!         let email = person.email_addresses.iter().flatten().find_map(|email| email.address.clone());
//!         let mut contacts = self.0.lock().map_err(|_| Error::unavailable(Duration::from_secs(1)))?;
//!         contacts.push((person.given_name.clone().unwrap_or_default(), email.unwrap_or_default()));
//!         let id = Id::new(&format!("contact-{}", contacts.len())).ok_or_else(|| Error::unexpected("no such id"))?;
//!         Ok(HelperOutcome::person(Record::new(Meta::new(id, cx.received_at()), person), EntryStatus::Created))
//!     }
//! }
//!
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
//! let crm = Arc::new(Crm::default());
//! let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"))
//!     .base_url("https://crm.acme.example/api/v1/")
//!     .authenticator(Keys)
//!     .helper::<PersonSignup>(&crm)
//!     .build()?;
//!
//! // `svc_tower::SvcService::new(api)` serves it over HTTP. Without HTTP:
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let identity = Identity::Authenticated(Principal::new(Tenant::new("acme"), Caller::with_rights(Rights::all())));
//! let body = r#"{"person": {"given_name": "Ada", "email_addresses": [{"address": "ada@example.org"}]}}"#;
//! let request = Request::new(&Method::POST, "people/person_signup").with_body(body);
//! let reply = api.handle(identity.clone(), request).await;
//! assert_eq!(reply.status, 200);
//! assert!(reply.body.starts_with(br#"{"identifiers":["acme:contact-1"]"#));
//! assert_eq!(crm.0.lock().map_err(|_| "poisoned")?.as_slice(), [("Ada".to_owned(), "ada@example.org".to_owned())]);
//!
//! // Without a key the request is rejected.
//! let request = Request::new(&Method::POST, "people/person_signup").with_body(body);
//! assert_eq!(api.handle(Identity::Anonymous, request).await.status, 401);
//!
//! // An invalid body never reaches the code of the vendor, and the response contains every problem.
//! let body = r#"{"person": {"given_name": 7, "email_addresses": [{"address": "nobody"}]}}"#;
//! let request = Request::new(&Method::POST, "people/person_signup").with_body(body);
//! let reply = api.handle(identity, request).await;
//! let text = String::from_utf8_lossy(&reply.body).into_owned();
//! assert!(text.contains(r#"["person.given_name"]"#) && text.contains(r#"["person.email_addresses[0].address"]"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! | Module | Content |
//! |---|---|
//! | [`api`] | [`ApiBuilder`] registers operations and settings, [`Api`] executes requests |
//! | [`operation`] | the table of all operations: methods, rights, bodies, statuses |
//! | [`backend`] | the traits that a backend implements: [`List`], [`Get`], [`Create`], [`Update`], [`Delete`], [`Find`], [`Helper`] |
//! | [`model`] | the kinds of records as Rust types, each with its own table ([`model::Kind`] lists them) |
//! | [`record`], [`page`] | what a backend returns: [`Record`], typed or as stored bytes, and [`Page`] |
//! | [`draft`] | validated input of a backend: [`Draft`] to create, [`Patch`] to change |
//! | [`helper`] | the eight helpers: requests, outcomes, person matching ([`helper::PersonMatching`]) |
//! | [`raw`] | the types of `record`, `draft` and `helper` without the kind as a type parameter, for code that handles all kinds |
//! | [`auth`], [`context`] | keys, rights, callers, tenants ([`auth::Authenticator`], [`auth::Identity`], [`Context`]) |
//! | [`link`] | URLs: [`link::Dialect`] (prefix, key header, share names) and [`link::Layout`] (paths in both directions) |
//! | [`error`](mod@error) | [`ErrorCode`], the closed list of error codes; [`Problem`]; [`Error`], which a backend returns |
//! | [`value`] | ids, identifiers, exact amounts, timestamps, dates, flexible enums |
//! | [`schema`], [`types`] | the fields and links of each kind as constant data, and the mapping of Rust types to types of the API |
//! | [`read`] | strict JSON, JSON Merge Patch, validation of bodies against the schema |
//! | [`field_set`] | [`fields!`], [`writable!`] and [`field_set::LinkKey`]: sets of fields and links, with names that the compiler checks |
//! | [`store`] | the interface of a store, which contains records of several kinds: [`store::Store`], lookups, changes |
//! | [`rules`] | the rules: what each write request means, the same for every store |
//! | [`filter`] | filters and orders of collections |
//! | [`duplicates`] | the comparison of people who may be the same person |
//! | [`json`] | JSON as the API reads and writes it |
//! | `webhooks` | feature: webhooks, which send signed messages about changes |
//! | [`capability`] | the capability document, which declares what an API supports |
//!
//! The [`glossary`] defines the terms, and lists the steps in which a request is executed.
//!
//! `svc-store` contains the building blocks of a store, and a store in memory. `svc-sql` is a store
//! over the tables of an existing program.
//!
//! Public items of this crate use types of other crates: `http` (methods, headers, statuses, URIs,
//! extensions), `bytes::Bytes`, and `uuid::Uuid`. They also use `svc_declaration` (the capability
//! document), `serde` (its serialization), and the boxed futures of `async_trait`.
//!
//! Ids such as CAP-04 refer to requirements of the catalogue, in the crate `svc-catalogue`.
//!
//! Requirements: CAP-04, AUT-07, ERR-39.

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

pub mod api;
pub mod backend;
pub mod capability;
pub mod fair_queue;
mod hal;
#[doc(hidden)]
pub mod internal;
pub mod operation;
pub mod read;
#[cfg(test)]
mod testing;
#[cfg(feature = "webhooks")]
pub mod webhooks;

#[doc = include_str!("glossary.md")]
pub mod glossary {}

pub use api::{Api, ApiBuilder, Vendor};
pub use backend::{
    ChangeFeed, Create, CreateRequest, Created, Delete, DeleteRequest, Deliver, FeedRequest,
    FeedResponse, Find, FindKey, Get, Helper, IdempotencyStore, List, LockKey, RevisionSource,
    Transactions, Update, UpdateRequest,
};
pub use svc_model::{
    BaseUrl, Context, Draft, Error, ErrorCode, ErrorKind, ListRequest, NextPage, Page, PageRequest,
    Patch, Problem, Record, Result, Tenant, auth, context, draft, duplicates, each_kind, error,
    field, field_set, fields, filter, helper, json, link, model, page, raw, record, schema, types,
    value, writable,
};

pub use svc_rules::{rules, store};

use svc_model::names;

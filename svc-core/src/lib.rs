//! Resources, operations, links, capabilities, errors and HAL rendering of the Activist Data
//! Exchange API. No I/O.
//!
//! A vendor keeps the tables, the locks and the ids it has, implements a trait for each operation
//! that it supports, and registers it. What is registered exists, is linked and is declared;
//! nothing else is. Here a sign-up form writes into a list of contacts that has nothing to do with
//! this library:
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
//!     auth::{Authenticator, Caller, Credentials, Identity, Rights},
//!     helper::{EntryStatus, HelperOutcome, PersonSignup, HelperRequest},
//!     record::{Meta, Record},
//!     value::Id,
//! };
//!
//! /// The vendor's own table: name and e-mail address.
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
//!         Ok(HelperOutcome::person(Record::new(Meta::new(id, cx.received_at), person), EntryStatus::Created))
//!     }
//! }
//!
//! struct Keys;
//!
//! #[async_trait]
//! impl Authenticator for Keys {
//!     async fn authenticate(&self, credentials: Credentials<'_>) -> Result<Option<(Tenant, Caller)>> {
//!         let is_known = credentials.key == Some("secret");
//!         Ok(is_known.then(|| (Tenant::new("acme"), Caller::with_rights(Rights::all()))))
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
//! let identity = Identity::Authenticated(Tenant::new("acme"), Caller::with_rights(Rights::all()));
//! let body = r#"{"person": {"given_name": "Ada", "email_addresses": [{"address": "ada@example.org"}]}}"#;
//! let request = Request::new(&Method::POST, "people/person_signup").with_body(body);
//! let reply = api.handle(identity.clone(), request).await;
//! assert_eq!(reply.status, 200);
//! assert!(reply.body.starts_with(br#"{"identifiers":["acme:contact-1"]"#));
//! assert_eq!(crm.0.lock().map_err(|_| "poisoned")?.as_slice(), [("Ada".to_owned(), "ada@example.org".to_owned())]);
//!
//! // Without a key there is nothing to be had (AUT-07).
//! let request = Request::new(&Method::POST, "people/person_signup").with_body(body);
//! assert_eq!(api.handle(Identity::Anonymous, request).await.status, 401);
//!
//! // A body that breaks rules never gets as far as the vendor's code, and every rule is named (ERR-39).
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
//! # Where things are
//!
//! | Module | What it has |
//! |---|---|
//! | [`api`] | [`ApiBuilder`] registers operations and settings, [`Api`] resolves, admits and answers requests |
//! | [`operation`] | the operations of the interface as one table: methods, rights, bodies, statuses |
//! | [`ops`] | the traits that a backend implements: [`List`], [`Get`], [`Create`], [`Update`], [`Delete`], [`Find`], [`Helper`] |
//! | [`model`] | the kinds of records as Rust types, each in a table of its own ([`model::Kind`] names them) |
//! | [`record`], [`page`] | what a backend hands over: [`Record`] typed or as stored bytes, [`Page`] |
//! | [`draft`] | what a backend is handed, validated: [`Draft`] to create, [`Patch`] to change |
//! | [`helper`] | the eight helpers: plans, outcomes, how people are matched ([`helper::PersonMatching`]) |
//! | [`raw`] | the same without the type of the kind or the helper, for programs that treat all alike |
//! | [`auth`], [`context`] | keys, rights, callers, tenants ([`auth::Authenticator`], [`auth::Identity`], [`Context`]) |
//! | [`link`] | addresses: [`link::Dialect`] (prefix, key header, share names) and [`link::Layout`] (paths both ways) |
//! | [`error`](mod@error) | [`ErrorCode`], the closed list of reasons; [`Problem`]; [`Error`], what a backend returns |
//! | [`value`] | ids, identifiers, exact amounts, timestamps, dates, flexible enums |
//! | [`schema`], [`describe`] | the tables as constant data, and how a Rust type stands for a type of the interface |
//! | [`read`] | strict JSON, JSON Merge Patch, bodies against the tables |
//! | [`field_set`] | [`fields!`], [`writable!`] and [`field_set::LinkKey`]: restrictions and links that the compiler checks |
//! | [`store`] | what a store of every kind is asked and told: [`store::Store`], questions, changes |
//! | [`rules`] | the rulebook: what each write means, decided once for every store |
//! | [`filter`] | filters and orders of collections |
//! | [`json`] | JSON as the API reads and writes it |
//! | `webhook` | feature: messages about changes, signed: the rules of webhooks |
//! | [`capability`] | the capability document: what an API declares, and its form for readers |
//!
//! The [`glossary`] defines the terms.
//!
//! `svc-store` has what a store needs besides its queries, and a store in memory; `svc-sql` is a
//! store over the tables of an existing program.
//!
//! Types of other crates in this API: `http` (methods, headers, statuses, addresses, extensions),
//! `bytes::Bytes`, `uuid::Uuid`, `svc_declaration` (the capability document), `serde` (what it is
//! read and written with), and the boxed futures of `async_trait`.
//!
//! Identifiers in brackets, such as CAP-04, name rows of the requirement catalogue.
//!
//! Requirements: CAP-04.

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
pub mod capability;
pub mod fair_queue;
mod hal;
#[doc(hidden)]
pub mod internal;
pub mod operation;
pub mod ops;
pub mod read;
#[cfg(test)]
mod testing;
#[cfg(feature = "webhooks")]
pub mod webhook;

#[doc = include_str!("glossary.md")]
pub mod glossary {}

pub use api::{Api, ApiBuilder, Vendor};
pub use ops::{
    ChangeFeed, Create, CreateRequest, Created, Delete, DeleteRequest, Deliver, FeedRequest,
    FeedResponse, Find, FindKey, Get, Helper, IdempotencyStore, List, LockKey, RevisionSource,
    Transactions, Update, UpdateRequest,
};
pub use svc_model::{
    BaseUrl, Context, Draft, Error, ErrorCode, ErrorKind, ListRequest, NextPage, Page, PageRequest,
    Patch, Problem, Record, Result, Tenant, auth, context, describe, draft, each_kind, error,
    field, field_set, fields, filter, helper, json, link, model, page, raw, record, schema, value,
    writable,
};

pub use svc_rules::{rules, store};

use svc_model::names;

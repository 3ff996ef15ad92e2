//! A vendor's program over PostgreSQL: the API over existing tables (`tables.sql`) with additions
//! (`more.sql`). It implements the traits of single operations, and the library composes the
//! helpers.
//! - `mapping` maps five tables.
//! - `operations` has the operations of all mapped kinds.
//! - `transactions` has the pool and the transactions of requests.
//! - `keys` has the authenticator.
//!
//! This module registers them.

mod keys;
mod mapping;
mod operations;
mod transactions;

use std::sync::Arc;

use svc_core::api::{Behaviour, BuildError, IfMatchPolicy};
use svc_core::helper::{PersonSignup, RecordAttendance};
use svc_core::model::{Attendance, Event, Person, Tag, Tagging, attendance, event, person, tag};
use svc_core::{Api, Vendor, fields, writable};
use svc_docs::Docs;
use svc_tower::SvcService;

pub use transactions::PostgresCrm;

/// Returns the API over a database. Clients reach its entry point at `base_url`.
///
/// # Errors
///
/// Returns an error if `base_url` is invalid.
pub fn interface(crm: &Arc<PostgresCrm>, base_url: &str) -> Result<SvcService, BuildError> {
    let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"))
        .base_url(base_url)
        .authenticator(Arc::clone(crm))
        .anonymous_helpers(Arc::clone(crm))
        .transactions(crm)
        .map_errors(transactions::meaning)
        .behaviour(Behaviour::OneActionPerPerson)
        .conditional_requests(IfMatchPolicy::Optional)
        .resource::<Person, _>(crm, |people| {
            let people = people.all_operations().find().without_link(person::link::modified_by);
            people
                .readable_fields(fields!(person::{given_name, family_name, email_addresses::{address, primary}}))
                .writable_fields(writable!(person::{given_name, family_name, email_addresses::{address, primary}}))
                .required_fields(writable!(person::{email_addresses::{address}}))
        })
        .resource::<Tag, _>(crm, |tags| {
            let tags = tags.all_operations().find().without_link(tag::link::creator).without_link(tag::link::modified_by);
            tags.readable_fields(fields!(tag::{name})).writable_fields(writable!(tag::{name})).required_fields(writable!(tag::{name}))
        })
        .resource::<Tagging, _>(crm, |taggings| {
            let taggings = taggings.list_under::<Tag>().list_under::<Person>().get().create().delete();
            taggings.readable_fields(fields!(tagging::{})).writable_fields(writable!(tagging::{}))
        })
        .resource::<Event, _>(crm, |events| {
            let events = events.all_operations().find().without_link(event::link::creator);
            events
                .without_link(event::link::modified_by)
                .without_link(event::link::organizer)
                .readable_fields(fields!(event::{title, description, start_date, end_date, capacity}))
                .writable_fields(writable!(event::{title, description, start_date, end_date, capacity}))
                .required_fields(writable!(event::{title, start_date}))
                .value_range(event::key::capacity, 0..=i64::from(i32::MAX))
        })
        .resource::<Attendance, _>(crm, |attendances| {
            let attendances = attendances.list_under::<Event>().list_under::<Person>().get().create().update().find();
            attendances
                .readable_fields(fields!(attendance::{status}))
                .writable_fields(writable!(attendance::{status}))
                .allowed_values(attendance::key::status, ["accepted", "declined", "tentative"])
                .default(attendance::key::status, "accepted")
        })
        .without_capability("attendances.create")
        .without_capability("attendances.update")
        .compose_helper::<PersonSignup>()
        .compose_helper::<RecordAttendance>()
        .build()?;
    Ok(SvcService::new(api).with_docs(Docs::new()))
}

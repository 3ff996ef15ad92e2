//! A vendor's program over PostgreSQL: the interface on tables that were there before
//! (`tables.sql`, and beside it what was added, in `more.sql`), by per-operation traits, with
//! helpers that the library composes of them.
//!
//! The mapping of five tables stands in `mapping`, the operations over whatever is mapped in
//! `operations`, the pool and the transactions of calls in `transactions`, the keys in `keys`, and
//! here what is offered of it.

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

pub use transactions::Crm;

/// The interface over a database, for clients that reach its entry point under `base_url`.
///
/// # Errors
///
/// `base_url` is none.
pub fn interface(crm: &Arc<Crm>, base_url: &str) -> Result<SvcService, BuildError> {
    let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"))
        .base_url(base_url)
        .authenticator(Arc::clone(crm))
        .anonymous_helpers(Arc::clone(crm))
        .transactions(crm)
        .classify(transactions::meaning)
        .declares(Behaviour::OneActionPerPerson)
        .conditional_requests(IfMatchPolicy::Optional)
        .resource::<Person, _>(crm, |people| {
            let people = people.complete().find().without_link(person::link::modified_by);
            people
                .readable(fields!(person::{given_name, family_name, email_addresses::{address, primary}}))
                .writable(writable!(person::{given_name, family_name, email_addresses::{address, primary}}))
                .required(writable!(person::{email_addresses::{address}}))
        })
        .resource::<Tag, _>(crm, |tags| {
            let tags = tags.complete().find().without_link(tag::link::creator).without_link(tag::link::modified_by);
            tags.readable(fields!(tag::{name})).writable(writable!(tag::{name})).required(writable!(tag::{name}))
        })
        .resource::<Tagging, _>(crm, |taggings| {
            let taggings = taggings.under::<Tag>().under::<Person>().get().create().delete();
            taggings.readable(fields!(tagging::{})).writable(writable!(tagging::{}))
        })
        .resource::<Event, _>(crm, |events| {
            let events = events.complete().find().without_link(event::link::creator);
            events
                .without_link(event::link::modified_by)
                .without_link(event::link::organizer)
                .readable(fields!(event::{title, description, start_date, end_date, capacity}))
                .writable(writable!(event::{title, description, start_date, end_date, capacity}))
                .required(writable!(event::{title, start_date}))
                .range(event::key::capacity, 0..=i64::from(i32::MAX))
        })
        .resource::<Attendance, _>(crm, |attendances| {
            let attendances = attendances.under::<Event>().under::<Person>().get().create().update().find();
            attendances
                .readable(fields!(attendance::{status}))
                .writable(writable!(attendance::{status}))
                .values(attendance::key::status, ["accepted", "declined", "tentative"])
                .default(attendance::key::status, "accepted")
        })
        .without("attendances.create")
        .without("attendances.update")
        .compose::<PersonSignup>()
        .compose::<RecordAttendance>()
        .build()?;
    Ok(SvcService::new(api).with_docs(Docs::new()))
}

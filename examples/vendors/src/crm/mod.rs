//! A vendor's CRM, and the interface on top of its own tables.
//!
//! [`existing`] is what was there before, over the asynchronous database client of [`client`]. The
//! rest is the integration: a mapping of five tables in `mapping`, the operations over whatever is
//! mapped in `operations`, the transactions that they work in in `transactions`, the answers of
//! calls that come again in `answers`, what was changed since in `changes`, the vendor's keys in
//! `keys`, and here what is offered of it. Helpers are the library's: it composes them of the
//! operations, each call in one transaction.

mod answers;
mod changes;
pub mod client;
pub mod existing;
mod keys;
mod mapping;
mod operations;
mod refs;
mod transactions;

use std::sync::Arc;

use svc_core::api::{Atomicity, BuildError, IfMatchPolicy};
use svc_core::filter::FilterField;
use svc_core::helper::{PersonSignup, RecordSignature};
use svc_core::model::{Person, Petition, Signature, Tag, Tagging, person, petition, tag};
use svc_core::{Api, Vendor, fields, writable};
use svc_docs::Docs;
use svc_tower::SvcService;

pub use existing::Crm;

/// The interface over a CRM, for clients that reach its entry point under `base_url`.
///
/// # Errors
///
/// `base_url` is none.
pub fn interface(crm: &Arc<Crm>, base_url: &str) -> Result<SvcService, BuildError> {
    let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"))
        .base_url(base_url)
        .authenticator(Arc::clone(crm))
        .anonymous_helpers(Arc::clone(crm))
        .resource::<Person, _>(crm, |people| {
            let people = people.list().get().create().update().delete().find();
            people
                .filterable([FilterField::EmailAddress, FilterField::Identifiers])
                .without_link(person::link::modified_by)
                .readable(fields!(person::{given_name, family_name, source, email_addresses}))
                .writable(writable!(person::{given_name, family_name, source, email_addresses}))
        })
        .resource::<Petition, _>(crm, |petitions| {
            let petitions = petitions.list().get().create().update().delete();
            petitions
                .filterable([FilterField::Identifiers])
                .without_link(petition::link::creator)
                .without_link(petition::link::modified_by)
                .readable(fields!(petition::{title, summary, petition_text, total_signatures}))
                .writable(writable!(petition::{title, summary, petition_text}))
        })
        .resource::<Signature, _>(crm, |signatures| {
            let signatures = signatures
                .under::<Petition>()
                .under::<Person>()
                .get()
                .create()
                .update()
                .delete()
                .find();
            signatures
                .readable(fields!(signature::{action_date, comments}))
                .writable(writable!(signature::{action_date, comments}))
        })
        .resource::<Tag, _>(crm, |tags| {
            let tags = tags.list().get().create().update().delete().find();
            tags.filterable([FilterField::Name, FilterField::Identifiers])
                .without_link(tag::link::creator)
                .without_link(tag::link::modified_by)
                .readable(fields!(tag::{name, description}))
                .writable(writable!(tag::{name, description}))
        })
        .resource::<Tagging, _>(crm, |taggings| {
            let taggings = taggings
                .under::<Tag>()
                .under::<Person>()
                .get()
                .create()
                .delete();
            taggings
                .readable(fields!(tagging::{item_type}))
                .writable(writable!(tagging::{}))
        })
        .compose::<PersonSignup>()
        .compose::<RecordSignature>()
        .transactions(crm)
        .idempotency(crm)
        .changes(crm)
        .atomicity(Atomicity::WholeCall)
        .conditional_requests(IfMatchPolicy::Optional)
        .build()?;
    Ok(SvcService::new(api).with_docs(Docs::new()))
}

//! A vendor's CRM, and the API over its own tables.
//!
//! [`existing`] is the existing program. It uses the asynchronous database client of [`client`].
//! The other modules add the API:
//! - `mapping` maps five tables.
//! - `operations` has the operations of all mapped kinds.
//! - `merges` merges two customers.
//! - `transactions` has the transactions of the operations.
//! - `answers` stores the responses of requests with an idempotency key.
//! - `changes` has the change feed.
//! - `keys` has the authenticator.
//!
//! This module registers them. The library composes the helpers from the operations, with one
//! transaction for each request.

mod answers;
mod changes;
pub mod client;
pub mod existing;
mod keys;
mod mapping;
mod merges;
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

/// Returns the API of a CRM. Clients reach its entry point at `base_url`.
///
/// # Errors
///
/// Returns an error if `base_url` is invalid.
pub fn interface(crm: &Arc<Crm>, base_url: &str) -> Result<SvcService, BuildError> {
    let api = Api::builder(Vendor::new("Acme", "Acme CRM").namespace("acme"))
        .base_url(base_url)
        .authenticator(Arc::clone(crm))
        .anonymous_helpers(Arc::clone(crm))
        .resource::<Person, _>(crm, |people| {
            let people = people.list().get().create().update().delete().find();
            let people = people.merge();
            people
                .filter_fields([
                    FilterField::EmailAddress,
                    FilterField::Identifiers,
                    FilterField::Tag,
                ])
                .without_link(person::link::modified_by)
                .readable_fields(
                    fields!(person::{given_name, family_name, source, email_addresses}),
                )
                .writable_fields(
                    writable!(person::{given_name, family_name, source, email_addresses}),
                )
        })
        .resource::<Petition, _>(crm, |petitions| {
            let petitions = petitions.list().get().create().update().delete();
            petitions
                .filter_fields([FilterField::Identifiers])
                .without_link(petition::link::creator)
                .without_link(petition::link::modified_by)
                .readable_fields(
                    fields!(petition::{title, summary, petition_text, total_signatures}),
                )
                .writable_fields(writable!(petition::{title, summary, petition_text}))
        })
        .resource::<Signature, _>(crm, |signatures| {
            let signatures = signatures
                .list_under::<Petition>()
                .list_under::<Person>()
                .get()
                .create()
                .update()
                .delete()
                .find();
            signatures
                .readable_fields(fields!(signature::{action_date, comments}))
                .writable_fields(writable!(signature::{action_date, comments}))
        })
        .resource::<Tag, _>(crm, |tags| {
            let tags = tags.list().get().create().update().delete().find();
            tags.filter_fields([FilterField::Name, FilterField::Identifiers])
                .without_link(tag::link::creator)
                .without_link(tag::link::modified_by)
                .readable_fields(fields!(tag::{name, description}))
                .writable_fields(writable!(tag::{name, description}))
        })
        .resource::<Tagging, _>(crm, |taggings| {
            let taggings = taggings
                .list_under::<Tag>()
                .list_under::<Person>()
                .get()
                .create()
                .delete();
            taggings
                .readable_fields(fields!(tagging::{item_type}))
                .writable_fields(writable!(tagging::{}))
        })
        .compose_helper::<PersonSignup>()
        .compose_helper::<RecordSignature>()
        .transactions(crm)
        .merge_people()
        .idempotency(crm)
        .change_feed(crm)
        .atomicity(Atomicity::WholeCall)
        .conditional_requests(IfMatchPolicy::Optional)
        .build()?;
    Ok(SvcService::new(api).with_docs(Docs::new()))
}

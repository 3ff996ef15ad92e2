//! A vendor's CRM, and the interface on top of its own tables.
//!
//! [`existing`] is what was there before. The rest is the integration: a mapping of three tables in `mapping`, the
//! operations over whatever is mapped in `operations`, two helpers in one transaction each in `helpers`, the vendor's keys
//! in `keys`, and here what is offered of it.

pub mod existing;
mod helpers;
mod keys;
mod mapping;
mod operations;
mod refs;

use std::sync::Arc;

use svc_core::api::{Behaviour, BuildError};
use svc_core::helper::{PersonSignup, RecordSignature};
use svc_core::model::{Person, Petition, Signature, person, petition};
use svc_core::{Api, Vendor, fields, writable};
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
            let people = people.list().get().create().update().delete();
            people
                .without_link(person::link::modified_by)
                .readable(fields!(person::{given_name, family_name, source, email_addresses}))
                .writable(writable!(person::{given_name, family_name, source, email_addresses}))
        })
        .resource::<Petition, _>(crm, |petitions| {
            let petitions = petitions.list().get().create().update().delete();
            petitions
                .without_link(petition::link::creator)
                .without_link(petition::link::modified_by)
                .readable(fields!(petition::{title, summary, petition_text, total_signatures}))
                .writable(writable!(petition::{title, summary, petition_text}))
        })
        .resource::<Signature, _>(crm, |signatures| {
            let signatures = signatures.under::<Petition>().under::<Person>().get().create().update().delete();
            signatures
                .readable(fields!(signature::{action_date, comments}))
                .writable(writable!(signature::{action_date, comments}))
        })
        .helper::<PersonSignup>(crm)
        .helper::<RecordSignature>(crm)
        .declares(Behaviour::MatchesPeople)
        .build()?;
    Ok(SvcService::new(api))
}

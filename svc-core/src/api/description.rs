//! What documents about an API are written from besides its public face.

use super::Api;
use crate::{
    context::BaseUrl,
    error::{ErrorCode, Problem},
    hal::{self, CollectionView, FailureView},
    helper::{HelperName, RawHelperOutcome},
    link::Scope,
    model::Kind,
    page::{PageRequest, RawPage},
    record::RawRecord,
};

/// The renderer that answers requests, for the examples in documents.
#[derive(Debug, Clone, Copy)]
pub struct DocumentRenderer<'a> {
    api: &'a Api,
    base: &'a BaseUrl,
}

/// A relation of the vendor's own.
#[derive(Debug)]
pub struct VendorRelation<'a> {
    /// With its prefix.
    pub name: String,
    /// The address of its page.
    pub page: String,
    /// What it is, in a few words.
    pub title: &'a str,
}

impl<'a> DocumentRenderer<'a> {
    /// What documents about an API are written from, under a base.
    #[must_use]
    pub fn new(api: &'a Api, base: &'a BaseUrl) -> Self {
        Self { api, base }
    }

    /// A record as it is answered.
    #[must_use]
    pub fn record(&self, record: &RawRecord) -> Vec<u8> {
        let mut out = Vec::new();
        hal::record(&self.api.hal(self.base), record, true, &mut out);
        out
    }

    /// A page as it is answered to a request that names its number.
    #[must_use]
    pub fn collection(
        &self,
        kind: Kind,
        scope: &Scope,
        request: &PageRequest,
        page: &RawPage,
    ) -> Vec<u8> {
        let signup = kind == Kind::Person
            && self
                .api
                .helpers()
                .any(|helper| helper == HelperName::PersonSignup);
        let view = CollectionView {
            kind,
            scope,
            request,
            names_page: true,
            repeated: "",
            page,
            signup,
        };
        let mut out = Vec::new();
        hal::collection(&self.api.hal(self.base), &view, &mut out);
        out
    }

    /// The error object of a request that failed wholly.
    #[must_use]
    pub fn failure(
        &self,
        kind: Option<Kind>,
        code: ErrorCode,
        properties: &[&str],
        reference: Option<&str>,
    ) -> Vec<u8> {
        let problem = Problem::between(code, properties, code.meaning());
        let problems = std::slice::from_ref(&problem);
        let view = FailureView {
            kind,
            status: code.status(),
            problems,
            reference_code: reference,
        };
        let mut out = Vec::new();
        hal::failure(&self.api.hal(self.base), &view, &mut out);
        out
    }

    /// The error object of a helper call without a key that failed in parts.
    ///
    /// Requirements: ERR-31, HLP-07.
    #[must_use]
    pub fn report(&self, outcome: &RawHelperOutcome) -> Vec<u8> {
        let mut out = Vec::new();
        let in_style = self.api.response_style_name() == "examples";
        let view = hal::ReportView {
            entries: &outcome.entries,
            embedded: &[],
            anonymous: true,
            examples: in_style,
        };
        hal::non_atomic(&self.api.hal(self.base), &view, &mut out);
        out
    }

    /// The prefix of the vendor's own relations, and each of them.
    ///
    /// Requirements: ENT-27.
    #[must_use]
    pub fn own_relations(&self) -> Option<(&'a str, Vec<VendorRelation<'a>>)> {
        let relations = &self.api.inner.relations;
        let own = relations.own.as_ref()?;
        let named = |link: &'a crate::link::VendorLink| {
            let name = format!("{}:{}", relations.namespace, link.name);
            VendorRelation {
                name,
                page: format!("{}{}", own.pages(), link.name),
                title: &link.title,
            }
        };
        Some((
            &relations.namespace,
            own.links().iter().map(named).collect(),
        ))
    }
}

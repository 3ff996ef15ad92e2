//! The parts of an API that documents need in addition to its public methods.

use std::sync::LazyLock;

use super::Api;
use crate::{
    auth::{Caller, Rights},
    context::BaseUrl,
    error::{ErrorCode, Problem},
    hal::{self, CollectionView, FailureView, Hal},
    helper::{HelperName, RawHelperOutcome},
    link::Scope,
    model::Kind,
    page::{PageRequest, RawPage},
    record::RawRecord,
};

/// Renders examples for documents in the same way as responses.
#[derive(Debug, Clone, Copy)]
pub struct DocumentRenderer<'a> {
    api: &'a Api,
    base: &'a BaseUrl,
}

/// A relation of the vendor.
#[derive(Debug)]
pub struct VendorRelation<'a> {
    /// The name with its prefix.
    pub name: String,
    /// The URL of its page.
    pub page: String,
    /// A short title.
    pub title: &'a str,
}

impl<'a> DocumentRenderer<'a> {
    /// Creates a renderer with URLs under a base URL.
    #[must_use]
    pub fn new(api: &'a Api, base: &'a BaseUrl) -> Self {
        Self { api, base }
    }

    /// Returns the context for records as a caller with every right gets them.
    fn hal(&self) -> Hal<'a> {
        static CALLER: LazyLock<Caller> = LazyLock::new(|| Caller::with_rights(Rights::all()));
        Hal {
            caller: Some(&CALLER),
            ..self.api.hal(self.base)
        }
    }

    /// Renders a record as in a response to a caller with every right.
    #[must_use]
    pub fn record(&self, record: &RawRecord) -> Vec<u8> {
        let mut out = Vec::new();
        hal::record(&self.hal(), record, true, &mut out);
        out
    }

    /// Renders a page as in the response to a request with a page number.
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
        hal::collection(&self.hal(), &view, &mut out);
        out
    }

    /// Renders the error object of a request that failed completely.
    #[must_use]
    pub fn failure(
        &self,
        kind: Option<Kind>,
        code: ErrorCode,
        properties: &[&str],
        reference: Option<&str>,
    ) -> Vec<u8> {
        let problem = Problem::for_properties(code, properties, code.meaning());
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

    /// Renders the error object of an anonymous helper request that failed in parts.
    ///
    /// Requirements: ERR-31, HLP-07.
    #[must_use]
    pub fn report(&self, outcome: &RawHelperOutcome) -> Vec<u8> {
        let mut out = Vec::new();
        let view = hal::ReportView {
            entries: &outcome.entries,
            embedded: &[],
            anonymous: true,
            style: self.api.response_style(),
        };
        hal::non_atomic(&self.api.hal(self.base), &view, &mut out);
        out
    }

    /// Returns the prefix of the vendor's relations, and the relations.
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

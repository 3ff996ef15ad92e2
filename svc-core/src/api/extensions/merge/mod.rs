//! Merges of two people: the operation, its link, its setting and its capability names.
//!
//! Requirements: MRG-01 to MRG-18.

mod answer;
mod body;
mod forward;
mod hal;
pub(super) mod undo;

use async_trait::async_trait;
use http::{Method, StatusCode};

use super::Extension;
use crate::{
    api::{Api, ApiBuilder, Response, admitted::AuthorizedParts},
    auth::Right,
    error::Result,
    hal::RecordLink,
    link::Target,
    model::Kind,
    operation::{
        ExtensionName, Handler, OperationSpec, RequestBodyKind, RequiredRight, ResponseBodyKind,
        TargetShape, always,
    },
};

const NAME: ExtensionName = ExtensionName::Merge;

pub(super) static OPERATIONS: &[OperationSpec] = &[OperationSpec {
    name: "merge",
    method: Method::POST,
    shape: TargetShape::Merge,
    need: RequiredRight::MergePeople,
    input: RequestBodyKind::Merge,
    answers: always(
        StatusCode::OK,
        ResponseBodyKind::Merge,
        "The remaining person, with what the merge changed.",
    ),
    id: "merge_people",
    summary: "Merges another person into this one.",
    handler: Handler::Extension(NAME),
}];

static LINKS: &[RecordLink] = &[RecordLink {
    relation: NAME.relation(),
    kind: Kind::Person,
    right: Right::MergePeople,
    target: Target::Merge,
}];

/// The setting that enables merges of people.
pub(crate) struct PeopleMerges;

#[async_trait]
impl Extension for PeopleMerges {
    fn behaviours(&self) -> Vec<&'static str> {
        vec![
            "merge_people",
            "merge_people.preview",
            "merge_people.forwards",
        ]
    }

    fn name(&self) -> Option<ExtensionName> {
        Some(NAME)
    }

    fn record_links(&self) -> &'static [RecordLink] {
        LINKS
    }

    async fn answer(&self, call: &AuthorizedParts<'_>) -> Result<Response> {
        call.api.change_merged(call).await
    }
}

impl ApiBuilder {
    /// Offers merges of two people and declares them.
    ///
    /// A caller with the right `people.merge` gets a link to the operation in each person. The person
    /// with this link remains. It gets the fields, identifiers and records of the other person, whose
    /// address then finds the remaining one. A preview returns the outcome and changes nothing.
    ///
    /// This needs a [`Store`](crate::store::Store) of every kind that
    /// [merges people](crate::store::Store::merges_people), otherwise it is a build error. Operations
    /// of a vendor do not support it.
    ///
    /// Requirements: MRG-01.
    #[must_use]
    pub fn merge_people(mut self) -> Self {
        self.settings.extensions.merges = Some(PeopleMerges);
        self
    }
}

impl Api {
    /// Returns whether the server offers merges of people.
    ///
    /// Requirements: MRG-01.
    #[must_use]
    pub fn merges_people(&self) -> bool {
        self.extensions().has(NAME)
    }
}

//! Merges of two people: the operation, its link, its setting and its capability names.
//!
//! Requirements: MRG-01 to MRG-18.

mod answer;
mod body;
mod feed;
mod forward;
mod hal;
pub(super) mod undo;

pub(in crate::api) use self::feed::FeedOfMerges;
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
#[derive(Default)]
pub(crate) struct PeopleMerges {
    /// Whether the URL of a merged person finds the remaining one.
    pub(in crate::api) forwards: bool,
    /// Whether merges can be previewed.
    pub(in crate::api) previews: bool,
}

#[async_trait]
impl Extension for PeopleMerges {
    fn behaviours(&self) -> Vec<&'static str> {
        let offered = [
            (true, "merge_people"),
            (self.previews, "merge_people.preview"),
            (self.forwards, "merge_people.forwards"),
        ];
        let offered = offered.into_iter().filter(|(is_offered, _)| *is_offered);
        offered.map(|(_, name)| name).collect()
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
    /// [merges people](crate::store::Store::merges_people), or operations of a vendor that
    /// [merge people](crate::backend::MergePeople), otherwise it is a build error. With operations, the
    /// URL of a merged person finds the remaining one only if [`Find`](crate::Find) is registered for
    /// people, and merges cannot be undone. Previews need [`transactions`](Self::transactions).
    ///
    /// Requirements: MRG-01.
    #[must_use]
    pub fn merge_people(mut self) -> Self {
        self.settings.extensions.merges = Some(PeopleMerges::default());
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

    /// Returns whether the URL of a merged person finds the remaining one.
    ///
    /// Requirements: MRG-09.
    #[must_use]
    pub fn forwards_merged_people(&self) -> bool {
        self.extensions()
            .merges
            .as_ref()
            .is_some_and(|it| it.forwards)
    }

    /// Returns whether merges of people can be previewed.
    ///
    /// Requirements: MRG-19.
    #[must_use]
    pub fn previews_merges(&self) -> bool {
        self.extensions()
            .merges
            .as_ref()
            .is_some_and(|it| it.previews)
    }
}

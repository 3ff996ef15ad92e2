//! People who may be the same person: operations, setting and capability name.
//!
//! Requirements: DUP-01 to DUP-07.

mod answer;
mod body;
mod hal;

use async_trait::async_trait;
use http::{Method, StatusCode};

use super::Extension;
use crate::{
    api::{Api, ApiBuilder, Response, admitted::AuthorizedParts},
    auth::{Operation, Right},
    error::Result,
    hal::{EntryLink, RecordLink},
    link::Target,
    model::Kind,
    operation::{
        ExtensionName, Handler, OperationSpec, RequestBodyKind, RequiredRight, ResponseBodyKind,
        TargetShape, always,
    },
    page::QueryParameter,
};

const NAME: ExtensionName = ExtensionName::Duplicates;

pub(super) static OPERATIONS: &[OperationSpec] = &[
    OperationSpec {
        name: "duplicates",
        method: Method::GET,
        shape: TargetShape::Duplicates,
        need: RequiredRight::People(Operation::Read),
        input: RequestBodyKind::Nothing,
        answers: always(
            StatusCode::OK,
            ResponseBodyKind::Duplicates,
            "The pairs, the most reliable evidence first.",
        ),
        id: "list_duplicates",
        summary: "Lists people who may be the same person.",
        handler: Handler::Extension(NAME),
    },
    OperationSpec {
        name: "person_duplicates",
        method: Method::GET,
        shape: TargetShape::PersonDuplicates,
        need: RequiredRight::People(Operation::Read),
        input: RequestBodyKind::Nothing,
        answers: always(
            StatusCode::OK,
            ResponseBodyKind::Duplicates,
            "The pairs with this person, the most reliable evidence first.",
        ),
        id: "list_duplicates_of_person",
        summary: "Lists people who may be the same person as this one.",
        handler: Handler::Extension(NAME),
    },
    OperationSpec {
        name: "duplicate",
        method: Method::GET,
        shape: TargetShape::DuplicatePair,
        need: RequiredRight::People(Operation::Read),
        input: RequestBodyKind::Nothing,
        answers: always(
            StatusCode::OK,
            ResponseBodyKind::DuplicatePair,
            "The pair, and whether it is dismissed.",
        ),
        id: "read_duplicate",
        summary: "Reads two people who may be the same person.",
        handler: Handler::Extension(NAME),
    },
    OperationSpec {
        name: "dismiss_duplicate",
        method: Method::PUT,
        shape: TargetShape::DuplicatePair,
        need: RequiredRight::People(Operation::Update),
        input: RequestBodyKind::DuplicatePair,
        answers: always(
            StatusCode::OK,
            ResponseBodyKind::DuplicatePair,
            "The pair, and whether it is dismissed.",
        ),
        id: "dismiss_duplicate",
        summary: "States that two people are not the same person.",
        handler: Handler::Extension(NAME),
    },
];

static LINKS: &[RecordLink] = &[RecordLink {
    relation: NAME.relation(),
    kind: Kind::Person,
    right: Right::Operation(Kind::Person, Operation::Read),
    target: Target::PersonDuplicates,
}];

/// The setting that enables the pairs.
pub(crate) struct DuplicateSettings;

#[async_trait]
impl Extension for DuplicateSettings {
    fn behaviours(&self) -> Vec<&'static str> {
        vec!["duplicates"]
    }

    fn name(&self) -> Option<ExtensionName> {
        Some(NAME)
    }

    fn entry_link(&self) -> Option<EntryLink> {
        Some(EntryLink {
            relation: NAME.relation(),
            target: Target::Duplicates,
            title: "Duplicates",
        })
    }

    fn record_links(&self) -> &'static [RecordLink] {
        LINKS
    }

    async fn answer(&self, call: &AuthorizedParts<'_>) -> Result<Response> {
        call.api.answer_about_duplicates(call).await
    }
}

impl ApiBuilder {
    /// Offers pairs of people who may be the same person, and declares them.
    ///
    /// A caller that may read people gets the pairs; one that may update people can dismiss a pair. A
    /// pair is a suggestion, which changes no data.
    ///
    /// This needs a [`Store`](crate::store::Store) of people that
    /// [finds duplicates](crate::store::Store::finds_duplicates), otherwise it is a build error.
    ///
    /// Requirements: DUP-01.
    #[must_use]
    pub fn duplicates(mut self) -> Self {
        self.settings.extensions.duplicates = Some(DuplicateSettings);
        self
    }
}

impl Api {
    /// Returns whether the server offers pairs of people who may be the same person.
    ///
    /// Requirements: DUP-01.
    #[must_use]
    pub fn has_duplicates(&self) -> bool {
        self.extensions().has(NAME)
    }

    /// Returns the relation of the pairs.
    ///
    /// Requirements: DUP-01.
    #[must_use]
    pub fn duplicates_relation(&self) -> String {
        self.dialect().relation(NAME.relation())
    }

    /// Returns the query parameters of a page of pairs.
    ///
    /// Requirements: DUP-04.
    #[must_use]
    pub fn duplicates_parameters(&self) -> Vec<QueryParameter> {
        self.change_feed_parameters()
    }
}

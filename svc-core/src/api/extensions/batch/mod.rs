//! Batches of requests to a helper, and of merges: the operations, their setting and their capability
//! name.
//!
//! Requirements: BAT-01 to BAT-11, MRG-24.

mod answer;
mod hal;

use std::time::Duration;

use async_trait::async_trait;
use http::{Method, StatusCode};

pub use answer::{BatchEntry, BatchRun, MAX_BATCH_ENTRIES};

use super::Extension;
use crate::{
    api::{Api, ApiBuilder, Response, admitted::AuthorizedParts},
    error::Result,
    operation::{
        ExtensionName, Handler, OperationSpec, RequestBodyKind, RequiredRight, ResponseBodyKind,
        TargetShape, always,
    },
    page::{ParameterValues, QueryParameter},
};

const NAME: ExtensionName = ExtensionName::Batch;

pub(super) static OPERATIONS: &[OperationSpec] = &[
    operation(
        TargetShape::Batch,
        RequiredRight::Helper,
        "{helper}_batch",
        "{text}, for many entries in one request.",
    ),
    operation(
        TargetShape::MergeBatch,
        RequiredRight::MergePeople,
        "merge_people_batch",
        "Merges many people into this one in one request.",
    ),
];

const fn operation(
    shape: TargetShape,
    need: RequiredRight,
    id: &'static str,
    summary: &'static str,
) -> OperationSpec {
    OperationSpec {
        name: "batch",
        method: Method::POST,
        shape,
        need,
        input: RequestBodyKind::Batch,
        answers: always(
            StatusCode::OK,
            ResponseBodyKind::Batch,
            "The result of each entry, in order.",
        ),
        id,
        summary,
        handler: Handler::Extension(NAME),
    }
}

/// The query parameter of a preview.
pub(super) const PREVIEW: &str = "preview";

/// The setting that enables batches.
#[derive(Default)]
pub(crate) struct Batches {
    /// Whether batches of helpers can be previewed.
    pub(in crate::api) previews: bool,
}

#[async_trait]
impl Extension for Batches {
    fn behaviours(&self) -> Vec<&'static str> {
        let offered = [(true, "batch"), (self.previews, "batch.preview")];
        let offered = offered.into_iter().filter(|(is_offered, _)| *is_offered);
        offered.map(|(_, name)| name).collect()
    }

    fn name(&self) -> Option<ExtensionName> {
        Some(NAME)
    }

    /// Each entry has a timeout of its own.
    ///
    /// Requirements: BAT-07.
    fn extra_time(&self, _: &AuthorizedParts<'_>) -> Duration {
        Duration::MAX
    }

    async fn answer(&self, call: &AuthorizedParts<'_>) -> Result<Response> {
        Ok(call.batched().await)
    }
}

impl ApiBuilder {
    /// Offers batches of helper requests and declares them.
    ///
    /// Each helper except the schedule helper accepts batches, and so do [merges of
    /// people](Self::merge_people). The URL of a batch is that of the helper with `/batch` appended.
    /// Each entry has the same result as a single request, in order.
    ///
    /// Every backend can support this. A [`Store`](crate::store::Store) gets many entries together,
    /// which share its transactions. Operations of a vendor get one entry after the other.
    ///
    /// Requirements: BAT-01, MRG-24.
    #[must_use]
    pub fn batches(mut self) -> Self {
        self.settings.extensions.batches = Some(Batches::default());
        self
    }
}

impl Api {
    /// Returns whether the server offers batches of helper requests.
    ///
    /// Requirements: BAT-01.
    #[must_use]
    pub fn supports_batches(&self) -> bool {
        self.extensions().has(NAME)
    }

    /// Returns whether batches of helpers can be previewed: the helpers are those of a store.
    ///
    /// Requirements: BAT-13.
    #[must_use]
    pub fn previews_batches(&self) -> bool {
        let batches = &self.inner.settings.extensions.batches;
        batches.as_ref().is_some_and(|batches| batches.previews)
    }

    /// Returns the query parameters of a batch of a helper.
    ///
    /// Requirements: BAT-13.
    #[must_use]
    pub fn batch_parameters(&self) -> Vec<QueryParameter> {
        if !self.previews_batches() {
            return Vec::new();
        }
        let text = "with `true`, nothing is stored, and each entry has the result that it would have alone";
        let values = ParameterValues::OneOf(vec!["false", "true"]);
        vec![QueryParameter::new(PREVIEW, text.to_owned(), values)]
    }
}

//! Many calls of a helper in one request: the operation, its setting and its capability name.
//!
//! Requirements: BAT-01 to BAT-11.

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
};

const NAME: ExtensionName = ExtensionName::Batch;

pub(super) static OPERATIONS: &[OperationSpec] = &[OperationSpec {
    name: "batch",
    method: Method::POST,
    shape: TargetShape::Batch,
    need: RequiredRight::Call,
    input: RequestBodyKind::Batch,
    answers: always(
        StatusCode::OK,
        ResponseBodyKind::Batch,
        "What became of each entry, in order.",
    ),
    id: "{helper}_batch",
    summary: "{text}, many times in one request.",
    handler: Handler::Extension(NAME),
}];

/// The setting that batches are offered.
pub(crate) struct Batches;

#[async_trait]
impl Extension for Batches {
    fn behaviours(&self) -> Vec<&'static str> {
        vec!["batch"]
    }

    fn name(&self) -> Option<ExtensionName> {
        Some(NAME)
    }

    /// Its entries have a time of their own.
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
    /// Takes many calls of a record helper in one request, and declares it: at the helper's address
    /// with `/batch` behind it, each entry is answered as the single call would be, in order.
    ///
    /// Every backend can be served so. A [`Store`](crate::store::Store) is given many entries at
    /// once, which share its transactions; operations of a vendor's own are asked for one entry
    /// after the other.
    ///
    /// Requirements: BAT-01.
    #[must_use]
    pub fn batches(mut self) -> Self {
        self.settings.extensions.batches = Some(Batches);
        self
    }
}

impl Api {
    /// Whether many calls of a helper may come in one request.
    ///
    /// Requirements: BAT-01.
    #[must_use]
    pub fn supports_batches(&self) -> bool {
        self.extensions().has(NAME)
    }
}

//! The extensions of the API: what a server may offer beyond the specification. Each has a folder
//! (or a file) with its operations, handler, documents, capability names and builder methods.
//!
//! | Extension | Requirements | What it adds |
//! |---|---|---|
//! | [`batch`] | BAT | many helper calls or merges in one request |
//! | [`changes`] | SYN | the change feed |
//! | [`conditional`] | ETG | entity tags and conditional requests |
//! | [`duplicates`] | DUP | people who may be the same person |
//! | [`idempotency`] | IDM | stored responses to repeated requests |
//! | [`merge`] | MRG | merges of two people, and their undo |
//! | [`response_cache`] | | cached responses to reads |
//! | [`webhooks`] | HOOK | signed messages about changes |
//!
//! The targets are in [`Target`], because a layout writes every path. The traits that a backend
//! implements are in [`backend`](crate::backend).

pub(crate) mod batch;
pub(crate) mod changes;
pub(crate) mod conditional;
pub(crate) mod duplicates;
pub(crate) mod idempotency;
pub(crate) mod merge;
pub(crate) mod response_cache;
#[cfg(feature = "webhooks")]
pub(crate) mod webhooks;

use std::time::Duration;

use async_trait::async_trait;

use super::{Response, admitted::AuthorizedParts};
use crate::{
    error::{Error, Result},
    hal::{EntryLink, RecordLink},
    link::Target,
    operation::{self, ExtensionName, Handler, OperationSpec, TargetShape},
};
use batch::Batches;
use changes::ChangeFeedSettings;
use conditional::IfMatchPolicy;
use duplicates::DuplicateSettings;
use idempotency::ResponseStorage;
use merge::{PeopleMerges, undo::UndoMerges};
use response_cache::ResponseCache;

/// What an extension adds to the API that offers it.
#[async_trait]
pub(crate) trait Extension: Send + Sync {
    /// The names that the capability document declares.
    fn behaviours(&self) -> Vec<&'static str>;

    /// The name of the extension, if it has operations of its own.
    fn name(&self) -> Option<ExtensionName> {
        None
    }

    /// Its link on the entry point.
    fn entry_link(&self) -> Option<EntryLink> {
        None
    }

    /// Its links in records.
    fn record_links(&self) -> &'static [RecordLink] {
        &[]
    }

    /// Contradictions between its settings and those of other extensions, as sentences.
    fn problems(&self, _all: &Extensions) -> Vec<String> {
        Vec::new()
    }

    /// How much longer than other requests a request for one of its operations may take.
    fn extra_time(&self, _call: &AuthorizedParts<'_>) -> Duration {
        Duration::ZERO
    }

    /// Executes a request for one of its operations.
    async fn answer(&self, _call: &AuthorizedParts<'_>) -> Result<Response> {
        Err(Error::not_implemented())
    }
}

/// The settings of all extensions.
#[derive(Default)]
pub(crate) struct Extensions {
    pub(super) conditional: Option<IfMatchPolicy>,
    pub(super) idempotency: Option<ResponseStorage>,
    pub(super) batches: Option<Batches>,
    pub(super) changes: ChangeFeedSettings,
    pub(super) merges: Option<PeopleMerges>,
    pub(super) undo_merges: UndoMerges,
    pub(super) duplicates: Option<DuplicateSettings>,
    #[cfg(feature = "webhooks")]
    pub(super) webhooks: Option<webhooks::WebhookSettings>,
    pub(super) response_cache: Option<ResponseCache>,
}

impl Extensions {
    /// The extensions that the server offers, in the order of the capability document.
    pub(super) fn offered(&self) -> impl Iterator<Item = &dyn Extension> {
        let all: [Option<&dyn Extension>; _] = [
            self.conditional.as_ref().map(|it| it as _),
            self.idempotency.as_ref().map(|it| it as _),
            self.batches.as_ref().map(|it| it as _),
            self.changes.offered().map(|it| it as _),
            self.merges.as_ref().map(|it| it as _),
            self.undo_merges.offered().map(|it| it as _),
            self.duplicates.as_ref().map(|it| it as _),
            #[cfg(feature = "webhooks")]
            self.webhooks.as_ref().map(|it| it as _),
        ];
        all.into_iter().flatten()
    }

    /// The extension of this name, if the server offers it.
    pub(super) fn get(&self, name: ExtensionName) -> Option<&dyn Extension> {
        self.offered().find(|it| it.name() == Some(name))
    }

    /// Whether the extension of this name is offered.
    pub(super) fn has(&self, name: ExtensionName) -> bool {
        self.get(name).is_some()
    }

    /// Whether an operation belongs to no extension, or to one that is offered. A batch of merges
    /// belongs to two.
    pub(super) fn admit(&self, operation: &OperationSpec) -> bool {
        let is_of_merges = operation.shape == TargetShape::MergeBatch;
        match operation.handler {
            Handler::Extension(name) => {
                self.has(name) && (!is_of_merges || self.has(ExtensionName::Merge))
            }
            _ => true,
        }
    }

    /// Whether a target belongs to no extension, or to one that is offered.
    pub(super) fn admit_target(&self, target: &Target) -> bool {
        let shape = TargetShape::from_target(target);
        operations()
            .filter(|operation| operation.shape == shape)
            .all(|operation| self.admit(operation))
    }
}

/// Every operation of the API: those of the specification and those of the extensions. Operations
/// of one shape are in the order in which `Allow` names their methods.
pub fn operations() -> impl Iterator<Item = &'static OperationSpec> + Clone {
    [
        operation::OPERATIONS,
        changes::OPERATIONS,
        #[cfg(feature = "webhooks")]
        webhooks::OPERATIONS,
        batch::OPERATIONS,
        merge::OPERATIONS,
        merge::undo::OPERATIONS,
        duplicates::OPERATIONS,
    ]
    .into_iter()
    .flatten()
}

//! The change feed: its operation, settings and capability names.
//!
//! Requirements: SYN-01 to SYN-13.

mod answer;
mod event_stream;
mod hal;
mod shared_reads;
mod wait_slots;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use http::{Method, StatusCode};

pub use self::{event_stream::EventStream, wait_slots::WaitLimits};
use self::{shared_reads::SharedReads, wait_slots::WaitSlots};
use super::Extension;
use crate::{
    api::{Api, ApiBuilder, Response, admitted::AuthorizedParts},
    backend::ChangeFeed,
    error::Result,
    hal::EntryLink,
    link::Target,
    operation::{
        ExtensionName, Handler, OperationSpec, RequestBodyKind, RequiredRight, ResponseBodyKind,
        TargetShape, always,
    },
    page::QueryParameter,
};

const NAME: ExtensionName = ExtensionName::Changes;

pub(super) static OPERATIONS: &[OperationSpec] = &[OperationSpec {
    name: "changes",
    method: Method::GET,
    shape: TargetShape::Changes,
    need: RequiredRight::ReadAny,
    input: RequestBodyKind::Nothing,
    answers: always(
        StatusCode::OK,
        ResponseBodyKind::Changes,
        "The feed entries, in commit order.",
    ),
    id: "changes",
    summary: "Lists what was created, changed and deleted since a cursor.",
    handler: Handler::Extension(NAME),
}];

/// The change feed and its settings.
pub(crate) struct ChangeFeedSettings {
    /// Reads the feed; `None` if there is none.
    pub(in crate::api) backend: Option<Arc<dyn ChangeFeed>>,
    /// How long a request may wait for changes.
    longest_wait: Duration,
    wait_limits: WaitLimits,
    wait_slots: WaitSlots,
    shared_reads: SharedReads,
}

impl Default for ChangeFeedSettings {
    fn default() -> Self {
        Self {
            backend: None,
            longest_wait: Duration::from_secs(30),
            wait_limits: WaitLimits::default(),
            wait_slots: WaitSlots::default(),
            shared_reads: SharedReads::default(),
        }
    }
}

impl ChangeFeedSettings {
    /// The feed, if the server offers one.
    pub(super) fn offered(&self) -> Option<&Self> {
        self.backend.as_ref().map(|_| self)
    }
}

#[async_trait]
impl Extension for ChangeFeedSettings {
    fn behaviours(&self) -> Vec<&'static str> {
        vec!["changes", "change_events"]
    }

    fn name(&self) -> Option<ExtensionName> {
        Some(NAME)
    }

    fn entry_link(&self) -> Option<EntryLink> {
        Some(EntryLink {
            relation: NAME.relation(),
            target: Target::Changes,
            title: "Changes",
        })
    }

    /// Returns the time that the request itself asks for.
    ///
    /// Requirements: SYN-11.
    fn extra_time(&self, call: &AuthorizedParts<'_>) -> Duration {
        self.wait_time(&call.request)
    }

    async fn answer(&self, call: &AuthorizedParts<'_>) -> Result<Response> {
        call.api.changes(&call.context, &call.request).await
    }
}

impl ApiBuilder {
    /// Offers the change feed of a backend. It must have the changes of every offered kind.
    ///
    /// Requirements: SYN-01.
    #[must_use]
    pub fn change_feed<C: ChangeFeed + 'static>(mut self, backend: &Arc<C>) -> Self {
        self.settings.extensions.changes.backend = Some(Arc::<C>::clone(backend));
        self
    }

    /// Sets how long a request may wait for changes if it asks for that with `Prefer: wait=…`.
    ///
    /// The default is 30 seconds; zero disables waiting. Proxies between client and server need at
    /// least the same timeout.
    ///
    /// Requirements: SYN-11.
    #[must_use]
    pub fn max_wait(mut self, time: Duration) -> Self {
        self.settings.extensions.changes.longest_wait = time;
        self
    }

    /// Sets how many requests may wait for changes at the same time: by default 16 for each API key
    /// and 128 for each tenant.
    ///
    /// A request above a limit gets a 429 response with `Retry-After`.
    ///
    /// Requirements: SYN-13.
    #[must_use]
    pub fn wait_limits(mut self, limits: WaitLimits) -> Self {
        self.settings.extensions.changes.wait_limits = limits;
        self
    }
}

impl Api {
    /// Returns whether the server offers a change feed.
    ///
    /// Requirements: SYN-01.
    #[must_use]
    pub fn has_change_feed(&self) -> bool {
        self.extensions().has(NAME)
    }

    /// Returns the relation of the change feed, which is also the relation of its entries.
    ///
    /// Requirements: SYN-01.
    #[must_use]
    pub fn change_feed_relation(&self) -> String {
        self.dialect().relation(NAME.relation())
    }

    /// Returns the query parameters of the change feed.
    ///
    /// Requirements: SYN-05.
    #[must_use]
    pub fn change_feed_parameters(&self) -> Vec<QueryParameter> {
        self.collection_parameters()
            .into_iter()
            .filter(|parameter| parameter.name != "page")
            .collect()
    }
}

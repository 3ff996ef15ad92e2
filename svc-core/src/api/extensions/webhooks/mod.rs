//! Webhooks: operations, settings and capability names.
//!
//! Requirements: HOOK-01 to HOOK-16.

mod answer;
mod body;
mod hal;
mod operations;

use std::{fmt, sync::Arc};

use async_trait::async_trait;

pub(super) use operations::OPERATIONS;

use super::{Extension, Extensions};
use crate::{
    api::{Api, ApiBuilder, Response, admitted::AuthorizedParts},
    backend::{ChangeFeed, RecordChange, WebhookStore},
    error::Result,
    hal::EntryLink,
    link::Target,
    operation::ExtensionName,
    webhooks::{ReceiverPolicy, Webhook},
};

const NAME: ExtensionName = ExtensionName::Webhooks;

/// The store of webhooks, and the policy for their receivers.
#[derive(Clone)]
pub(crate) struct WebhookSettings {
    kept: Arc<dyn WebhookStore>,
    reach: ReceiverPolicy,
}

#[async_trait]
impl Extension for WebhookSettings {
    fn behaviours(&self) -> Vec<&'static str> {
        let private = self
            .reach
            .allow_private_networks
            .then_some("private_webhooks");
        std::iter::once("webhooks").chain(private).collect()
    }

    fn name(&self) -> Option<ExtensionName> {
        Some(NAME)
    }

    fn entry_link(&self) -> Option<EntryLink> {
        Some(EntryLink {
            relation: NAME.relation(),
            target: Target::Webhooks,
            title: "Webhooks",
        })
    }

    fn problems(&self, all: &Extensions) -> Vec<String> {
        if all.has(ExtensionName::Changes) {
            return Vec::new();
        }
        let text = "webhooks need a change feed: call `.change_feed(...)`";
        vec![text.to_owned()]
    }

    async fn answer(&self, call: &AuthorizedParts<'_>) -> Result<Response> {
        call.api.answer_about_webhooks(call).await
    }
}

impl ApiBuilder {
    /// Offers webhooks and declares them.
    ///
    /// A caller with the right `webhooks.manage` can register receivers of changes. Webhooks need a
    /// [`change_feed`](Self::change_feed), and a sender: `svc_tower::webhooks::WebhookSender`.
    ///
    /// Requirements: HOOK-01.
    #[must_use]
    pub fn webhooks<W: WebhookStore + 'static>(mut self, store: &Arc<W>) -> Self {
        let webhooks = &mut self.settings.extensions.webhooks;
        let reach = webhooks
            .take()
            .map(|settings| settings.reach)
            .unwrap_or_default();
        *webhooks = Some(WebhookSettings {
            kept: Arc::<W>::clone(store),
            reach,
        });
        self
    }

    /// Sets the receivers that [webhooks](Self::webhooks) may have. By default these are `https`
    /// URLs on the internet.
    ///
    /// Call it after `webhooks`; a call before `webhooks` is ignored.
    ///
    /// Requirements: HOOK-05.
    #[must_use]
    pub fn webhook_receiver_policy(mut self, reach: ReceiverPolicy) -> Self {
        if let Some(settings) = &mut self.settings.extensions.webhooks {
            settings.reach = reach;
        }
        self
    }
}

/// The parts of an API that a sender of webhooks needs.
#[derive(Clone)]
#[non_exhaustive]
pub struct WebhookSources {
    /// The store of webhooks.
    pub webhooks: Arc<dyn WebhookStore>,
    /// The change feed.
    pub changes: Arc<dyn ChangeFeed>,
    /// The receivers that are allowed.
    pub receiver_policy: ReceiverPolicy,
}

impl fmt::Debug for WebhookSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSources")
            .field("reach", &self.receiver_policy)
            .finish_non_exhaustive()
    }
}

impl Api {
    /// Returns what a sender of webhooks needs, or `None` if webhooks are not offered.
    #[must_use]
    pub fn webhook_sources(&self) -> Option<WebhookSources> {
        let extensions = self.extensions();
        let WebhookSettings { kept, reach } = extensions.webhooks.as_ref()?.clone();
        Some(WebhookSources {
            webhooks: kept,
            changes: Arc::clone(extensions.changes.backend.as_ref()?),
            receiver_policy: reach,
        })
    }

    /// Returns the body of the message of a webhook about a change. It has no data of the record.
    ///
    /// Requirements: HOOK-07.
    #[must_use]
    pub fn webhook_message(&self, webhook: &Webhook, entry: &RecordChange) -> Vec<u8> {
        let (mut body, event) = (Vec::with_capacity(256), webhook.event_type(entry));
        hal::message(&self.hal(self.base_url()), event, entry, &mut body);
        body
    }
}

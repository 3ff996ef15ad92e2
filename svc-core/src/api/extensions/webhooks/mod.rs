//! Webhooks: operations, settings and capability names.
//!
//! Requirements: HOOK-01 to HOOK-16.

mod answer;
mod asked;
mod hal;
mod operations;

use std::{fmt, sync::Arc};

use async_trait::async_trait;

pub(super) use operations::OPERATIONS;

use super::{Extension, Extensions};
use crate::{
    api::{Api, ApiBuilder, Response, admitted::AuthorizedParts},
    error::Result,
    hal::EntryLink,
    link::Target,
    operation::ExtensionName,
    ops::{ChangeFeed, RecordChange, WebhookStore},
    webhook::ReceiverPolicy,
};

const NAME: ExtensionName = ExtensionName::Webhooks;

/// Where webhooks are kept, and which receivers they may have.
#[derive(Clone)]
pub(crate) struct WebhookSettings {
    kept: Arc<dyn WebhookStore>,
    reach: ReceiverPolicy,
}

#[async_trait]
impl Extension for WebhookSettings {
    fn behaviours(&self) -> Vec<&'static str> {
        let private = self.reach.private.then_some("private_webhooks");
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
        let text = "webhooks have nothing to tell without a change feed: call `.change_feed(...)`";
        vec![text.to_owned()]
    }

    async fn answer(&self, call: &AuthorizedParts<'_>) -> Result<Response> {
        call.api.answer_about_webhooks(call).await
    }
}

impl ApiBuilder {
    /// Offers webhooks, and declares it: whoever has a key with the right `webhooks.manage`
    /// registers receivers, which are told of changes. It needs [`change_feed`](Self::change_feed),
    /// and somebody who sends: `svc_tower::webhooks::WebhookSender`.
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

    /// Which receivers [webhooks](Self::webhooks) may have, where that is called before; those of
    /// the internet by `https` unless set.
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

/// What a sender needs of an API that offers webhooks.
#[derive(Clone)]
#[non_exhaustive]
pub struct WebhookSources {
    /// Where webhooks are kept.
    pub webhooks: Arc<dyn WebhookStore>,
    /// What was changed.
    pub changes: Arc<dyn ChangeFeed>,
    /// Which receivers are taken.
    pub receiver_policy: ReceiverPolicy,
}

impl fmt::Debug for WebhookSources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookParts")
            .field("reach", &self.receiver_policy)
            .finish_non_exhaustive()
    }
}

impl Api {
    /// What a sender of webhooks needs; `None` where none are offered.
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

    /// The body of the message that tells of a change: thin, without anything that the record
    /// holds.
    ///
    /// Requirements: HOOK-07.
    #[must_use]
    pub fn webhook_message(&self, entry: &RecordChange) -> Vec<u8> {
        let mut body = Vec::with_capacity(256);
        hal::message(&self.hal(self.base_url()), entry, &mut body);
        body
    }
}

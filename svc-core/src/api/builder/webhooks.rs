//! Registers webhooks.

use std::sync::Arc;

use super::ApiBuilder;
use crate::{api::webhooks::WebhookSettings, ops::Webhooks, webhook::Reach};

impl ApiBuilder {
    /// Offers webhooks, and declares it (HOOK-01): whoever has a key with the right
    /// `webhooks.manage` registers receivers, which are told of changes. It needs
    /// [`changes`](Self::changes), and somebody who sends: `svc_tower::webhooks::Sender`.
    #[must_use]
    pub fn webhooks<W: Webhooks + 'static>(mut self, store: &Arc<W>) -> Self {
        let reach = self
            .settings
            .webhooks
            .take()
            .map(|settings| settings.reach)
            .unwrap_or_default();
        self.settings.webhooks = Some(WebhookSettings {
            kept: Arc::<W>::clone(store),
            reach,
        });
        self
    }

    /// Which receivers [webhooks](Self::webhooks) may have, where that is called before; those of
    /// the internet by `https` unless set (HOOK-05).
    #[must_use]
    pub fn webhook_reach(mut self, reach: Reach) -> Self {
        if let Some(settings) = &mut self.settings.webhooks {
            settings.reach = reach;
        }
        self
    }
}

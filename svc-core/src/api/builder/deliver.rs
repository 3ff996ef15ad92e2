//! Offers what has to be sent by somebody: triggers and schedules.

use std::sync::Arc;

use super::{ApiBuilder, HelperRunner};
use crate::{
    api::Api,
    helper::{FunctionName, HelperName},
    ops::Deliver,
    store::Outbox,
};

impl ApiBuilder {
    /// Who sends the responses that helper calls trigger and the messages whose start has come.
    /// With it a [store](Self::store) offers the schedule helper and the action function
    /// `triggers`; mapped tables offer the latter. Without it neither is declared, and what asks
    /// for triggers is answered `NOT_SUPPORTED`.
    ///
    /// What is noted is driven by `svc_tower::SvcService::deliveries`, in one process or in
    /// several.
    ///
    /// Requirements: HAF-11, SCH-01, ERR-38.
    #[must_use]
    pub fn delivery(mut self, deliver: impl Deliver) -> Self {
        self.settings.deliver = Some(Arc::new(deliver));
        self
    }

    /// What a store keeps to be sent, where there is somebody who sends it.
    fn delivered(&self) -> Option<Arc<dyn Outbox>> {
        self.settings
            .deliver
            .as_ref()
            .and(self.settings.store.clone()?.outgoing())
    }

    /// Offers what is sent, and nothing that nobody would send.
    pub(super) fn settle_deliveries(&mut self) {
        let scheduling = self.scheduling.take();
        if self.delivered().is_none() {
            self.stock
                .iter_mut()
                .for_each(|stock| stock.retain(|function| *function != FunctionName::Triggers));
        } else if let Some(helper) = scheduling {
            self.helpers
                .entry(HelperName::Schedule)
                .or_insert(HelperRunner::Native(helper));
        }
    }

    /// What is to be sent by nobody, or from nowhere.
    pub(super) fn undelivered(&self) -> Option<String> {
        let is_named = self
            .functions
            .as_ref()
            .is_some_and(|named| named.contains(&FunctionName::Triggers));
        if self.settings.deliver.is_some() && self.delivered().is_none() {
            let text = "`.delivery(...)` has no store with an outbox: register one with `.store(...)` or `.partial_store(...)`, or remove `.delivery(...)`";
            return Some(text.to_owned());
        }
        let text = "nobody sends what `triggers` asks of a store: call `.delivery(...)`, or leave it out of `.action_functions(...)`";
        (is_named && self.stock.is_some() && self.delivered().is_none()).then(|| text.to_owned())
    }

    /// The error of anonymous triggers over a store that cannot limit them.
    ///
    /// Requirements: HAF-14.
    pub(super) fn unlimited_triggers(&self) -> Option<String> {
        let store = self
            .settings
            .store
            .as_ref()
            .filter(|_| self.settings.strangers.may_trigger())?;
        let text = "the store cannot limit what anonymous callers trigger, because it does not store responses: leave \
                    `.with_triggers()` out of `.anonymous_policy(...)`";
        (self.delivered().is_some() && !store.keeps_answers()).then(|| text.to_owned())
    }
}

impl Api {
    /// What there is to be sent, and who sends it: for whoever drives it, as `svc-tower` does.
    /// `None` where nobody is registered.
    #[must_use]
    pub fn outbox(&self) -> Option<(Arc<dyn Outbox>, Arc<dyn Deliver>)> {
        let settings = &self.inner.settings;
        Some((
            settings.store.clone()?.outgoing()?,
            settings.deliver.clone()?,
        ))
    }
}

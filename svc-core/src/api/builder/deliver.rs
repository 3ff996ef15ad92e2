//! Registers the delivery of server responses (triggers) and scheduled messages.

use std::sync::Arc;

use super::{ApiBuilder, HelperBackend};
use crate::{
    api::Api,
    backend::Deliver,
    helper::{FunctionName, HelperName},
    store::Outbox,
};

impl ApiBuilder {
    /// Sets the delivery of server responses that helper requests trigger, and of scheduled
    /// messages.
    ///
    /// With a delivery, a [store](Self::store) offers the schedule helper and the action function
    /// `triggers`; mapped tables offer only the latter. Without it, neither is declared, and
    /// requests for triggers fail with `NOT_SUPPORTED`.
    ///
    /// `svc_tower::SvcService::delivery_worker` delivers the outbox entries, in one process or in
    /// several.
    ///
    /// Requirements: HAF-11, SCH-01, ERR-38.
    #[must_use]
    pub fn delivery(mut self, deliver: impl Deliver) -> Self {
        self.settings.deliver = Some(Arc::new(deliver));
        self
    }

    /// Returns the outbox of the store if a delivery is registered.
    fn delivered(&self) -> Option<Arc<dyn Outbox>> {
        self.settings
            .deliver
            .as_ref()
            .and(self.settings.store.clone()?.outbox())
    }

    /// Offers the schedule helper if outbox entries are delivered; otherwise removes `triggers`.
    pub(super) fn resolve_delivery(&mut self) {
        let scheduling = self.scheduling.take();
        if self.delivered().is_none() {
            self.stock
                .iter_mut()
                .for_each(|stock| stock.retain(|function| *function != FunctionName::Triggers));
        } else if let Some(store) = scheduling {
            self.helpers
                .entry(HelperName::Schedule)
                .or_insert(HelperBackend::Store(store));
        }
    }

    /// Returns the error of a delivery without an outbox, or of `triggers` without a delivery.
    pub(super) fn missing_delivery(&self) -> Option<String> {
        let is_named = self
            .functions
            .as_ref()
            .is_some_and(|named| named.contains(&FunctionName::Triggers));
        if self.settings.deliver.is_some() && self.delivered().is_none() {
            let text = "`.delivery(...)` has no store with an outbox: register one with `.store(...)` or `.partial_store(...)`, or remove `.delivery(...)`";
            return Some(text.to_owned());
        }
        let text = "the action function `triggers` needs a delivery: call `.delivery(...)`, or remove `triggers` from `.action_functions(...)`";
        (is_named && self.stock.is_some() && self.delivered().is_none()).then(|| text.to_owned())
    }

    /// Returns the error of anonymous triggers over a store that cannot limit them.
    ///
    /// Requirements: HAF-14.
    pub(super) fn unlimited_triggers(&self) -> Option<String> {
        let store = self
            .settings
            .store
            .as_ref()
            .filter(|_| self.settings.strangers.may_trigger())?;
        let text = "the store cannot limit what anonymous callers trigger, because it does not store responses: remove \
                    `.with_triggers()` from `.anonymous_policy(...)`";
        (self.delivered().is_some() && !store.stores_responses()).then(|| text.to_owned())
    }
}

impl Api {
    /// Returns the outbox and its delivery, for the worker that delivers, such as the one of
    /// `svc-tower`.
    ///
    /// Returns `None` if the store has no outbox or no delivery is registered.
    #[must_use]
    pub fn outbox(&self) -> Option<(Arc<dyn Outbox>, Arc<dyn Deliver>)> {
        let settings = &self.inner.settings;
        Some((settings.store.clone()?.outbox()?, settings.deliver.clone()?))
    }
}

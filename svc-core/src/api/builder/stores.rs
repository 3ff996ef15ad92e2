//! Registers a store of every kind, and the transactions of a vendor's backend.

use std::sync::Arc;

use super::ApiBuilder;
use crate::{
    api::{
        Behaviour, extensions::idempotency::ResponseStorage, operation_store::HelperBackend,
        registration::KindRegistration,
    },
    backend::Transactions,
    helper::{FunctionName, HelperName},
    model::Kind,
    store::Store,
};

impl ApiBuilder {
    /// Offers everything of the specification from a store of every kind.
    ///
    /// These are all operations of all kinds and all eight helpers. All action functions are
    /// offered unless [`action_functions`](Self::action_functions) names some. The schedule helper
    /// and `triggers` also need a [delivery](Self::delivery).
    ///
    /// The rules enforce the limits of events and ticket levels, and they match people, so these
    /// behaviours are declared. The API publishes the matching method of the store, and whether the
    /// store stores responses.
    ///
    /// Requirements: CAP-02, CAP-03, LIM-04, LIM-05, HLP-05, IDM-01.
    #[must_use]
    pub fn store<S: Store>(mut self, store: &Arc<S>) -> Self {
        let store: Arc<dyn Store> = Arc::<S>::clone(store);
        self.settings.matching = store.person_matching();
        self.settings.store = Some(Arc::clone(&store));
        if store.stores_responses() {
            self.settings.extensions.idempotency = Some(ResponseStorage::Store);
        }
        self.stock = Some(FunctionName::all().collect());
        let enforced = [
            Behaviour::CapacityEnforced,
            Behaviour::TicketLimitEnforced,
            Behaviour::MatchesPeople,
        ];
        self.settings.behaviours.extend(enforced);
        for kind in Kind::ALL {
            self.offer_kind(*kind, KindRegistration::of_store(&store, *kind));
        }
        self.scheduling = Some(Arc::clone(&store));
        for helper in HelperName::ALL
            .iter()
            .filter(|helper| **helper != HelperName::Schedule)
        {
            self.offer_helper(*helper, HelperBackend::Store(Arc::clone(&store)));
        }
        self
    }

    /// Executes each write request in one transaction of the backend.
    ///
    /// Creates, updates, deletes and helper requests are then all or nothing. Equal helper requests
    /// that run concurrently create one person. If the action is rejected or the backend fails, the
    /// person is not stored either. Under
    /// [`Atomicity::WholeCall`](crate::api::Atomicity::WholeCall), a tag that does not exist also
    /// undoes the request.
    ///
    /// Requirements: HLP-04, HLP-10.
    #[must_use]
    pub fn transactions<T: Transactions + 'static>(mut self, backend: &Arc<T>) -> Self {
        self.settings.transactions = Some(Arc::<T>::clone(backend));
        self
    }
}

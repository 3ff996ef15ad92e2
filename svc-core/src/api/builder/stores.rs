//! Offers what a store of every kind has, and the transactions of a vendor's.

use std::sync::Arc;

use super::ApiBuilder;
use crate::{
    api::{
        Behaviour,
        extensions::idempotency::ResponseStorage,
        registry::{KindRegistration, helper_of},
    },
    helper::{FunctionName, HelperName},
    model::Kind,
    ops::Transactions,
    store::Store,
};

impl ApiBuilder {
    /// Offers everything that the interface has, from a store that keeps every kind: all operations
    /// of all kinds and all eight helpers, with all action functions unless
    /// [`action_functions`](Self::action_functions) names some. Scheduling and triggers are among
    /// them where somebody [delivers](Self::delivery).
    ///
    /// The rulebook enforces full events and ticket levels and matches people, so that is declared;
    /// the store's own matching method is published, and whether it keeps answers.
    ///
    /// Requirements: CAP-02, CAP-03, LIM-04, LIM-05, HLP-05, IDM-01.
    #[must_use]
    pub fn store<S: Store>(mut self, store: &Arc<S>) -> Self {
        let store: Arc<dyn Store> = Arc::<S>::clone(store);
        self.settings.matching = store.matching();
        self.settings.store = Some(Arc::clone(&store));
        if store.keeps_answers() {
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
        self.scheduling = Some(helper_of(&store, HelperName::Schedule));
        for helper in HelperName::ALL
            .iter()
            .filter(|helper| **helper != HelperName::Schedule)
        {
            self.offer_helper(*helper, helper_of(&store, *helper));
        }
        self
    }

    /// Runs each call that writes in one transaction of the backend: creates, updates, deletes and
    /// helpers are all or nothing, and equal helper calls at once make one person. A person whose
    /// action is refused, or who was made before the backend failed, does not stay. Under
    /// [`Atomicity::WholeCall`](crate::api::Atomicity::WholeCall) a tag that does not exist undoes
    /// the call, too.
    ///
    /// Requirements: HLP-04, HLP-10.
    #[must_use]
    pub fn transactions<T: Transactions + 'static>(mut self, backend: &Arc<T>) -> Self {
        self.settings.transactions = Some(Arc::<T>::clone(backend));
        self
    }
}

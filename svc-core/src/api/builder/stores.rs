//! Offers what a store of every kind has, and the transactions of a vendor's.

use std::{sync::Arc, time::Duration};

use super::{ApiBuilder, Runner};
use crate::{
    api::{
        Behaviour, KeptBy, WaitLimits,
        registry::{Registration, helper_of},
    },
    helper::{FunctionName, HelperName},
    model::Kind,
    ops::{Changes, Transactions},
    store::Store,
};

impl ApiBuilder {
    /// Offers everything that the interface has, from a store that keeps every kind: all operations
    /// of all kinds and all eight helpers (CAP-02, CAP-03), with all action functions unless
    /// [`functions`](Self::functions) names some. Scheduling and triggers are among them where
    /// somebody [delivers](Self::deliver).
    ///
    /// The rulebook enforces full events and ticket levels and matches people, so that is declared
    /// (LIM-04, LIM-05); the store's own matching method is published (HLP-05), and whether it
    /// keeps answers (IDM-01).
    #[must_use]
    pub fn store<S: Store>(mut self, store: &Arc<S>) -> Self {
        let store: Arc<dyn Store> = Arc::<S>::clone(store);
        self.settings.matching = store.matching();
        self.settings.store = Some(Arc::clone(&store));
        if store.keeps_answers() {
            self.settings.idempotency = Some(KeptBy::Store);
        }
        self.stock = Some(FunctionName::all().collect());
        let enforced = [
            Behaviour::CapacityEnforced,
            Behaviour::TicketLimitEnforced,
            Behaviour::MatchesPeople,
        ];
        self.settings.behaviours.extend(enforced);
        for kind in Kind::ALL {
            if self
                .kinds
                .insert(*kind, Registration::of_store(&store, *kind))
                .is_some()
            {
                self.wrong.push(format!(
                    "{} are registered twice: register each kind once",
                    kind.plural()
                ));
            }
        }
        self.scheduling = Some(helper_of(&store, HelperName::Schedule));
        for helper in HelperName::ALL
            .iter()
            .filter(|helper| **helper != HelperName::Schedule)
        {
            if self
                .helpers
                .insert(*helper, Runner::Native(helper_of(&store, *helper)))
                .is_some()
            {
                self.wrong.push(format!(
                    "the helper `{}` is registered twice: register each helper once",
                    helper.as_str()
                ));
            }
        }
        self
    }

    /// Offers the change feed of a backend, which has to tell the changes of every kind that is
    /// served (SYN-01).
    #[must_use]
    pub fn changes<C: Changes + 'static>(mut self, backend: &Arc<C>) -> Self {
        self.settings.changes = Some(Arc::<C>::clone(backend));
        self
    }

    /// How long a request for changes may wait until there are some, where it asks for that with
    /// `Prefer: wait=…` (SYN-11): 30 seconds unless set, and not at all with zero. Whoever sits
    /// between client and server has to be as patient.
    #[must_use]
    pub fn longest_wait(mut self, time: Duration) -> Self {
        self.settings.longest_wait = time;
        self
    }

    /// Sets how many requests may wait for changes at the same time (SYN-13): 16 of one API key and
    /// 128 of one tenant unless set. A request above a limit gets 429 with `Retry-After`.
    #[must_use]
    pub fn wait_limits(mut self, limits: WaitLimits) -> Self {
        self.settings.wait_limits = limits;
        self
    }

    /// Runs each call that writes in one transaction of the backend: creates, updates, deletes and
    /// helpers are all or nothing, and equal helper calls at once make one person (HLP-04). A
    /// person whose action is refused, or who was made before the backend failed, does not stay
    /// (HLP-10). Under [`Atomicity::WholeCall`](crate::api::Atomicity::WholeCall) a tag that does
    /// not exist undoes the call, too.
    #[must_use]
    pub fn transactions<T: Transactions + 'static>(mut self, backend: &Arc<T>) -> Self {
        self.settings.transactions = Some(Arc::<T>::clone(backend));
        self
    }
}

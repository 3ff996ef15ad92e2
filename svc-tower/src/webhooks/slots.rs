//! Slots for receivers, which tenants get in turn.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use svc_core::{Tenant, fair_queue::FairQueue};
use tokio::sync::oneshot;

/// A limited number of slots. Tenants that wait for a slot get it in turn, independent of the
/// number of their receivers.
#[derive(Clone)]
pub(super) struct DeliverySlots(Arc<Mutex<DeliverySlotQueue>>);

struct DeliverySlotQueue {
    free: usize,
    waiting: FairQueue<Tenant, oneshot::Sender<DeliverySlot>>,
}

/// A slot. Dropping it releases the slot.
pub(super) struct DeliverySlot(Option<DeliverySlots>);

impl fmt::Debug for DeliverySlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeliverySlot").finish_non_exhaustive()
    }
}

impl DeliverySlots {
    pub(super) fn new(slots: usize) -> Self {
        Self(Arc::new(Mutex::new(DeliverySlotQueue {
            free: slots,
            waiting: FairQueue::default(),
        })))
    }

    fn state(&self) -> MutexGuard<'_, DeliverySlotQueue> {
        // No code panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a slot if one is free. Slots are free only if no tenant waits.
    pub(super) fn try_acquire(&self) -> Option<DeliverySlot> {
        let mut state = self.state();
        state.free = state.free.checked_sub(1)?;
        Some(DeliverySlot(Some(self.clone())))
    }

    /// Waits for a slot for this tenant.
    pub(super) async fn acquire(&self, tenant: &Tenant) -> Option<DeliverySlot> {
        let receiver = {
            let mut state = self.state();
            if let Some(free) = state.free.checked_sub(1) {
                state.free = free;
                return Some(DeliverySlot(Some(self.clone())));
            }
            let (sender, receiver) = oneshot::channel();
            state.waiting.push(tenant.clone(), sender);
            receiver
        };
        // The sender stays in the queue until it sends.
        receiver.await.ok()
    }

    /// Passes a slot to the next waiting tenant.
    fn release(self) {
        let mut slot = DeliverySlot(Some(self.clone()));
        loop {
            let next = {
                let mut state = self.state();
                let Some(next) = state.waiting.pop() else {
                    slot.0 = None;
                    state.free = state.free.saturating_add(1);
                    return;
                };
                next
            };
            match next.send(slot) {
                Ok(()) => return,
                // Its task has ended in between.
                Err(unclaimed) => slot = unclaimed,
            }
        }
    }
}

impl Drop for DeliverySlot {
    fn drop(&mut self) {
        if let Some(slots) = self.0.take() {
            slots.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        ops::DerefMut,
        pin::{Pin, pin},
        task::{Context, Poll, Waker},
    };

    use super::*;

    fn poll(
        future: &mut Pin<impl DerefMut<Target = impl Future<Output = Option<DeliverySlot>>>>,
    ) -> Poll<Option<DeliverySlot>> {
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    }

    /// Waiting tenants get free slots in turn, so that a tenant with a long queue does not get all
    /// of them.
    #[tokio::test]
    async fn tenants_get_slots_in_turn() {
        let slots = DeliverySlots::new(1);
        let (busy, quiet) = (Tenant::new("busy"), Tenant::new("quiet"));
        let first = slots.acquire(&busy).await.unwrap();
        assert!(slots.try_acquire().is_none());
        let (mut second, mut third) = (pin!(slots.acquire(&busy)), pin!(slots.acquire(&busy)));
        let mut other = pin!(slots.acquire(&quiet));
        assert!(
            poll(&mut second).is_pending()
                && poll(&mut third).is_pending()
                && poll(&mut other).is_pending()
        );
        drop(first);
        let Poll::Ready(slot) = poll(&mut second) else {
            panic!("the first in line gets no slot")
        };
        assert!(poll(&mut third).is_pending() && poll(&mut other).is_pending());
        drop(slot);
        let Poll::Ready(slot) = poll(&mut other) else {
            panic!("the other tenant gets no slot")
        };
        assert!(poll(&mut third).is_pending());
        drop(slot);
        assert!(poll(&mut third).is_ready());
    }

    /// No slot is lost if a task ends while it waits, or before it takes the slot.
    #[tokio::test]
    async fn an_abandoned_slot_is_passed_on() {
        let slots = DeliverySlots::new(1);
        let tenant = Tenant::new("acme");
        let first = slots.acquire(&tenant).await.unwrap();
        let mut gone = Box::pin(slots.acquire(&tenant));
        let mut late = Box::pin(slots.acquire(&tenant));
        assert!(poll(&mut gone).is_pending() && poll(&mut late).is_pending());
        drop(gone);
        drop(first);
        // The slot is assigned to this task, which never takes it.
        drop(late);
        assert!(slots.try_acquire().is_some());
    }
}

//! Waiting for the next commit of a tenant, with wakers only. Works on any async runtime.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    hash::Hash,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

/// Wakes the subscriptions of a tenant. A backend uses it to implement `ChangeFeed::subscribe`.
///
/// # Examples
///
/// ```
/// use svc_core::backend::Notifier;
///
/// let bells = Notifier::default();
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let listening = bells.subscribe("acme");
/// bells.notify(&"acme");
/// // The notification was sent after the subscription: this returns immediately.
/// listening.await;
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Notifier<K>(Mutex<HashMap<K, Arc<WakerSlot>>>);

impl<K> Default for Notifier<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K> fmt::Debug for Notifier<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Bells")
    }
}

/// The wakers of one notification, or `None` after it was sent.
#[derive(Default)]
struct WakerSlot(Mutex<Option<Wakers>>);

#[derive(Default)]
struct Wakers {
    last: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl<K: Eq + Hash> Notifier<K> {
    /// Subscribes to the notifications of a tenant that are sent from now on.
    pub fn subscribe(&self, tenant: K) -> Subscription {
        // No code panics while it holds the lock.
        let mut bells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bell = bells
            .entry(tenant)
            .or_insert_with(|| Arc::new(WakerSlot(Mutex::new(Some(Wakers::default())))));
        Subscription {
            bell: Some(Arc::clone(bell)),
            place: None,
            again: None,
        }
    }

    /// Wakes all subscriptions of the tenant. Call it when a commit is visible to readers.
    pub fn notify(&self, tenant: &K) {
        let bell = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(tenant);
        let waiting =
            bell.and_then(|bell| bell.0.lock().unwrap_or_else(PoisonError::into_inner).take());
        waiting
            .into_iter()
            .flat_map(|waiting| waiting.wakers.into_values())
            .for_each(Waker::wake);
    }
}

/// A future that completes when there may be new changes.
pub struct Subscription {
    bell: Option<Arc<WakerSlot>>,
    /// The number under which the waker is stored.
    place: Option<u64>,
    again: Option<Duration>,
}

impl Subscription {
    /// Returns a subscription that never completes, for a backend without notifications. The
    /// subscriber must poll.
    #[must_use]
    pub fn closed() -> Self {
        Self {
            bell: None,
            place: None,
            again: Some(Self::POLL_INTERVAL),
        }
    }

    /// The interval at which a subscriber polls for changes without a notification.
    pub const POLL_INTERVAL: Duration = Duration::from_secs(1);

    /// Adds polling, for a backend where other processes commit changes without a notification
    /// here.
    #[must_use]
    pub fn with_polling(mut self) -> Self {
        self.again = Some(Self::POLL_INTERVAL);
        self
    }

    /// Returns the interval at which to poll even without a notification, or `None` for no polling.
    #[must_use]
    pub fn poll_interval(&self) -> Option<Duration> {
        self.again
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listening")
    }
}

impl Future for Subscription {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(bell) = self.bell.clone() else {
            return Poll::Pending;
        };
        let mut waiting = bell.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(waiting) = waiting.as_mut() else {
            return Poll::Ready(());
        };
        let place = *self.place.get_or_insert_with(|| {
            waiting.last = waiting.last.wrapping_add(1);
            waiting.last
        });
        waiting.wakers.insert(place, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let (Some(bell), Some(place)) = (&self.bell, self.place)
            && let Some(waiting) = bell
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .as_mut()
        {
            waiting.wakers.remove(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        task::Wake,
    };

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A subscription receives the notifications of its tenant sent after it started, once, and
    /// removes its waker when it is dropped.
    ///
    /// Requirements: SYN-11.
    #[test]
    fn who_listens_is_woken() {
        let (bells, count) = (Notifier::default(), Arc::new(Count::default()));
        let waker = Waker::from(Arc::clone(&count));
        let mut cx = Context::from_waker(&waker);
        let mut poll = |listening: &mut Subscription| Pin::new(listening).poll(&mut cx).is_ready();
        bells.notify(&1);
        let (mut one, mut again, mut other, mut late) = (
            bells.subscribe(1),
            bells.subscribe(1),
            bells.subscribe(2),
            bells.subscribe(1),
        );
        assert!(!poll(&mut one) && !poll(&mut one) && !poll(&mut again) && !poll(&mut other));
        drop(again);
        bells.notify(&1);
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        assert!(poll(&mut one) && poll(&mut late) && !poll(&mut other));
        assert!(!poll(&mut bells.subscribe(1)));
        assert!(!poll(&mut Subscription::closed()));
    }
}

//! Delivers the outbox: server responses that helper requests trigger, and scheduled messages when
//! they are due.
//!
//! Requirements: HAF-11, SCH-01.

use std::{
    fmt,
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use svc_core::{
    Deliver, Result,
    backend::{DeliveryOutcome, Subscription},
    store::{ClaimResolution, Outbox, OutboxClaim},
    value::Timestamp,
};
use tokio::task::JoinSet;

use crate::{catch_panic::catch_panic, settings::ClockFn, timer::RuntimeTimer};

/// Interval of polling without a notification, because another process may have written.
const SLOW: Duration = Duration::from_secs(5);

/// Passes outbox entries to the registered [`Deliver`] when they are due. It is a task that runs as
/// long as the program.
///
/// Several processes can deliver from one store. Normally, only one of them attempts each entry. An
/// attempt that takes too long is cancelled and repeated later, like one that fails or panics;
/// other entries are not delayed. If a process ends, no entry is lost: unfinished attempts are
/// repeated with the same id.
///
/// # Examples
///
/// ```
/// use svc_core::{Api, Deliver, Result, Tenant, Vendor, backend::{DeliveryOutcome, OutboxEntry}};
/// use svc_store::memory::MemoryStore;
/// use svc_core::auth::{FixedKeys, Rights};
/// use svc_tower::SvcService;
///
/// struct Mail;
///
/// #[async_trait::async_trait]
/// impl Deliver for Mail {
///     async fn deliver(&self, tenant: &Tenant, dispatch: &OutboxEntry) -> Result<DeliveryOutcome> {
///         println!("{} for {}", dispatch.log_label(), tenant.as_str());
///         Ok(DeliveryOutcome::Sent)
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let api = MemoryStore::new()
///     .register_all(Api::builder(Vendor::new("Acme", "Acme CRM")))
///     .base_url("http://localhost/")
///     .authenticator(FixedKeys::new().with_key("secret", Tenant::new("acme"), Rights::all()))
///     .delivery(Mail)
///     .build()?;
/// let service = SvcService::new(api);
/// if let Some(deliveries) = service.delivery_worker() {
///     tokio::spawn(deliveries.run());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct DeliveryWorker {
    outgoing: Arc<dyn Outbox>,
    deliver: Arc<dyn Deliver>,
    timer: RuntimeTimer,
    clock: ClockFn,
    at_once: usize,
    patience: Duration,
    counted: Arc<DeliveryCounters>,
}

#[derive(Default)]
struct DeliveryCounters {
    done: AtomicU64,
    again: AtomicU64,
    given_up: AtomicU64,
}

/// The numbers of delivery attempts of this process, by result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DeliveryStats {
    /// Entries that were sent.
    pub sent: u64,
    /// Attempts that will be repeated.
    pub retried: u64,
    /// Entries that were abandoned.
    pub abandoned: u64,
}

impl DeliveryWorker {
    pub(crate) fn new(
        sent: (Arc<dyn Outbox>, Arc<dyn Deliver>),
        timer: RuntimeTimer,
        clock: ClockFn,
    ) -> Self {
        let (outgoing, deliver) = sent;
        let patience = Duration::from_secs(30);
        Self {
            outgoing,
            deliver,
            timer,
            clock,
            at_once: 16,
            patience,
            counted: Arc::default(),
        }
    }

    /// Sets the maximum number of simultaneous attempts, at least one. Default: 16.
    #[must_use]
    pub fn max_concurrent(self, most: usize) -> Self {
        Self {
            at_once: most.max(1),
            ..self
        }
    }

    /// Sets the timeout of one attempt. Default: 30 seconds.
    #[must_use]
    pub fn attempt_timeout(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Returns the numbers of attempts so far, of this value and its clones.
    #[must_use]
    pub fn stats(&self) -> DeliveryStats {
        let counted = |of: &AtomicU64| of.load(Ordering::Relaxed);
        let DeliveryCounters {
            done,
            again,
            given_up,
        } = &*self.counted;
        DeliveryStats {
            sent: counted(done),
            retried: counted(again),
            abandoned: counted(given_up),
        }
    }

    /// Delivers due entries, and does not return. Failing and slow attempts do not delay other
    /// entries.
    ///
    /// Dropping the future cancels the running attempts.
    pub async fn run(self) {
        let mut under_way = JoinSet::new();
        loop {
            // Subscribe before reading, so that no commit in between is missed.
            let listening = self.outgoing.subscribe();
            let pause = match self.begin(&mut under_way).await {
                Ok(Some(next)) => until(self.clock.now(), next),
                Ok(None) => SLOW,
                Err(error) => {
                    tracing::warn!(?error, "the outbox cannot be read");
                    SLOW
                }
            };
            self.wait(&mut under_way, listening, pause.min(SLOW)).await;
        }
    }

    /// Delivers entries until none is due, and returns when the next one is due. Use it in a
    /// program that runs periodically.
    ///
    /// # Errors
    ///
    /// Returns an error if the outbox cannot be read.
    pub async fn run_due(&self) -> Result<Option<Timestamp>> {
        let mut under_way = JoinSet::new();
        loop {
            let next = self.begin(&mut under_way).await?;
            if under_way.join_next().await.is_none() {
                return Ok(next);
            }
        }
    }

    /// Starts due attempts while there is capacity, and returns when the next entry is due.
    async fn begin(&self, under_way: &mut JoinSet<()>) -> Result<Option<Timestamp>> {
        while under_way.try_join_next().is_some() {}
        let room = u32::try_from(self.at_once.saturating_sub(under_way.len())).unwrap_or(u32::MAX);
        if room == 0 {
            return Ok(None);
        }
        let now = self.clock.now();
        let claimed = self
            .outgoing
            .claim_due(
                now,
                now.saturating_add(OutboxClaim::lease_duration(self.patience)),
                room,
            )
            .await?;
        for claim in claimed.claims {
            under_way.spawn(self.clone().attempt(claim));
        }
        Ok(claimed.next_due)
    }

    /// Waits until an attempt ends, or until the outbox should be read again and there is capacity.
    async fn wait(&self, under_way: &mut JoinSet<()>, listening: Subscription, pause: Duration) {
        let is_full = under_way.len() >= self.at_once;
        let (mut listening, mut pause) = (pin!(listening), pin!(self.timer.pause(pause)));
        poll_fn(|cx| {
            let has_ended = !under_way.is_empty() && under_way.poll_join_next(cx).is_ready();
            let is_rung = !is_full
                && (listening.as_mut().poll(cx).is_ready() || pause.as_mut().poll(cx).is_ready());
            if has_ended || is_rung {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    /// Executes one attempt and stores its result.
    async fn attempt(self, claim: OutboxClaim) {
        let settled = match claim.skip_reason(self.clock.now()) {
            Some(reason) => ClaimResolution::Abandon(reason),
            None => claim.resolve(self.deliver(&claim).await, self.clock.now()),
        };
        let (count, noted) = match settled {
            ClaimResolution::RetryAt(at) => (
                &self.counted.again,
                self.outgoing.reschedule(&claim, at).await,
            ),
            ClaimResolution::Complete => (&self.counted.done, self.outgoing.complete(&claim).await),
            ClaimResolution::Abandon(reason) => {
                let (tenant, id) = (claim.tenant.as_str(), claim.entry.id.as_str());
                tracing::error!(
                    tenant,
                    id,
                    what = claim.entry.log_label(),
                    reason,
                    "the entry is abandoned"
                );
                (&self.counted.given_up, self.outgoing.complete(&claim).await)
            }
            _ => return,
        };
        count.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = noted {
            let id = claim.entry.id.as_str();
            tracing::warn!(
                ?error,
                id,
                "the result could not be stored; the attempt will be repeated"
            );
        }
    }

    /// Calls the vendor's code and returns its outcome, or `None` if it failed.
    async fn deliver(&self, claim: &OutboxClaim) -> Option<DeliveryOutcome> {
        let work = pin!(self.deliver.deliver(&claim.tenant, &claim.entry));
        let given = self
            .timer
            .within(Some(self.patience), pin!(catch_panic(work)))
            .await;
        let id = claim.entry.id.as_str();
        match given {
            Some(Ok(Ok(delivered))) => return Some(delivered),
            Some(Ok(Err(error))) => {
                tracing::warn!(?error, id, attempt = claim.attempts, "an attempt failed");
            }
            Some(Err(said)) => tracing::error!(
                said,
                id,
                attempt = claim.attempts,
                "a panic ended an attempt"
            ),
            None => tracing::warn!(id, attempt = claim.attempts, "an attempt took too long"),
        }
        None
    }
}

impl fmt::Debug for DeliveryWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeliveryWorker")
            .field("counts", &self.stats())
            .finish_non_exhaustive()
    }
}

/// Returns the duration from `now` to `then`, or zero if `then` has passed.
fn until(now: Timestamp, then: Timestamp) -> Duration {
    Duration::from_micros(
        u64::try_from(then.as_micros().saturating_sub(now.as_micros())).unwrap_or_default(),
    )
}

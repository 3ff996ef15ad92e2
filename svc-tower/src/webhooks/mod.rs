//! Sends the messages of webhooks (feature `webhooks`).
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use svc_core::{Api, Vendor, auth::FixedKeys};
//! # use svc_store::memory::MemoryStore;
//! use svc_tower::webhooks::WebhookSender;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! # let store = Arc::new(MemoryStore::new());
//! let api = Api::builder(Vendor::new("Acme", "Acme CRM"))
//!     .base_url("https://crm.acme.example/api/v1/")
//!     .authenticator(FixedKeys::new())
//!     .store(&store)
//!     .change_feed(&store)
//!     .webhooks(&store)
//!     .build()?;
//! let stop = async { _ = tokio::signal::ctrl_c().await };
//! if let Some(sender) = WebhookSender::new(&api) {
//!     sender.run_until(stop).await;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | Situation | Behaviour |
//! |---|---|
//! | the program is killed | unfinished messages are sent again, with the same `webhook-id` |
//! | several programs send for one store | each webhook is leased to one program at a time; the lease of a killed program ends after half a minute |
//! | a receiver does not respond | it has 15 seconds for each message and gets one message at a time; its connections are separate from those of receivers that respond |
//! | a tenant has many slow receivers | after a second, their requests use separate slots, and tenants get free slots in turn |
//! | a name resolves to a private address | no connection is opened: each address is checked after each resolution, at each attempt |
//!
//! Requirements: HOOK-07 to HOOK-13.

mod client;
mod slots;
mod worker;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt,
    future::poll_fn,
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::Poll,
    time::Duration,
};

use svc_core::{
    Api, Context, Result, Tenant,
    api::WebhookSources,
    auth::Caller,
    backend::Subscription,
    value::{Id, Timestamp},
    webhooks::LEASE_DURATION,
};
use tokio::{
    sync::watch,
    task::{self, JoinSet},
    time::{sleep, timeout},
};

use self::{client::WebhookClient, slots::DeliverySlots, worker::WorkerContext};

/// Number of due webhooks that are read in one query.
const PART: u32 = 500;
/// Interval of polling without a notification.
const IDLE: Duration = Duration::from_secs(1);
/// Time for which commits are collected before the feed is read.
const GATHER: Duration = Duration::from_millis(20);
/// Slow requests for each simultaneous receiver. They only wait, and need only a socket.
const OVERTIME: usize = 4;
/// Time that unfinished messages have when the sender stops.
const GRACE: Duration = Duration::from_secs(5);

/// Future of the addresses of a name.
type ResolveFuture = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;
/// Function that resolves a name with a port.
type ResolveFn = Arc<dyn Fn(String, u16) -> ResolveFuture + Send + Sync>;

/// Sends the messages of webhooks until it is stopped.
pub struct WebhookSender {
    api: Api,
    parts: WebhookSources,
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    resolve: ResolveFn,
    at_once: usize,
    webhooks_at_once: usize,
    timeout: Duration,
    slow_after: Duration,
    is_alone: bool,
}

impl fmt::Debug for WebhookSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSender")
            .field("api", &self.api)
            .finish_non_exhaustive()
    }
}

impl WebhookSender {
    /// Creates a sender for an API. Returns `None` if the API has no webhooks. Links in messages
    /// start with the base URL of the API.
    #[must_use]
    pub fn new(api: &Api) -> Option<Self> {
        Some(Self {
            api: api.clone(),
            parts: api.webhook_sources()?,
            now: Arc::new(Timestamp::now),
            resolve: Arc::new(|name, port| {
                Box::pin(async move { Ok(tokio::net::lookup_host((name, port)).await?.collect()) })
            }),
            at_once: 4,
            webhooks_at_once: 64,
            timeout: Duration::from_secs(15),
            slow_after: Duration::from_secs(2),
            is_alone: false,
        })
    }

    /// Sets the maximum number of simultaneous messages to one receiver. Default: 4. A failing
    /// receiver gets one message at a time.
    #[must_use]
    pub fn max_messages_per_receiver(self, messages: usize) -> Self {
        Self {
            at_once: messages.max(1),
            ..self
        }
    }

    /// Sets the maximum number of simultaneous receivers. Default: 64. A quarter as many more
    /// are available for receivers that fail or are slow. Tenants that wait for a free slot get it in
    /// turn.
    #[must_use]
    pub fn max_receivers(self, receivers: usize) -> Self {
        Self {
            webhooks_at_once: receivers.max(4),
            ..self
        }
    }

    /// Sets the timeout of a response of a receiver. Default and maximum: 15 seconds.
    #[must_use]
    pub fn timeout(self, time: Duration) -> Self {
        Self {
            timeout: time.min(Duration::from_secs(15)),
            ..self
        }
    }

    /// Sets the time after which a receiver is slow, whatever its response is. Default: 2 seconds.
    /// Slow receivers share separate slots. A request releases its slot to others after half of
    /// this time.
    #[must_use]
    pub fn slow_after(self, time: Duration) -> Self {
        Self {
            slow_after: time,
            ..self
        }
    }

    /// Declares that no other program sends for this store. Leases of a killed program are then
    /// taken over immediately.
    #[must_use]
    pub fn exclusive(self, is_alone: bool) -> Self {
        Self { is_alone, ..self }
    }

    /// Sets the clock. Default: the clock of the system.
    #[must_use]
    pub fn clock(self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self {
            now: Arc::new(now),
            ..self
        }
    }

    /// Sets the resolver of names. Default: the system. The returned addresses are checked in the
    /// same way.
    #[must_use]
    pub fn resolver<F>(self, resolve: impl Fn(String, u16) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'static,
    {
        Self {
            resolve: Arc::new(move |name, port| Box::pin(resolve(name, port))),
            ..self
        }
    }

    /// Sends until `stop` is ready. Unfinished messages then have five seconds. The next sender
    /// repeats those that have no response by then.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let (stopping, stopped) = watch::channel(false);
        let mut running = SenderState {
            work: Arc::new(WorkerContext {
                client: WebhookClient::new(self.resolve, self.parts.receiver_policy, self.timeout),
                prompt: DeliverySlots::new(self.webhooks_at_once),
                slow: DeliverySlots::new((self.webhooks_at_once / 4).max(1)),
                overtime: DeliverySlots::new(self.webhooks_at_once.saturating_mul(OVERTIME)),
                slow_after: self.slow_after,
                slow_webhooks: Mutex::default(),
                api: self.api,
                parts: self.parts,
                now: self.now,
                at_once: self.at_once,
                stopped,
            }),
            busy: HashSet::new(),
            of_task: HashMap::new(),
            tasks: JoinSet::new(),
            tenants: BTreeSet::new(),
            takes_over: self.is_alone,
        };
        let mut stop = pin!(stop);
        tokio::select! {
            () = &mut stop => {}
            () = running.run_loop() => {}
        }
        // It fails only if there is no receiver.
        _ = stopping.send(true);
        let rest = async { while running.tasks.join_next().await.is_some() {} };
        _ = timeout(GRACE, rest).await;
        running.tasks.shutdown().await;
    }
}

/// A running sender.
struct SenderState {
    work: Arc<WorkerContext>,
    /// The webhooks that have a task now.
    busy: HashSet<Id>,
    of_task: HashMap<task::Id, Id>,
    tasks: JoinSet<()>,
    /// The tenants with a subscription to commits.
    tenants: BTreeSet<Tenant>,
    /// Whether leases of other programs are taken over.
    takes_over: bool,
}

impl SenderState {
    async fn run_loop(&mut self) {
        loop {
            // Subscribe before reading, so that no commit in between is missed.
            let bells = self.bells().await;
            if let Err(error) = self.start_due().await {
                tracing::warn!(error = %format_args!("{error:#}"), "the webhooks cannot be processed");
            }
            let mut rest = pin!(async {
                tokio::select! {
                    () = any(bells) => sleep(GATHER).await,
                    () = sleep(IDLE) => {}
                }
            });
            loop {
                tokio::select! {
                    () = &mut rest => break,
                    Some(done) = self.tasks.join_next_with_id(), if !self.tasks.is_empty() => {
                        let task = match done {
                            Ok((task, ())) => task,
                            Err(failed) => failed.id(),
                        };
                        if let Some(webhook) = self.of_task.remove(&task) {
                            self.busy.remove(&webhook);
                        }
                    }
                }
            }
        }
    }

    async fn bells(&self) -> Vec<Subscription> {
        let mut bells = Vec::new();
        for tenant in &self.tenants {
            let cx = Context::new(tenant.clone(), Caller::anonymous(), (self.work.now)());
            // Without a subscription, the sender polls every second.
            bells.extend(self.work.parts.changes.subscribe(&cx).await.ok());
        }
        bells
    }

    /// Starts a task for each webhook that may have messages to send.
    async fn start_due(&mut self) -> Result<()> {
        let now = (self.work.now)();
        let until = if self.takes_over {
            now.saturating_add(LEASE_DURATION)
        } else {
            now
        };
        let (mut after, mut tenants, mut webhooks) = (None, BTreeSet::new(), HashSet::new());
        loop {
            let part = self
                .work
                .parts
                .webhooks
                .list_due_webhooks(until, after.as_ref(), PART)
                .await?;
            let is_last = part.len() < PART as usize;
            after = part.last().map(|(_, webhook)| webhook.id.clone());
            for (tenant, webhook) in part {
                tenants.insert(tenant.clone());
                webhooks.insert(webhook.id.clone());
                if self.busy.insert(webhook.id.clone()) {
                    let id = webhook.id.clone();
                    let task = self
                        .tasks
                        .spawn(Arc::clone(&self.work).process(tenant, webhook));
                    self.of_task.insert(task.id(), id);
                }
            }
            if is_last {
                break;
            }
        }
        // Webhooks in progress are leased, and therefore not due.
        webhooks.extend(self.busy.iter().cloned());
        self.work.retain_slow(&webhooks);
        (self.tenants, self.takes_over) = (tenants, false);
        Ok(())
    }
}

/// Waits until one of the subscriptions is notified.
async fn any(mut bells: Vec<Subscription>) {
    poll_fn(|cx| {
        let rung = bells
            .iter_mut()
            .any(|bell| Pin::new(bell).poll(cx).is_ready());
        if rung { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

//! Sends the messages of webhooks, with the feature `webhooks`.
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
//! | What happens | What becomes of it |
//! |---|---|
//! | the program is killed | messages that were on their way are sent again, with the same `webhook-id` |
//! | several programs send for one store | each webhook is one program's at a time; what a killed one had is free after half a minute |
//! | a receiver hangs | it has 15 seconds, one message at a time, and connections apart from those of receivers that answer |
//! | a tenant has many slow receivers | after a second their requests use slots of their own, and tenants get free slots in turn |
//! | a name leads to a private address | nothing is connected: each address is looked at after it was resolved, at each attempt |
//!
//! Requirements: HOOK-07 to HOOK-13.

mod post;
mod slots;
mod work;

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
    ops::Subscription,
    value::{Id, Timestamp},
    webhook::LEASE,
};
use tokio::{
    sync::watch,
    task::{self, JoinSet},
    time::{sleep, timeout},
};

use self::{post::WebhookClient, slots::Slots, work::WorkerContext};

/// How many webhooks are read at once of those that may have something to do.
const PART: u32 = 500;
/// How long it is at rest when nothing rings.
const IDLE: Duration = Duration::from_secs(1);
/// How long commits are gathered before it is looked what they were.
const GATHER: Duration = Duration::from_millis(20);
/// Slow requests for each receiver that is sent to at the same time: they wait, and take nothing
/// but a socket.
const OVERTIME: usize = 4;
/// How long messages that are on their way may take when it stops.
const GRACE: Duration = Duration::from_secs(5);

/// Addresses of a name, when they are there.
type ResolveFuture = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;
/// Finds the addresses of a name with a port.
type ResolveFn = Arc<dyn Fn(String, u16) -> ResolveFuture + Send + Sync>;

/// Sends what webhooks are to be told, until it is stopped.
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
        f.debug_struct("Sender")
            .field("api", &self.api)
            .finish_non_exhaustive()
    }
}

impl WebhookSender {
    /// A sender for an API; `None` where that offers no webhooks. Links in messages begin with the
    /// API's base URL.
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

    /// How many messages one receiver is sent at the same time: 4 unless set. One that fails gets
    /// one.
    #[must_use]
    pub fn at_once(self, messages: usize) -> Self {
        Self {
            at_once: messages.max(1),
            ..self
        }
    }

    /// Receivers that it sends to at the same time: 64 unless set, and a quarter as many that fail
    /// or are slow. Tenants that wait for a free one are served in turn.
    #[must_use]
    pub fn receivers_at_once(self, receivers: usize) -> Self {
        Self {
            webhooks_at_once: receivers.max(4),
            ..self
        }
    }

    /// How long a receiver has for its answer: 15 seconds unless set, and no longer than that.
    #[must_use]
    pub fn timeout(self, time: Duration) -> Self {
        Self {
            timeout: time.min(Duration::from_secs(15)),
            ..self
        }
    }

    /// Time after which a receiver is slow, whatever it answers: 2 seconds unless set. Slow
    /// receivers share slots of their own, and a request leaves its slot to others after half of
    /// that time.
    #[must_use]
    pub fn slow_after(self, time: Duration) -> Self {
        Self {
            slow_after: time,
            ..self
        }
    }

    /// Says that no other program sends for this store: what one has left that was killed is taken
    /// over at once.
    #[must_use]
    pub fn alone(self, is_alone: bool) -> Self {
        Self { is_alone, ..self }
    }

    /// Tells the time from `now` instead of the system.
    #[must_use]
    pub fn clock(self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self {
            now: Arc::new(now),
            ..self
        }
    }

    /// Resolves names by `resolve` instead of the system. What it finds is looked at like
    /// everything else.
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

    /// Sends until `stop` is ready. Messages that are on their way then have five seconds; what has
    /// no answer by then is sent again by whoever comes next.
    pub async fn run_until(self, stop: impl Future<Output = ()>) {
        let (stopping, stopped) = watch::channel(false);
        let mut running = SenderState {
            work: Arc::new(WorkerContext {
                client: WebhookClient::new(self.resolve, self.parts.receiver_policy, self.timeout),
                prompt: Slots::new(self.webhooks_at_once),
                slow: Slots::new((self.webhooks_at_once / 4).max(1)),
                overtime: Slots::new(self.webhooks_at_once.saturating_mul(OVERTIME)),
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
            () = running.look_for_ever() => {}
        }
        // It fails only where nobody listens.
        _ = stopping.send(true);
        let rest = async { while running.tasks.join_next().await.is_some() {} };
        _ = timeout(GRACE, rest).await;
        running.tasks.shutdown().await;
    }
}

/// A sender that runs.
struct SenderState {
    work: Arc<WorkerContext>,
    /// The webhooks that are looked after at this moment, each by a task.
    busy: HashSet<Id>,
    of_task: HashMap<task::Id, Id>,
    tasks: JoinSet<()>,
    /// The tenants whose commits are listened for.
    tenants: BTreeSet<Tenant>,
    /// Whether what others have for themselves is taken over.
    takes_over: bool,
}

impl SenderState {
    async fn look_for_ever(&mut self) {
        loop {
            // Before it looks: what is committed meanwhile is heard.
            let bells = self.bells().await;
            if let Err(error) = self.look().await {
                tracing::warn!(error = %format_args!("{error:#}"), "webhooks cannot be looked after");
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
            // Whoever cannot listen looks after a second.
            bells.extend(self.work.parts.changes.subscribe(&cx).await.ok());
        }
        bells
    }

    /// Gives each webhook that may have something to do to a task.
    async fn look(&mut self) -> Result<()> {
        let now = (self.work.now)();
        let until = if self.takes_over {
            now.plus(LEASE)
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
                        .spawn(Arc::clone(&self.work).look_after(tenant, webhook));
                    self.of_task.insert(task.id(), id);
                }
            }
            if is_last {
                break;
            }
        }
        // Those that are in progress are leased, and therefore not due.
        webhooks.extend(self.busy.iter().cloned());
        self.work.retain_slow(&webhooks);
        (self.tenants, self.takes_over) = (tenants, false);
        Ok(())
    }
}

/// Is ready when one of these is.
async fn any(mut bells: Vec<Subscription>) {
    poll_fn(|cx| {
        let rung = bells
            .iter_mut()
            .any(|bell| Pin::new(bell).poll(cx).is_ready());
        if rung { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

//! Processes one webhook: reads the feed after its cursor, sends messages, and stores the results.

use std::{
    collections::HashSet,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use svc_core::{
    Api, Context, FeedRequest, FeedResponse, Result, Tenant,
    api::WebhookSources,
    auth::{Caller, Operation, Right, Rights},
    backend::{FeedPage, StoredWebhook, WebhookWrite},
    value::{Id, Timestamp},
    webhooks::{AttemptResult, LEASE_DURATION, Webhook, WebhookEvent},
};
use tokio::{sync::watch, task::JoinSet, time::sleep};

use super::{
    client::{SignedMessage, WebhookClient},
    slots::{DeliverySlot, DeliverySlots},
};

/// Maximum number of attempts to store results after concurrent changes of the webhook.
const TRIES: usize = 16;

/// Time for which results are collected before they are stored. If the program is killed, messages
/// since then are sent again with the same ids.
const GATHER: Duration = Duration::from_millis(100);
/// Minimum remaining lease when sending starts: a message can take 15 seconds.
const LEAST: Duration = Duration::from_secs(20);
/// Maximum number of collected results.
const MOST_GATHERED: usize = 256;

/// Everything that is needed to process a webhook.
pub(super) struct WorkerContext {
    pub(super) api: Api,
    pub(super) parts: WebhookSources,
    pub(super) client: WebhookClient,
    pub(super) now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    pub(super) at_once: usize,
    /// Slots for receivers that respond in time.
    pub(super) prompt: DeliverySlots,
    /// Slots for receivers that fail or whose last response was slow, so that they do not delay the
    /// others.
    pub(super) slow: DeliverySlots,
    /// Slots for requests that started in a prompt slot and turned out to be slow.
    pub(super) overtime: DeliverySlots,
    /// Time after which a response is slow.
    pub(super) slow_after: Duration,
    /// The webhooks whose last response was slow.
    pub(super) slow_webhooks: Mutex<HashSet<Id>>,
    pub(super) stopped: watch::Receiver<bool>,
}

/// A webhook that a task processes.
struct LeasedWebhook {
    tenant: Tenant,
    version: i64,
    webhook: Webhook,
    /// Until when it is leased.
    leased: Option<Timestamp>,
    /// When it is due next, as this task stored it. A later value was stored by another program
    /// that now has the lease.
    next: Option<Timestamp>,
}

/// Messages that are sent at the same time.
#[derive(Default)]
struct MessageBatch {
    events: Vec<WebhookEvent>,
    /// The cursor after these messages.
    next: Option<String>,
    /// Whether the entries after the cursor have expired.
    is_lost: bool,
}

/// Results of messages that are not stored yet.
#[derive(Default)]
struct UnsavedResults {
    parts: Vec<(MessageBatch, u32, Vec<AttemptResult>)>,
    messages: usize,
    since: Option<Timestamp>,
}

impl UnsavedResults {
    /// `turn` is that of the webhook when the batch was read.
    fn add(&mut self, part: MessageBatch, turn: u32, answers: Vec<AttemptResult>, now: Timestamp) {
        self.messages = self.messages.saturating_add(answers.len());
        self.since.get_or_insert(now);
        self.parts.push((part, turn, answers));
    }

    fn is_pending(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Returns whether the results must be stored now.
    fn are_due(&self, webhook: &Webhook, now: Timestamp) -> bool {
        let is_old = self
            .since
            .is_some_and(|since| since.saturating_add(GATHER) <= now);
        let is_special =
            webhook.failing_since.is_some() || self.parts.iter().any(|(part, ..)| part.is_lost);
        is_old || is_special || self.messages >= MOST_GATHERED
    }
}

/// Records the results of a batch. `turn` is that of the webhook when the messages were sent.
fn note(
    webhook: &mut Webhook,
    turn: u32,
    part: &MessageBatch,
    answers: &[AttemptResult],
    now: Timestamp,
) {
    for (event, answered) in part.events.iter().zip(answers) {
        webhook.record_attempt(event, answered, now);
    }
    match &part.next {
        Some(end) if part.is_lost => webhook.skip_to_end(turn, end, now),
        Some(next) => webhook.advance_cursor(turn, next),
        None => {}
    }
}

impl WorkerContext {
    /// Sends all messages of a webhook that are due.
    pub(super) async fn process(self: Arc<Self>, tenant: Tenant, stored: StoredWebhook) {
        if let Err(error) = self.send_all(tenant, &stored).await {
            tracing::warn!(webhook = %stored.id, error = %format_args!("{error:#}"), "a webhook cannot be processed");
        }
    }

    async fn send_all(self: &Arc<Self>, tenant: Tenant, stored: &StoredWebhook) -> Result<()> {
        let mut held = LeasedWebhook {
            tenant,
            version: stored.version,
            webhook: Webhook::from_stored(stored)?,
            leased: None,
            next: stored.due_at,
        };
        let mut outcomes = UnsavedResults::default();
        let ended = self.send_batches(&mut held, &mut outcomes).await;
        if !matches!(ended, Ok(false)) && (held.leased.is_some() || outcomes.is_pending()) {
            self.write(&mut held, &mut outcomes, None).await?;
        }
        ended.map(drop)
    }

    /// Sends until no message is left. Returns `false` if another program has the lease by then, or
    /// the webhook was deleted.
    async fn send_batches(
        self: &Arc<Self>,
        held: &mut LeasedWebhook,
        outcomes: &mut UnsavedResults,
    ) -> Result<bool> {
        loop {
            let now = (self.now)();
            if *self.stopped.borrow() || held.webhook.is_idle(now) {
                return Ok(true);
            }
            let turn = held.webhook.cursor_generation;
            let part = self.part(held, now).await?;
            let has_moved = part.next.is_some() && part.next != held.webhook.cursor;
            if part.events.is_empty() && !has_moved {
                return Ok(true);
            }
            let answers = if part.events.is_empty() {
                Vec::new()
            } else {
                let is_slow = held.webhook.failing_since.is_some()
                    || self.slow_webhooks().contains(&held.webhook.id);
                let slots = if is_slow { &self.slow } else { &self.prompt };
                let mut version = held.version;
                let slot = if let Some(slot) = slots.try_acquire() {
                    slot
                } else {
                    // Store known results first, because acquiring a slot may take time.
                    if outcomes.is_pending() {
                        version = version.saturating_add(1);
                        if !self.write_leased(held, outcomes).await? {
                            return Ok(false);
                        }
                    }
                    // The queue of slots lives longer than its tasks.
                    let Some(slot) = slots.acquire(&held.tenant).await else {
                        return Ok(true);
                    };
                    slot
                };
                let now = (self.now)();
                if held
                    .leased
                    .is_none_or(|until| until < now.saturating_add(LEAST))
                {
                    version = version.saturating_add(1);
                    if !self.write_leased(held, outcomes).await? {
                        return Ok(false);
                    }
                }
                if held.version != version {
                    // The webhook has changed since the batch was read: it may be paused, or its
                    // messages must be sent again.
                    continue;
                }
                let sending = answers(self.send(&held.webhook, &part), part.events.len());
                let (tenant, id) = (held.tenant.clone(), held.webhook.id.clone());
                let mut answers = pin!(self.in_slot(slot, is_slow, tenant, id, sending));
                tokio::select! {
                    answers = &mut answers => answers,
                    () = sleep(GATHER), if outcomes.is_pending() => {
                        if !self.write_leased(held, outcomes).await? {
                            return Ok(false);
                        }
                        answers.await
                    }
                }
            };
            let now = (self.now)();
            note(&mut held.webhook, turn, &part, &answers, now);
            outcomes.add(part, turn, answers, now);
            if outcomes.are_due(&held.webhook, now) && !self.save(held, outcomes).await? {
                return Ok(false);
            }
        }
    }

    fn slow_webhooks(&self) -> MutexGuard<'_, HashSet<Id>> {
        // No code panics while it is locked.
        self.slow_webhooks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the slow receivers, except those of these webhooks.
    pub(super) fn retain_slow(&self, webhooks: &HashSet<Id>) {
        self.slow_webhooks().retain(|id| webhooks.contains(id));
    }

    /// Waits for responses with a slot, and records whether the receiver is slow.
    async fn in_slot<T>(
        &self,
        slot: DeliverySlot,
        is_slow: bool,
        tenant: Tenant,
        id: Id,
        responses: impl Future<Output = T>,
    ) -> T {
        let begun = Instant::now();
        let mut responses = pin!(responses);
        let responses = if is_slow {
            let responses = responses.await;
            drop(slot);
            responses
        } else {
            tokio::select! {
                responses = &mut responses => responses,
                _overtime = self.overtime(slot, &tenant) => responses.await,
            }
        };
        if begun.elapsed() > self.slow_after {
            self.slow_webhooks().insert(id);
        } else {
            self.slow_webhooks().remove(&id);
        }
        responses
    }

    /// Exchanges a prompt slot for one of the slots of slow requests, after half of the time after
    /// which a response is slow.
    async fn overtime(&self, slot: DeliverySlot, tenant: &Tenant) -> Option<DeliverySlot> {
        sleep(self.slow_after / 2).await;
        let overtime = self.overtime.acquire(tenant).await;
        drop(slot);
        overtime
    }

    /// Stores a webhook with a lease, so that no other program sends for it.
    async fn write_leased(
        &self,
        held: &mut LeasedWebhook,
        outcomes: &mut UnsavedResults,
    ) -> Result<bool> {
        let leased = (self.now)().saturating_add(LEASE_DURATION);
        self.write(held, outcomes, Some(leased)).await
    }

    /// Stores a webhook. Renews its lease if it has one.
    async fn save(&self, held: &mut LeasedWebhook, outcomes: &mut UnsavedResults) -> Result<bool> {
        let leased = held
            .leased
            .map(|_| (self.now)().saturating_add(LEASE_DURATION));
        self.write(held, outcomes, leased).await
    }

    /// Returns the next batch: messages that are due for a retry, then entries after the cursor.
    async fn part(&self, held: &LeasedWebhook, now: Timestamp) -> Result<MessageBatch> {
        let webhook = &held.webhook;
        let at_once = if webhook.failing_since.is_some() {
            1
        } else {
            self.at_once
        };
        let mut part = MessageBatch {
            events: webhook.due_retries(now),
            ..MessageBatch::default()
        };
        part.events.truncate(at_once);
        let room = at_once
            .saturating_sub(part.events.len())
            .min(webhook.available_slots());
        if room == 0 {
            return Ok(part);
        }
        match self.feed(held, webhook.cursor.clone(), room, now).await? {
            FeedResponse::Page(page) => {
                part.events.extend(
                    page.entries
                        .iter()
                        .map(|entry| &entry.change)
                        .filter(|change| webhook.matches(change))
                        .map(WebhookEvent::from),
                );
                part.next = Some(page.next_cursor);
            }
            _ => {
                if let FeedResponse::Page(FeedPage {
                    last_cursor: last, ..
                }) = self.feed(held, None, 1, now).await?
                {
                    (part.next, part.is_lost) = (Some(last), true);
                }
            }
        }
        Ok(part)
    }

    async fn feed(
        &self,
        held: &LeasedWebhook,
        after: Option<String>,
        size: usize,
        now: Timestamp,
    ) -> Result<FeedResponse> {
        let kinds = held.webhook.kinds.clone();
        let reads = kinds
            .iter()
            .map(|kind| Right::Operation(*kind, Operation::Read));
        let cx = Context::new(
            held.tenant.clone(),
            Caller::with_rights(Rights::only(reads)),
            now,
        );
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        self.parts
            .changes
            .read(&cx, &FeedRequest::new(after, kinds, size))
            .await
    }

    /// Sends messages simultaneously.
    fn send(
        self: &Arc<Self>,
        webhook: &Webhook,
        part: &MessageBatch,
    ) -> JoinSet<(usize, AttemptResult)> {
        let mut sending = JoinSet::new();
        for (place, event) in part.events.iter().enumerate() {
            let (id, at) = (event.message_id(&webhook.id), (self.now)());
            let body = self.api.webhook_message(webhook, &event.entry());
            let signatures = webhook.signatures(&id, at, &body);
            let letter = SignedMessage {
                url: webhook.url.clone(),
                id,
                at,
                signatures,
                body,
            };
            let work = Arc::clone(self);
            sending.spawn(async move { (place, work.client.post(letter).await) });
        }
        sending
    }

    /// Stores a webhook with the results of its messages, leased until a time or without a lease.
    /// Returns `false` if another program has the lease, or the webhook was deleted.
    async fn write(
        &self,
        held: &mut LeasedWebhook,
        outcomes: &mut UnsavedResults,
        leased: Option<Timestamp>,
    ) -> Result<bool> {
        let UnsavedResults { parts, .. } = std::mem::take(outcomes);
        for _ in 0..TRIES {
            let now = (self.now)();
            let next = held
                .webhook
                .to_stored(held.version.saturating_add(1), leased, now)?;
            if self.parts.webhooks.put_webhook(&held.tenant, &next).await? == WebhookWrite::Written
            {
                (held.version, held.leased, held.next) = (next.version, leased, next.due_at);
                return Ok(true);
            }
            if held.leased.is_none() {
                return Ok(false);
            }
            // The webhook has changed in between: record the results in its current state.
            let Some(stored) = self
                .parts
                .webhooks
                .get_webhook(&held.tenant, &held.webhook.id)
                .await?
            else {
                return Ok(false);
            };
            if stored.due_at > held.next {
                return Ok(false);
            }
            (held.version, held.webhook) = (stored.version, Webhook::from_stored(&stored)?);
            for (part, turn, answers) in &parts {
                note(&mut held.webhook, *turn, part, answers, now);
            }
        }
        // The next sender repeats the messages.
        Ok(false)
    }
}

/// Returns the responses to all messages.
async fn answers(
    mut sending: JoinSet<(usize, AttemptResult)>,
    messages: usize,
) -> Vec<AttemptResult> {
    let mut answers = vec![AttemptResult::Failed("the message could not be sent"); messages];
    while let Some(sent) = sending.join_next().await {
        if let Ok((place, answered)) = sent
            && let Some(answer) = answers.get_mut(place)
        {
            *answer = answered;
        }
    }
    answers
}

//! What one webhook is told: read behind its cursor, sent, and noted.

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
    slots::{Slot, Slots},
};

/// How often an outcome is noted again that somebody was faster than.
const TRIES: usize = 16;

/// How long outcomes are gathered before they are written: what was sent since is sent again, with
/// the same ids, where the program is killed.
const GATHER: Duration = Duration::from_millis(100);
/// How long a webhook is to be had for itself when sending begins: a message may take 15 seconds.
const LEAST: Duration = Duration::from_secs(20);
/// Outcomes that are gathered at most.
const MOST_GATHERED: usize = 256;

/// All that is needed to look after a webhook.
pub(super) struct WorkerContext {
    pub(super) api: Api,
    pub(super) parts: WebhookSources,
    pub(super) client: WebhookClient,
    pub(super) now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    pub(super) at_once: usize,
    /// Slots for receivers that answer in time.
    pub(super) prompt: Slots,
    /// Slots for receivers that fail, and for those whose last response was slow: they take nothing
    /// from the others.
    pub(super) slow: Slots,
    /// Slots for requests that were begun in a prompt slot and have turned out to be slow.
    pub(super) overtime: Slots,
    /// Time after which a response is slow.
    pub(super) slow_after: Duration,
    /// The webhooks whose last response was slow.
    pub(super) slow_webhooks: Mutex<HashSet<Id>>,
    pub(super) stopped: watch::Receiver<bool>,
}

/// A webhook that a task has in its hands.
struct LeasedWebhook {
    tenant: Tenant,
    version: i64,
    webhook: Webhook,
    /// Until when nobody else takes it.
    leased: Option<Timestamp>,
    /// When it is looked after next, as it was written last: what is later was written by somebody
    /// else who has it now.
    next: Option<Timestamp>,
}

/// What is sent at the same time.
#[derive(Default)]
struct MessageBatch {
    events: Vec<WebhookEvent>,
    /// Where the cursor is then.
    next: Option<String>,
    /// Whether what was behind the cursor is not kept any more.
    is_lost: bool,
}

/// What became of messages and is not written yet.
#[derive(Default)]
struct UnsavedResults {
    parts: Vec<(MessageBatch, u32, Vec<AttemptResult>)>,
    messages: usize,
    since: Option<Timestamp>,
}

impl UnsavedResults {
    /// The turn is that of the webhook when the part was read.
    fn add(&mut self, part: MessageBatch, turn: u32, answers: Vec<AttemptResult>, now: Timestamp) {
        self.messages = self.messages.saturating_add(answers.len());
        self.since.get_or_insert(now);
        self.parts.push((part, turn, answers));
    }

    fn is_pending(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Whether they are to be written now.
    fn are_due(&self, webhook: &Webhook, now: Timestamp) -> bool {
        let is_old = self.since.is_some_and(|since| since.saturating_add(GATHER) <= now);
        let is_special =
            webhook.failing_since.is_some() || self.parts.iter().any(|(part, ..)| part.is_lost);
        is_old || is_special || self.messages >= MOST_GATHERED
    }
}

/// Notes what became of the messages of a part, of a webhook that was at this turn when they were
/// sent.
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
    /// Sends everything that a webhook has to be told by now.
    pub(super) async fn process(self: Arc<Self>, tenant: Tenant, stored: StoredWebhook) {
        if let Err(error) = self.send_all(tenant, &stored).await {
            tracing::warn!(webhook = %stored.id, error = %format_args!("{error:#}"), "a webhook cannot be looked after");
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

    /// Sends until nothing is left; `false` where the webhook is somebody else's by then, or
    /// deleted.
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
            let turn = held.webhook.turn;
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
                    // What is known already does not wait with it.
                    if outcomes.is_pending() {
                        version = version.saturating_add(1);
                        if !self.write_leased(held, outcomes).await? {
                            return Ok(false);
                        }
                    }
                    // The queue of slots never goes away before its tasks.
                    let Some(slot) = slots.acquire(&held.tenant).await else {
                        return Ok(true);
                    };
                    slot
                };
                let now = (self.now)();
                if held.leased.is_none_or(|until| until < now.saturating_add(LEAST)) {
                    version = version.saturating_add(1);
                    if !self.write_leased(held, outcomes).await? {
                        return Ok(false);
                    }
                }
                if held.version != version {
                    // Somebody has changed it since the part was read: it may be paused, or to be
                    // sent anew.
                    continue;
                }
                let sending = answers(self.send(&held.webhook, &part), part.events.len());
                let of = (held.tenant.clone(), held.webhook.id.clone());
                let mut answers = pin!(self.in_slot((slot, is_slow), of, sending));
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
        // Nothing panics while it is locked.
        self.slow_webhooks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets which receivers were slow, except those of these webhooks.
    pub(super) fn retain_slow(&self, webhooks: &HashSet<Id>) {
        self.slow_webhooks().retain(|id| webhooks.contains(id));
    }

    /// Waits for responses with a slot, and notes whether the receiver is slow.
    async fn in_slot<T>(
        &self,
        (slot, is_slow): (Slot, bool),
        (tenant, id): (Tenant, Id),
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

    /// Exchanges a prompt slot for one of the slow requests, when half of the time has passed after
    /// which a response is slow.
    async fn overtime(&self, slot: Slot, tenant: &Tenant) -> Option<Slot> {
        sleep(self.slow_after / 2).await;
        let overtime = self.overtime.acquire(tenant).await;
        drop(slot);
        overtime
    }

    /// Writes a webhook, so that nobody else sends for it.
    async fn write_leased(
        &self,
        held: &mut LeasedWebhook,
        outcomes: &mut UnsavedResults,
    ) -> Result<bool> {
        let leased = (self.now)().saturating_add(LEASE_DURATION);
        self.write(held, outcomes, Some(leased)).await
    }

    /// Writes a webhook, leased on where it is leased.
    async fn save(
        &self,
        held: &mut LeasedWebhook,
        outcomes: &mut UnsavedResults,
    ) -> Result<bool> {
        let leased = held.leased.map(|_| (self.now)().saturating_add(LEASE_DURATION));
        self.write(held, outcomes, leased).await
    }

    /// What comes next: messages that are due again, then what is behind the cursor.
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

    /// Sends messages at the same time.
    fn send(
        self: &Arc<Self>,
        webhook: &Webhook,
        part: &MessageBatch,
    ) -> JoinSet<(usize, AttemptResult)> {
        let mut sending = JoinSet::new();
        for (place, event) in part.events.iter().enumerate() {
            let (id, at) = (event.message_id(&webhook.id), (self.now)());
            let body = self.api.webhook_message(&event.entry());
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

    /// Writes a webhook with what became of its messages, leased until a moment or free. `false`
    /// where somebody else has it or it was deleted.
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
            // Somebody has changed it meanwhile: what became of the messages is noted in that.
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
        // Whoever comes next sends it again.
        Ok(false)
    }
}

/// What came back of messages, when it is there for all of them.
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

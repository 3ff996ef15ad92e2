//! What one webhook is told: read behind its cursor, sent, and noted.

use std::sync::Arc;

use svc_core::{
    Api, ChangesRequest, Context, Feed, Result, Tenant,
    api::WebhookParts,
    auth::{Caller, Operation, Right, Rights},
    ops::{ChangesPage, StoredWebhook},
    value::Timestamp,
    webhook::{Answered, Event, LEASE, Webhook},
};
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
};

use super::post::{Client, Letter};

/// How often an outcome is noted again that somebody was faster than.
const TRIES: usize = 16;

/// All that is needed to look after a webhook.
pub(super) struct Work {
    pub(super) api: Api,
    pub(super) parts: WebhookParts,
    pub(super) client: Client,
    pub(super) now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    pub(super) at_once: usize,
    /// Receivers that are sent to at the same time, and those of them whose last message has not arrived: they take nothing from
    /// the others.
    pub(super) answering: Semaphore,
    pub(super) failing: Semaphore,
    pub(super) stopped: watch::Receiver<bool>,
}

/// A webhook that a task has in its hands.
struct Held {
    tenant: Tenant,
    version: i64,
    webhook: Webhook,
    /// Until when nobody else takes it.
    leased: Option<Timestamp>,
}

/// What is sent at the same time.
#[derive(Default)]
struct Part {
    events: Vec<Event>,
    /// Where the cursor is then.
    next: Option<String>,
    /// Whether what was behind the cursor is not kept any more.
    is_lost: bool,
}

impl Work {
    /// Sends everything that a webhook has to be told by now.
    pub(super) async fn look_after(self: Arc<Self>, tenant: Tenant, stored: StoredWebhook) {
        if let Err(error) = self.send_all(tenant, &stored).await {
            tracing::warn!(webhook = %stored.id, error = %format_args!("{error:#}"), "a webhook cannot be looked after");
        }
    }

    async fn send_all(self: &Arc<Self>, tenant: Tenant, stored: &StoredWebhook) -> Result<()> {
        let mut held = Held { tenant, version: stored.version, webhook: Webhook::read(stored)?, leased: None };
        loop {
            let now = (self.now)();
            if *self.stopped.borrow() || held.webhook.is_at_rest(now) {
                break;
            }
            let part = self.part(&held, now).await?;
            if part.events.is_empty() {
                let has_moved = part.next.is_some() && part.next != held.webhook.cursor;
                if !has_moved || !self.note(&mut held, &part, &[], None).await? {
                    break;
                }
                continue;
            }
            let failing = held.webhook.failing_since.is_some();
            // It is never closed.
            let slot = if failing { &self.failing } else { &self.answering }.acquire().await;
            let now = (self.now)();
            if held.leased.is_none_or(|until| until < now.plus(LEASE / 2)) && !self.lease(&mut held, now).await? {
                return Ok(());
            }
            let answers = self.send(&held.webhook, &part).await;
            drop(slot);
            let leased = (self.now)().plus(LEASE);
            if !self.note(&mut held, &part, &answers, Some(leased)).await? {
                return Ok(());
            }
        }
        if held.leased.is_some() {
            let now = (self.now)();
            let free = held.webhook.stored(held.version.saturating_add(1), None, now)?;
            // Whoever was faster has freed it, too, or it is free soon.
            self.parts.webhooks.write_webhook(&held.tenant, &free).await?;
        }
        Ok(())
    }

    /// Takes a webhook, so that nobody else sends for it. Whether it was not changed since it was read.
    async fn lease(&self, held: &mut Held, now: Timestamp) -> Result<bool> {
        let leased = now.plus(LEASE);
        let next = held.webhook.stored(held.version.saturating_add(1), Some(leased), now)?;
        let is_mine = self.parts.webhooks.write_webhook(&held.tenant, &next).await?;
        (held.version, held.leased) = (next.version, Some(leased));
        Ok(is_mine)
    }

    /// What comes next: messages that are due again, then what is behind the cursor.
    async fn part(&self, held: &Held, now: Timestamp) -> Result<Part> {
        let webhook = &held.webhook;
        let at_once = if webhook.failing_since.is_some() { 1 } else { self.at_once };
        let mut part = Part { events: webhook.due(now), ..Part::default() };
        part.events.truncate(at_once);
        let room = at_once.saturating_sub(part.events.len()).min(webhook.room());
        if room == 0 {
            return Ok(part);
        }
        match self.feed(held, webhook.cursor.clone(), room, now).await? {
            Feed::Page(page) => {
                part.events.extend(page.entries.iter().filter(|entry| webhook.wants(entry)).map(Event::from));
                part.next = Some(page.next);
            }
            _ => {
                if let Feed::Page(ChangesPage { last, .. }) = self.feed(held, None, 1, now).await? {
                    (part.next, part.is_lost) = (Some(last), true);
                }
            }
        }
        Ok(part)
    }

    async fn feed(&self, held: &Held, after: Option<String>, size: usize, now: Timestamp) -> Result<Feed> {
        let kinds = held.webhook.kinds.clone();
        let reads = kinds.iter().map(|kind| Right::On(*kind, Operation::Read));
        let cx = Context::new(held.tenant.clone(), Caller::with_rights(Rights::only(reads)), now);
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        self.parts.changes.changes(&cx, &ChangesRequest::new(after, kinds, size)).await
    }

    /// Sends messages at the same time, and waits for all.
    async fn send(self: &Arc<Self>, webhook: &Webhook, part: &Part) -> Vec<Answered> {
        let mut sending = JoinSet::new();
        for (place, event) in part.events.iter().enumerate() {
            let (id, at) = (event.message_id(&webhook.id), (self.now)());
            let body = self.api.webhook_message(&event.entry());
            let signatures = webhook.signatures(&id, at, &body);
            let letter = Letter { url: webhook.url.clone(), id, at, signatures, body };
            let work = Arc::clone(self);
            sending.spawn(async move { (place, work.client.post(letter).await) });
        }
        let mut answers = vec![Answered::Nothing("the message could not be sent"); part.events.len()];
        while let Some(sent) = sending.join_next().await {
            if let Ok((place, answered)) = sent
                && let Some(answer) = answers.get_mut(place)
            {
                *answer = answered;
            }
        }
        answers
    }

    /// Notes what became of messages, in what the webhook is by now. `false` where it was deleted.
    async fn note(
        &self,
        held: &mut Held,
        part: &Part,
        answers: &[Answered],
        leased: Option<Timestamp>,
    ) -> Result<bool> {
        let turn = held.webhook.turn;
        for _ in 0..TRIES {
            let now = (self.now)();
            for (event, answered) in part.events.iter().zip(answers) {
                held.webhook.note(event, answered, now);
            }
            match &part.next {
                Some(end) if part.is_lost => held.webhook.begin_anew(turn, end, now),
                Some(next) => held.webhook.move_on(turn, next),
                None => {}
            }
            let next = held.webhook.stored(held.version.saturating_add(1), leased, now)?;
            if self.parts.webhooks.write_webhook(&held.tenant, &next).await? {
                (held.version, held.leased) = (next.version, leased);
                return Ok(true);
            }
            // Somebody has changed it meanwhile: the outcome is noted in that.
            let Some(stored) = self.parts.webhooks.webhook(&held.tenant, &held.webhook.id).await? else {
                return Ok(false);
            };
            (held.version, held.webhook) = (stored.version, Webhook::read(&stored)?);
        }
        // Whoever comes next sends it again.
        Ok(false)
    }
}

//! Webhooks notify registered receivers of changes with signed messages.
//!
//! A webhook reads the change feed of its tenant from a cursor, so a webhook does not slow down
//! writes. Failed messages wait in a short list of the webhook while the cursor moves on. An
//! unavailable receiver therefore does not delay other messages. This module contains the rules and
//! performs no I/O. A [`WebhookStore`] stores the webhooks, and
//! `svc_tower::webhooks::WebhookSender` sends.
//!
//! Requirements: HOOK-01 to HOOK-16.

mod attempt;
mod network;
mod receiver;
mod schedule;
mod secret;

pub use crate::backend::EventType;
pub use attempt::{AttemptResult, DeliveryAttempt, parse_retry_after};
pub use network::is_public;
pub use receiver::{Host, InvalidReceiver, MAX_URL_LENGTH, Receiver, ReceiverPolicy};
pub use schedule::MAX_ATTEMPTS;
pub use secret::WebhookSecret;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    auth::Tenant,
    backend::{ChangeKind, RecordChange, StoredWebhook, WebhookStore, WebhookWrite},
    error::{Error, Result},
    link::RecordAddress,
    model::Kind,
    value::{Id, Timestamp, digest},
};

/// The maximum number of messages that wait for a retry. At this number the webhook stops reading
/// the feed.
pub const MAX_PENDING_RETRIES: usize = 100;
/// The maximum number of webhooks of a tenant.
pub const MAX_WEBHOOKS: usize = 100;
/// How long a sender leases a webhook unless it releases it earlier. This is longer than an
/// attempt.
pub const LEASE_DURATION: Duration = Duration::from_secs(30);
/// The number of attempts to write a webhook during concurrent changes.
pub(crate) const TRIES: usize = 8;
/// How long a replaced secret signs in addition to the new one.
///
/// Requirements: HOOK-09.
pub const SECRET_OVERLAP: Duration = Duration::from_secs(24 * 60 * 60);

/// The status of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WebhookStatus {
    /// The webhook sends messages.
    Active,
    /// The webhook is paused. Changes during the pause are sent when it resumes.
    Paused,
    /// The receiver responded with 410 and does not accept messages any longer.
    ///
    /// Requirements: HOOK-11.
    Ended,
    /// A key that the webhook belongs to was revoked. A key with the required rights can set the
    /// status to active again.
    ///
    /// Requirements: HOOK-16.
    Disabled,
}

impl WebhookStatus {
    /// Returns the name of the status in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Ended => "ended",
            Self::Disabled => "disabled",
        }
    }
}

/// A webhook with its state. It is stored as one JSON document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Webhook {
    /// The id of the webhook.
    #[serde(with = "as_text")]
    pub id: Id,
    /// The URL of the receiver.
    pub url: String,
    /// The kinds whose changes are sent: those that the key could read when they were set.
    #[serde(with = "kinds")]
    pub kinds: Vec<Kind>,
    /// The types of the events that are sent.
    #[serde(with = "events")]
    pub events: Vec<EventType>,
    /// Whether the webhook sends messages.
    pub status: WebhookStatus,
    /// The secrets, the newest first. A replaced secret has the time when it expires.
    pub secrets: Vec<(WebhookSecret, Option<i64>)>,
    /// The position in the change feed. `None` is the start.
    pub cursor: Option<String>,
    /// How often a client has set the cursor.
    #[serde(rename = "turn")]
    pub cursor_generation: u32,
    /// The messages that wait for a retry.
    #[serde(rename = "waiting")]
    pub pending_retries: Vec<PendingRetry>,
    /// Until when nothing is sent, in microseconds, because the receiver requested a pause.
    #[serde(rename = "held_until")]
    pub paused_until: Option<i64>,
    /// Since when all attempts have failed, in microseconds. `None` if the last attempt succeeded.
    pub failing_since: Option<i64>,
    /// The number of delivered messages.
    pub delivered: u64,
    /// The number of messages that were abandoned after the last attempt.
    #[serde(rename = "given_up")]
    pub abandoned: u64,
    /// The last attempt.
    #[serde(rename = "last")]
    pub last_attempt: Option<DeliveryAttempt>,
    /// When the webhook was created, in microseconds.
    pub created: i64,
    /// When a client last changed the webhook, in microseconds.
    pub modified: i64,
    /// The name of the key that created the webhook; `None` if that key has no name.
    #[serde(default)]
    pub created_by: Option<String>,
    /// The last change of `url` or `kinds`, or of the status from disabled, by another key.
    #[serde(default)]
    pub changed_by: Option<ChangeByKey>,
    /// The name of the key that set the receiver; `None` if that key has no name.
    #[serde(default)]
    pub url_set_by: Option<String>,
}

/// A change of a webhook's `url` or `kinds`, or of its status from disabled, by a key other than
/// the one that created it.
///
/// Requirements: HOOK-15.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangeByKey {
    /// The name of the key; `None` if it has no name.
    pub key: Option<String>,
    /// When the change was made, in microseconds since the epoch.
    pub at: i64,
}

/// A message that waits for a retry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingRetry {
    /// The event of the message.
    pub event: WebhookEvent,
    /// The number of attempts so far.
    pub attempts: u32,
    /// When the next attempt is due, in microseconds.
    pub next: i64,
}

/// A feed entry in the form in which a webhook stores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WebhookEvent {
    /// The type of the change.
    #[serde(rename = "what", with = "as_text")]
    pub change: ChangeKind,
    /// When the change was made, in microseconds.
    #[serde(rename = "at")]
    pub changed_at: i64,
    /// The kind of the record.
    #[serde(with = "as_text")]
    pub kind: Kind,
    /// The id of the record.
    #[serde(with = "as_text")]
    pub id: Id,
    /// The id of the parent record.
    pub parent: Option<String>,
    /// The record that the deleted record was merged into: its id, and that of its parent record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<(String, Option<String>)>,
}

impl WebhookEvent {
    /// Returns the feed entry.
    #[must_use]
    pub fn entry(&self) -> RecordChange {
        let parent = self.parent.as_deref().and_then(Id::new);
        let record = RecordAddress::new(self.kind, self.id.clone(), parent);
        let into = self.merged_into.as_ref().and_then(|(id, parent)| {
            let parent = parent.as_deref().and_then(Id::new);
            Some(RecordAddress::new(self.kind, Id::new(id)?, parent))
        });
        RecordChange::new(self.change, Timestamp::from_micros(self.changed_at), record)
            .with_merged_into(into)
    }

    /// Returns the `webhook-id` of the message.
    ///
    /// It is the same for each attempt, also after a restart of the sender, and unique for each
    /// change of the tenant.
    ///
    /// Requirements: HOOK-07.
    #[must_use]
    pub fn message_id(&self, webhook: &Id) -> String {
        let Self {
            change,
            changed_at,
            kind,
            id,
            ..
        } = self;
        let named = format!("{webhook} {change} {changed_at} {} {id}", kind.singular());
        format!("msg_{:032x}", digest(named.as_bytes()))
    }
}

impl From<&RecordChange> for WebhookEvent {
    fn from(entry: &RecordChange) -> Self {
        let RecordAddress {
            kind, id, parent, ..
        } = &entry.address;
        Self {
            change: entry.change,
            changed_at: entry.changed_at.as_micros(),
            kind: *kind,
            id: id.clone(),
            parent: parent.as_ref().map(|parent| parent.as_str().to_owned()),
            merged_into: entry.merged_into.as_ref().map(|into| {
                let parent = into.parent.as_ref();
                let parent = parent.map(|parent| parent.as_str().to_owned());
                (into.id.as_str().to_owned(), parent)
            }),
        }
    }
}

impl Webhook {
    /// Creates a webhook that receives the changes after this cursor.
    ///
    /// # Errors
    ///
    /// Returns an error if the system provides no random bytes.
    pub fn new(
        url: String,
        kinds: Vec<Kind>,
        events: Vec<EventType>,
        cursor: String,
        now: Timestamp,
    ) -> Result<Self> {
        Ok(Self {
            id: uuid::Uuid::now_v7().into(),
            url,
            kinds,
            events,
            status: WebhookStatus::Active,
            secrets: vec![(WebhookSecret::random()?, None)],
            cursor: Some(cursor),
            cursor_generation: 0,
            pending_retries: Vec::new(),
            paused_until: None,
            failing_since: None,
            delivered: 0,
            abandoned: 0,
            last_attempt: None,
            created: now.as_micros(),
            modified: now.as_micros(),
            created_by: None,
            changed_by: None,
            url_set_by: None,
        })
    }

    /// Returns whether this key created the webhook, set its `url`, or is the key of `changed_by`.
    fn belongs_to(&self, key: &str) -> bool {
        let last = self
            .changed_by
            .as_ref()
            .and_then(|change| change.key.as_deref());
        [self.created_by.as_deref(), self.url_set_by.as_deref(), last].contains(&Some(key))
    }

    /// Records the key that changes the receiver, unless that key created the webhook.
    pub(crate) fn note_change(&mut self, key: Option<&str>, now: Timestamp) {
        if self.created_by.as_deref() != key {
            self.changed_by = Some(ChangeByKey {
                key: key.map(str::to_owned),
                at: now.as_micros(),
            });
        }
    }

    /// Reads a webhook from its stored form.
    ///
    /// # Errors
    ///
    /// Returns an error if the document is not a webhook of this version.
    pub fn from_stored(stored: &StoredWebhook) -> Result<Self> {
        serde_json::from_slice(&stored.document).map_err(Error::unexpected)
    }

    /// Returns the stored form of the webhook. `leased` is the time until which a sender has it
    /// exclusively.
    ///
    /// # Errors
    ///
    /// Never returns an error in practice, because every webhook can be serialized.
    pub fn to_stored(
        &self,
        version: i64,
        leased: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<StoredWebhook> {
        let next = self
            .next_due(now)
            .map(|next| leased.map_or(next, |leased| leased.max(next)));
        Ok(StoredWebhook {
            id: self.id.clone(),
            version,
            due_at: next,
            document: serde_json::to_vec(self)?.into(),
        })
    }

    /// Returns when the webhook is due next. `None` if it is not active. If it only waits for
    /// changes, it is due now.
    fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        if self.status != WebhookStatus::Active {
            return None;
        }
        let held = self.paused_until.filter(|until| *until > now.as_micros());
        let full = self
            .pending_retries
            .iter()
            .map(|waiting| waiting.next)
            .min()
            .filter(|_| self.available_slots() == 0);
        Some(held.max(full).map_or(now, Timestamp::from_micros).max(now))
    }

    /// Returns whether the webhook sends nothing now.
    #[must_use]
    pub fn is_idle(&self, now: Timestamp) -> bool {
        self.next_due(now).is_none_or(|next| next > now)
    }

    /// Returns how many new messages the webhook can start to send.
    #[must_use]
    pub fn available_slots(&self) -> usize {
        MAX_PENDING_RETRIES.saturating_sub(self.pending_retries.len())
    }

    /// Returns the messages that are due for a retry.
    #[must_use]
    pub fn due_retries(&self, now: Timestamp) -> Vec<WebhookEvent> {
        let due = self
            .pending_retries
            .iter()
            .filter(|waiting| waiting.next <= now.as_micros());
        due.map(|waiting| waiting.event.clone()).collect()
    }

    /// Returns whether the webhook sends this feed entry.
    #[must_use]
    pub fn matches(&self, entry: &RecordChange) -> bool {
        self.kinds.contains(&entry.address.kind) && self.events.contains(&self.event_type(entry))
    }

    /// Returns the type of the event for a feed entry.
    ///
    /// The deletion of a merged person is [`EventType::Merged`] for a webhook that has this type, and
    /// [`EventType::Deleted`] otherwise.
    #[must_use]
    pub fn event_type(&self, entry: &RecordChange) -> EventType {
        let is_merge = entry.merged_into.is_some() && entry.address.kind == Kind::Person;
        if is_merge && self.events.contains(&EventType::Merged) {
            EventType::Merged
        } else {
            EventType::from(entry.change)
        }
    }

    /// Returns the secrets that are used for signatures now.
    ///
    /// Requirements: HOOK-09.
    pub fn active_secrets(&self, now: Timestamp) -> impl Iterator<Item = &WebhookSecret> {
        let signs = move |until: &Option<i64>| until.is_none_or(|until| until > now.as_micros());
        self.secrets
            .iter()
            .filter(move |(_, until)| signs(until))
            .map(|(secret, _)| secret)
    }

    /// Returns the `webhook-signature` header of a message.
    #[must_use]
    pub fn signatures(&self, id: &str, now: Timestamp, body: &[u8]) -> String {
        let seconds = now.as_micros().div_euclid(1_000_000);
        self.active_secrets(now)
            .map(|secret| secret.sign(id, seconds, body))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Creates a new secret. The previous secret also signs for one more day, and older secrets no
    /// longer sign.
    ///
    /// # Errors
    ///
    /// Returns an error if the system provides no random bytes.
    ///
    /// Requirements: HOOK-09.
    pub fn rotate_secret(&mut self, now: Timestamp) -> Result<()> {
        let ends = now.saturating_add(SECRET_OVERLAP).as_micros();
        self.secrets.truncate(1);
        self.secrets
            .iter_mut()
            .for_each(|(_, until)| *until = Some(ends));
        self.secrets.insert(0, (WebhookSecret::random()?, None));
        Ok(())
    }

    /// Sends all changes after a cursor again. Without a cursor, starts at the beginning of the
    /// feed.
    ///
    /// Requirements: HOOK-10.
    pub fn redeliver(&mut self, after: Option<String>) {
        self.cursor = after;
        self.cursor_generation = self.cursor_generation.wrapping_add(1);
    }

    /// Continues at the end of the feed because the cursor has expired, and records that changes
    /// were skipped.
    pub fn skip_to_end(&mut self, turn: u32, end: &str, now: Timestamp) {
        self.advance_cursor(turn, end);
        let error = "the cursor has expired; the webhook continues at the end of the change feed";
        self.last_attempt = Some(DeliveryAttempt {
            at: now.as_micros(),
            status: None,
            error: Some(error.to_owned()),
        });
    }

    /// Moves the cursor forward, unless a client has set it since it was read.
    pub fn advance_cursor(&mut self, turn: u32, next: &str) {
        if self.cursor_generation == turn {
            self.cursor = Some(next.to_owned());
        }
    }
}

/// Disables every webhook that a key created, whose `url` it set, or that names it in `changed_by`.
/// Returns their number.
///
/// Call this after a key was revoked, because a webhook would otherwise outlive the key. The stores
/// of this project do so in `revoke_key`.
///
/// `key` is the name from [`Caller::with_key_name`](crate::auth::Caller::with_key_name). Requests
/// that were authenticated before the revocation may still create or reactivate webhooks. If an
/// authenticator caches keys, repeat the call after the cache duration. A repeated call is
/// harmless.
///
/// # Errors
///
/// [`Error::conflict`] if a webhook changes too often during the call. Errors of the store.
///
/// Requirements: HOOK-16.
pub async fn disable_webhooks<S: WebhookStore + ?Sized>(
    store: &S,
    tenant: &Tenant,
    key: &str,
    now: Timestamp,
) -> Result<usize> {
    let mut disabled = 0_usize;
    for stored in store.list_webhooks(tenant).await? {
        disabled =
            disabled.saturating_add(usize::from(disable(store, tenant, stored, key, now).await?));
    }
    Ok(disabled)
}

/// Disables one webhook if it belongs to this key. Returns whether it was disabled.
async fn disable<S: WebhookStore + ?Sized>(
    store: &S,
    tenant: &Tenant,
    mut stored: StoredWebhook,
    key: &str,
    now: Timestamp,
) -> Result<bool> {
    for _ in 0..TRIES {
        let mut webhook = Webhook::from_stored(&stored)?;
        if webhook.status == WebhookStatus::Disabled || !webhook.belongs_to(key) {
            return Ok(false);
        }
        webhook.status = WebhookStatus::Disabled;
        webhook.modified = now
            .at_least_after(Timestamp::from_micros(webhook.modified))
            .as_micros();
        let next = webhook.to_stored(stored.version.saturating_add(1), None, now)?;
        if store.put_webhook(tenant, &next).await? == WebhookWrite::Written {
            return Ok(true);
        }
        match store.get_webhook(tenant, &stored.id).await? {
            Some(current) => stored = current,
            None => return Ok(false),
        }
    }
    Err(Error::conflict())
}

/// A value with a name in JSON.
trait WireName: Sized {
    fn word(&self) -> &str;
    fn of(word: &str) -> Option<Self>;
}

impl WireName for Kind {
    fn word(&self) -> &str {
        self.singular()
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.singular() == word)
    }
}

impl WireName for ChangeKind {
    fn word(&self) -> &str {
        self.as_str()
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|what| what.as_str() == word)
    }
}

impl WireName for EventType {
    fn word(&self) -> &str {
        self.as_str()
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == word)
    }
}

impl WireName for Id {
    fn word(&self) -> &str {
        self.as_str()
    }

    fn of(word: &str) -> Option<Self> {
        Self::new(word)
    }
}

/// Serializes a value as its name.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::WireName;

    pub(super) fn serialize<T: WireName, S: Serializer>(
        value: &T,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        out.serialize_str(value.word())
    }

    pub(super) fn deserialize<'de, T: WireName, D: Deserializer<'de>>(
        input: D,
    ) -> Result<T, D::Error> {
        let word = String::deserialize(input)?;
        T::of(&word)
            .ok_or_else(|| D::Error::custom("an unknown name; another version may have written it"))
    }
}

/// Serializes values as their names. Unknown names are ignored.
macro_rules! words {
    ($($name:ident of $type:ident;)+) => { $(
        mod $name {
            use serde::{Deserialize, Deserializer, Serializer};

            use super::WireName;

            pub(super) fn serialize<S: Serializer>(values: &[super::$type], out: S) -> Result<S::Ok, S::Error> {
                out.collect_seq(values.iter().map(WireName::word))
            }

            pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<super::$type>, D::Error> {
                let words = Vec::<String>::deserialize(input)?;
                Ok(words.iter().filter_map(|word| WireName::of(word)).collect())
            }
        }
    )+ };
}
words! { kinds of Kind; events of EventType; }

#[cfg(test)]
mod tests;

//! Webhooks: whoever wants to be told of changes gives the address of a receiver, and gets a signed
//! message for each.
//!
//! A webhook reads the tenant's change feed from a cursor on, so that a write costs nothing for it.
//! What could not be delivered waits in a short list of its own, and the cursor goes on: a receiver
//! that is away holds up nobody. All rules are here, without I/O; [`WebhookStore`] keeps them, and
//! `svc_tower::webhooks::WebhookSender` sends.
//!
//! Requirements: HOOK-01 to HOOK-16.

mod address;
mod attempt;
mod receiver;
mod schedule;
mod secret;

pub use address::is_public;
pub use attempt::{AttemptResult, DeliveryAttempt, retry_after};
pub use receiver::{Host, LONGEST_URL, Receiver, ReceiverPolicy};
pub use schedule::ATTEMPTS;
pub use secret::WebhookSecret;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    auth::Tenant,
    error::{Error, Result},
    link::RecordAddress,
    model::Kind,
    ops::{ChangeKind, RecordChange, StoredWebhook, WebhookStore, WebhookWrite},
    value::{Id, Timestamp, digest},
};

/// Messages that wait for another attempt, at most; with so many the webhook reads no further.
pub const MOST_WAITING: usize = 100;
/// Webhooks of a tenant, at most.
pub const MOST_WEBHOOKS: usize = 100;
/// How long a sender has a webhook for itself, unless it says otherwise before: longer than an
/// attempt takes.
pub const LEASE: Duration = Duration::from_secs(30);
/// Attempts to write a webhook that others change at the same time.
pub(crate) const TRIES: usize = 8;
/// How long a secret that was replaced signs beside the new one.
///
/// Requirements: HOOK-09.
pub const BOTH_SECRETS: Duration = Duration::from_secs(24 * 60 * 60);

/// Whether a webhook sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WebhookStatus {
    /// It sends.
    Active,
    /// It was told not to send; what is changed meanwhile it sends later.
    Paused,
    /// The receiver has answered 410: it wants no more.
    ///
    /// Requirements: HOOK-11.
    Ended,
    /// A key that it belongs to was revoked. A key with the required rights may set it to active
    /// again.
    ///
    /// Requirements: HOOK-16.
    Disabled,
}

impl WebhookStatus {
    /// The word on the wire.
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

/// A webhook with its state: what is kept of it, as one JSON document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Webhook {
    /// Its id.
    #[serde(with = "as_text")]
    pub id: Id,
    /// Where messages go.
    pub url: String,
    /// The kinds that it is told of: those that its key could read when they were named.
    #[serde(with = "kinds")]
    pub kinds: Vec<Kind>,
    /// The changes that it is told of.
    #[serde(with = "events")]
    pub events: Vec<ChangeKind>,
    /// Whether it sends.
    pub status: WebhookStatus,
    /// The newest secret first. One that was replaced has the end of its time.
    pub secrets: Vec<(WebhookSecret, Option<i64>)>,
    /// How far it has read the change feed; `None` is the beginning.
    pub cursor: Option<String>,
    /// How often the cursor was set by somebody else than the sender.
    pub turn: u32,
    /// Messages that wait for another attempt.
    pub waiting: Vec<PendingRetry>,
    /// Until when nothing is sent, in microseconds, because the receiver asked for it.
    pub held_until: Option<i64>,
    /// Since when nothing has arrived, in microseconds; `None` where the last attempt succeeded.
    pub failing_since: Option<i64>,
    /// Messages that have arrived.
    pub delivered: u64,
    /// Messages that were given up after the last attempt.
    pub given_up: u64,
    /// The last attempt.
    pub last: Option<DeliveryAttempt>,
    /// When it was made, in microseconds.
    pub created: i64,
    /// When it was last changed by somebody else than the sender, in microseconds.
    pub modified: i64,
    /// The name of the key that created it; `None` where that key has no name.
    #[serde(default)]
    pub created_by: Option<String>,
    /// The last change by another key of where its messages go.
    #[serde(default)]
    pub changed_by: Option<ChangeByKey>,
    /// The name of the key that set the receiver; `None` where that key has no name.
    #[serde(default)]
    pub url_set_by: Option<String>,
}

/// A change of a webhook's `url` or `kinds`, or its reactivation, by another key than the one that
/// created it.
///
/// Requirements: HOOK-15.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangeByKey {
    /// The name of the key; `None` where it has no name.
    pub key: Option<String>,
    /// When, in microseconds since the epoch.
    pub at: i64,
}

/// A message that waits for another attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingRetry {
    /// What it tells.
    pub event: WebhookEvent,
    /// Attempts until now.
    pub attempts: u32,
    /// When it is due, in microseconds.
    pub next: i64,
}

/// An entry of the change feed, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WebhookEvent {
    /// What became of the record.
    #[serde(with = "as_text")]
    pub what: ChangeKind,
    /// When, in microseconds.
    pub at: i64,
    /// The kind of the record.
    #[serde(with = "as_text")]
    pub kind: Kind,
    /// Its id.
    #[serde(with = "as_text")]
    pub id: Id,
    /// The id of the record that it lives under.
    pub parent: Option<String>,
}

impl WebhookEvent {
    /// The entry.
    #[must_use]
    pub fn entry(&self) -> RecordChange {
        let parent = self.parent.as_deref().and_then(Id::new);
        let record = RecordAddress::new(self.kind, self.id.clone(), parent);
        RecordChange::new(self.what, Timestamp::from_micros(self.at), record)
    }

    /// The `webhook-id` of its message: the same at each attempt, also after the sender was killed,
    /// and for no other change of the tenant.
    ///
    /// Requirements: HOOK-07.
    #[must_use]
    pub fn message_id(&self, webhook: &Id) -> String {
        let Self {
            what, at, kind, id, ..
        } = self;
        let named = format!("{webhook} {what} {at} {} {id}", kind.singular());
        format!("msg_{:032x}", digest(named.as_bytes()))
    }
}

impl From<&RecordChange> for WebhookEvent {
    fn from(entry: &RecordChange) -> Self {
        let RecordChange { what, at, record } = entry;
        let parent = record
            .parent
            .as_ref()
            .map(|parent| parent.as_str().to_owned());
        Self {
            what: *what,
            at: at.micros(),
            kind: record.kind,
            id: record.id.clone(),
            parent,
        }
    }
}

impl Webhook {
    /// A new one, which is told of what is changed behind this cursor.
    ///
    /// # Errors
    ///
    /// Where the system gives no random bytes.
    pub fn new(
        url: String,
        kinds: Vec<Kind>,
        events: Vec<ChangeKind>,
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
            turn: 0,
            waiting: Vec::new(),
            held_until: None,
            failing_since: None,
            delivered: 0,
            given_up: 0,
            last: None,
            created: now.micros(),
            modified: now.micros(),
            created_by: None,
            changed_by: None,
            url_set_by: None,
        })
    }

    /// Whether this key controls where the messages go: it created the webhook, set its receiver,
    /// or was the last to change its kinds or to reactivate it.
    fn belongs_to(&self, key: &str) -> bool {
        let last = self
            .changed_by
            .as_ref()
            .and_then(|change| change.key.as_deref());
        [self.created_by.as_deref(), self.url_set_by.as_deref(), last].contains(&Some(key))
    }

    /// Notes the key that changes where messages go, unless that key created the webhook.
    pub(crate) fn note_change(&mut self, key: Option<&str>, now: Timestamp) {
        if self.created_by.as_deref() != key {
            self.changed_by = Some(ChangeByKey {
                key: key.map(str::to_owned),
                at: now.micros(),
            });
        }
    }

    /// What a store has kept.
    ///
    /// # Errors
    ///
    /// Where that is no webhook of this version.
    pub fn read(stored: &StoredWebhook) -> Result<Self> {
        serde_json::from_slice(&stored.document).map_err(Error::unexpected)
    }

    /// What a store keeps; `leased` is the moment until which a sender has it for itself.
    ///
    /// # Errors
    ///
    /// Never: all of it can be written as JSON.
    pub fn stored(
        &self,
        version: i64,
        leased: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<StoredWebhook> {
        let next = self
            .next_look(now)
            .map(|next| leased.map_or(next, |leased| leased.max(next)));
        Ok(StoredWebhook {
            id: self.id.clone(),
            version,
            due_at: next,
            document: serde_json::to_vec(self)?.into(),
        })
    }

    /// When to look after it next: a moment that is past for one that waits for changes, `None` for
    /// one that does not send.
    fn next_look(&self, now: Timestamp) -> Option<Timestamp> {
        if self.status != WebhookStatus::Active {
            return None;
        }
        let held = self.held_until.filter(|until| *until > now.micros());
        let full = self
            .waiting
            .iter()
            .map(|waiting| waiting.next)
            .min()
            .filter(|_| self.room() == 0);
        Some(held.max(full).map_or(now, Timestamp::from_micros).max(now))
    }

    /// Whether it sends nothing now.
    #[must_use]
    pub fn is_at_rest(&self, now: Timestamp) -> bool {
        self.next_look(now).is_none_or(|next| next > now)
    }

    /// How many new messages it may begin with.
    #[must_use]
    pub fn room(&self) -> usize {
        MOST_WAITING.saturating_sub(self.waiting.len())
    }

    /// The messages that are due again.
    #[must_use]
    pub fn due(&self, now: Timestamp) -> Vec<WebhookEvent> {
        let due = self
            .waiting
            .iter()
            .filter(|waiting| waiting.next <= now.micros());
        due.map(|waiting| waiting.event.clone()).collect()
    }

    /// Whether an entry of the feed is one that it is told of.
    #[must_use]
    pub fn wants(&self, entry: &RecordChange) -> bool {
        self.kinds.contains(&entry.record.kind) && self.events.contains(&entry.what)
    }

    /// The secrets that sign now.
    ///
    /// Requirements: HOOK-09.
    pub fn signing(&self, now: Timestamp) -> impl Iterator<Item = &WebhookSecret> {
        let signs = move |until: &Option<i64>| until.is_none_or(|until| until > now.micros());
        self.secrets
            .iter()
            .filter(move |(_, until)| signs(until))
            .map(|(secret, _)| secret)
    }

    /// The header `webhook-signature` of a message.
    #[must_use]
    pub fn signatures(&self, id: &str, now: Timestamp, body: &[u8]) -> String {
        let seconds = now.micros().div_euclid(1_000_000);
        self.signing(now)
            .map(|secret| secret.sign(id, seconds, body))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Makes a new secret; the one before signs for a day beside it, and none before that.
    ///
    /// # Errors
    ///
    /// Where the system gives no random bytes.
    ///
    /// Requirements: HOOK-09.
    pub fn rotate_secret(&mut self, now: Timestamp) -> Result<()> {
        let ends = now.plus(BOTH_SECRETS).micros();
        self.secrets.truncate(1);
        self.secrets
            .iter_mut()
            .for_each(|(_, until)| *until = Some(ends));
        self.secrets.insert(0, (WebhookSecret::random()?, None));
        Ok(())
    }

    /// Sends again what is behind a cursor, from the beginning of the feed without one.
    ///
    /// Requirements: HOOK-10.
    pub fn redeliver(&mut self, after: Option<String>) {
        self.cursor = after;
        self.turn = self.turn.wrapping_add(1);
    }

    /// Goes on at the end of the feed, because what follows its cursor is not kept any more, and
    /// shows that something was missed.
    pub fn begin_anew(&mut self, turn: u32, end: &str, now: Timestamp) {
        self.move_on(turn, end);
        let error = "what follows its cursor is not kept any more: it goes on at the end of the change feed";
        self.last = Some(DeliveryAttempt {
            at: now.micros(),
            status: None,
            error: Some(error.to_owned()),
        });
    }

    /// Moves on in the feed, unless somebody has set the cursor since it was read.
    pub fn move_on(&mut self, turn: u32, next: &str) {
        if self.turn == turn {
            self.cursor = Some(next.to_owned());
        }
    }
}

/// Disables every webhook that a key created or redirected, and returns their number. Call it after
/// a key was revoked: a webhook would otherwise outlive the key. The stores of this project do so
/// in `revoke_key`.
///
/// The key has the name that [`Caller::with_key_name`](crate::auth::Caller::with_key_name) gives
/// it. Requests that were authenticated before the revocation may still create or reactivate
/// webhooks. Where an authenticator caches keys, repeat the call after that time; repeating it is
/// harmless.
///
/// # Errors
///
/// [`Error::conflict`] where a webhook changes again and again meanwhile; errors of the store.
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

/// Disables one webhook if it belongs to this key; whether it did.
async fn disable<S: WebhookStore + ?Sized>(
    store: &S,
    tenant: &Tenant,
    mut stored: StoredWebhook,
    key: &str,
    now: Timestamp,
) -> Result<bool> {
    for _ in 0..TRIES {
        let mut webhook = Webhook::read(&stored)?;
        if webhook.status == WebhookStatus::Disabled || !webhook.belongs_to(key) {
            return Ok(false);
        }
        webhook.status = WebhookStatus::Disabled;
        webhook.modified = now.after(Timestamp::from_micros(webhook.modified)).micros();
        let next = webhook.stored(stored.version.saturating_add(1), None, now)?;
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

/// What is a word on the wire.
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

impl WireName for Id {
    fn word(&self) -> &str {
        self.as_str()
    }

    fn of(word: &str) -> Option<Self> {
        Self::new(word)
    }
}

/// A value as its word.
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
        T::of(&word).ok_or_else(|| D::Error::custom("a word that is none of this version"))
    }
}

/// Values as their words; those that this version does not know are passed over.
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
words! { kinds of Kind; events of ChangeKind; }

#[cfg(test)]
mod tests;

//! What an attempt to deliver a message came to, and what follows from it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{PendingRetry, Webhook, WebhookEvent, WebhookStatus, schedule};
use crate::value::Timestamp;

/// What became of a message that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttemptResult {
    /// The receiver has answered with this status. 2xx alone is success: no redirect is followed.
    ///
    /// Requirements: HOOK-11.
    Status {
        /// The status.
        status: u16,
        /// What `Retry-After` asks for.
        retry_after: Option<Duration>,
    },
    /// There was no answer, for this reason: a sentence without addresses.
    Nothing(&'static str),
}

/// The last attempt, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryAttempt {
    /// When, in microseconds.
    pub at: i64,
    /// The status that the receiver answered with.
    pub status: Option<u16>,
    /// Why it has not arrived.
    pub error: Option<String>,
}

impl Webhook {
    /// Takes note of what became of a message.
    ///
    /// An answer of 2xx is success. 410 ends the webhook. 429, 502, 503 and 504 let it rest as long
    /// as the receiver asks for, and a while where it does not say. Whatever has not arrived is
    /// tried again, and given up after the last attempt.
    ///
    /// Requirements: HOOK-11.
    pub fn note(&mut self, event: &WebhookEvent, answered: &AttemptResult, now: Timestamp) {
        let place = self
            .waiting
            .iter()
            .position(|waiting| waiting.event == *event);
        let before = place.map_or(0, |place| self.waiting.swap_remove(place).attempts);
        let (status, error, retry_after) = match answered {
            AttemptResult::Status {
                status,
                retry_after,
            } => (Some(*status), refusal(*status), *retry_after),
            AttemptResult::Nothing(why) => (None, Some(*why), None),
        };
        self.last = Some(DeliveryAttempt {
            at: now.micros(),
            status,
            error: error.map(str::to_owned),
        });
        if error.is_none() {
            self.delivered = self.delivered.saturating_add(1);
            (self.failing_since, self.held_until) = (None, None);
            return;
        }
        self.failing_since.get_or_insert(now.micros());
        if status == Some(410) {
            self.status = WebhookStatus::Ended;
            self.waiting.clear();
            return;
        }
        let later = |time: Duration| now.plus(time).micros();
        if let Some(rest) = status.and_then(|status| schedule::rest(status, retry_after)) {
            self.held_until = self.held_until.max(Some(later(rest)));
        }
        let attempts = before.saturating_add(1);
        match schedule::wait(attempts, &event.message_id(&self.id)) {
            Some(wait) => self.waiting.push(PendingRetry {
                event: event.clone(),
                attempts,
                next: later(wait),
            }),
            None => self.given_up = self.given_up.saturating_add(1),
        }
    }
}

/// What the header `Retry-After` asks for: seconds, or a date (RFC 9110, section 10.2.3).
#[must_use]
pub fn retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = chrono::DateTime::parse_from_rfc2822(header)
        .ok()?
        .timestamp_micros();
    Some(Duration::from_micros(
        u64::try_from(until.saturating_sub(now.micros())).unwrap_or_default(),
    ))
}

/// Why a status is no success.
fn refusal(status: u16) -> Option<&'static str> {
    match status {
        200..=299 => None,
        300..=399 => Some("the receiver redirects, and no redirect is followed"),
        410 => Some("the receiver wants no more messages"),
        429 | 502..=504 => Some("the receiver has too much to do"),
        500..=599 => Some("the receiver has failed"),
        _ => Some("the receiver has refused the message"),
    }
}

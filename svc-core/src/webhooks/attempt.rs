//! The result of an attempt to deliver a message, and its effects.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{PendingRetry, Webhook, WebhookEvent, WebhookStatus, schedule};
use crate::value::Timestamp;

/// The result of an attempt to deliver a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttemptResult {
    /// The receiver responded with this status. Only 2xx is a success, because redirects are not
    /// followed.
    ///
    /// Requirements: HOOK-11.
    Responded {
        /// The status code.
        status: u16,
        /// The duration from the `Retry-After` header.
        retry_after: Option<Duration>,
    },
    /// There was no response, for this reason: a sentence that contains no addresses.
    Failed(&'static str),
}

/// The last attempt, as clients see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeliveryAttempt {
    /// When the attempt was made, in microseconds.
    pub at: i64,
    /// The status code of the response.
    pub status: Option<u16>,
    /// The reason why the delivery failed.
    pub error: Option<String>,
}

impl Webhook {
    /// Records the result of an attempt to deliver a message.
    ///
    /// A 2xx response is a success. 410 ends the webhook. After 429, 502, 503 and 504, the webhook
    /// pauses for the time in `Retry-After`, or for 30 seconds without the header. A failed message
    /// is retried, and abandoned after the last attempt.
    ///
    /// Requirements: HOOK-11.
    pub fn record_attempt(
        &mut self,
        event: &WebhookEvent,
        answered: &AttemptResult,
        now: Timestamp,
    ) {
        let place = self
            .pending_retries
            .iter()
            .position(|waiting| waiting.event == *event);
        let before = place.map_or(0, |place| self.pending_retries.swap_remove(place).attempts);
        let (status, error, retry_after) = match answered {
            AttemptResult::Responded {
                status,
                retry_after,
            } => (Some(*status), refusal(*status), *retry_after),
            AttemptResult::Failed(why) => (None, Some(*why), None),
        };
        self.last_attempt = Some(DeliveryAttempt {
            at: now.as_micros(),
            status,
            error: error.map(str::to_owned),
        });
        if error.is_none() {
            self.delivered = self.delivered.saturating_add(1);
            (self.failing_since, self.paused_until) = (None, None);
            return;
        }
        self.failing_since.get_or_insert(now.as_micros());
        if status == Some(410) {
            self.status = WebhookStatus::Ended;
            self.pending_retries.clear();
            return;
        }
        let later = |time: Duration| now.saturating_add(time).as_micros();
        if let Some(rest) = status.and_then(|status| schedule::pause_after(status, retry_after)) {
            self.paused_until = self.paused_until.max(Some(later(rest)));
        }
        let attempts = before.saturating_add(1);
        match schedule::retry_delay(attempts, &event.message_id(&self.id)) {
            Some(wait) => self.pending_retries.push(PendingRetry {
                event: event.clone(),
                attempts,
                next: later(wait),
            }),
            None => self.abandoned = self.abandoned.saturating_add(1),
        }
    }
}

/// Parses the header `Retry-After`, which contains seconds or a date (RFC 9110, section 10.2.3).
#[must_use]
pub fn parse_retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = chrono::DateTime::parse_from_rfc2822(header)
        .ok()?
        .timestamp_micros();
    Some(Duration::from_micros(
        u64::try_from(until.saturating_sub(now.as_micros())).unwrap_or_default(),
    ))
}

/// Returns why a status is a failure, or `None` for a success.
fn refusal(status: u16) -> Option<&'static str> {
    match status {
        200..=299 => None,
        300..=399 => Some("the receiver responded with a redirect, which is not followed"),
        410 => Some("the receiver does not accept messages any longer"),
        429 | 502..=504 => Some("the receiver is overloaded"),
        500..=599 => Some("the receiver responded with a server error"),
        _ => Some("the receiver rejected the message"),
    }
}

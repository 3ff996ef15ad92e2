//! The outbox of a store, and the rules for retries. They use neither a clock nor a database.

use std::time::Duration;

use async_trait::async_trait;

use crate::{
    context::Tenant,
    error::Result,
    outbox::{Backoff, DeliveryOutcome, OutboxEntry, Subscription},
    value::{Timestamp, short_digest},
};

/// The outbox of a store for all tenants. It contains the entries of
/// [`Change::Enqueue`](super::Change::Enqueue).
///
/// # Behaviour
///
/// - A due entry is claimed by one sender, in any process. No other sender receives it until the
///   claim ends. Normally one sender delivers it; if that sender stops, another one takes over.
/// - Each claim counts as an attempt, so an entry that crashes its process is not retried forever.
/// - Entries of a deleted person or a cancelled message are removed. [`complete`](Self::complete) and
///   [`reschedule`](Self::reschedule) then change nothing.
///
/// Requirements: HAF-11, SCH-01.
#[async_trait]
pub trait Outbox: Send + Sync + 'static {
    /// Claims outbox entries that are due at `now`, the oldest first, up to the given number.
    ///
    /// No other caller receives a claimed entry before `until`.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails. The entries are then unclaimed, or remain claimed until
    /// `until`.
    async fn claim_due(
        &self,
        now: Timestamp,
        until: Timestamp,
        most: u32,
    ) -> Result<ClaimedEntries>;

    /// Removes a claimed entry after it is settled.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    async fn complete(&self, claim: &OutboxClaim) -> Result<()>;

    /// Makes a claimed entry due again at `at`, unless another sender has claimed it since.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    async fn reschedule(&self, claim: &OutboxClaim, at: Timestamp) -> Result<()>;

    /// Returns a subscription that completes when an entry was added. The subscriber polls in any
    /// case.
    fn subscribe(&self) -> Subscription {
        Subscription::closed()
    }
}

/// The result of a claim.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ClaimedEntries {
    /// The claimed entries.
    pub claims: Vec<OutboxClaim>,
    /// When the next entry is due or a claim ends; `None` if the outbox is empty.
    pub next_due: Option<Timestamp>,
}

impl ClaimedEntries {
    /// Creates the result of a claim.
    #[must_use]
    pub fn new(claims: Vec<OutboxClaim>, next: Option<Timestamp>) -> Self {
        Self {
            claims,
            next_due: next,
        }
    }
}

/// An outbox entry that one sender has claimed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OutboxClaim {
    /// The tenant of the entry.
    pub tenant: Tenant,
    /// The row of the entry in the store.
    pub row: i64,
    /// The number of claims of the entry, including this one.
    pub attempts: u32,
    /// The entry.
    pub entry: OutboxEntry,
}

/// The result of a claim after a delivery attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimResolution {
    /// The entry was sent.
    Complete,
    /// The entry is due again at this time.
    RetryAt(Timestamp),
    /// The entry is removed without being sent, for this reason.
    Abandon(&'static str),
}

impl OutboxClaim {
    /// Returns the duration of a claim for this timeout of an attempt. It is twice the timeout, so
    /// that the sender has time to store the result, and at least 10 seconds.
    #[must_use]
    pub fn lease_duration(patience: Duration) -> Duration {
        patience.saturating_mul(2).max(Duration::from_secs(10))
    }

    /// Creates a claim of an entry at its row.
    #[must_use]
    pub fn new(tenant: Tenant, row: i64, attempts: u32, dispatch: OutboxEntry) -> Self {
        Self {
            tenant,
            row,
            attempts,
            entry: dispatch,
        }
    }

    /// Creates a claim from stored data. An entry of another version is logged and remains in the
    /// store for that version. `None` is returned for it.
    #[must_use]
    pub fn from_stored(tenant: Tenant, row: i64, attempts: i64, body: &str) -> Option<Self> {
        let dispatch = OutboxEntry::parse(body);
        if dispatch.is_none() {
            tracing::error!(
                tenant = tenant.as_str(),
                row,
                "an outbox entry was written by another version"
            );
        }
        Some(Self::new(
            tenant,
            row,
            u32::try_from(attempts).unwrap_or(u32::MAX),
            dispatch?,
        ))
    }

    /// Returns why the entry must not be tried: each earlier attempt ended its process, or the
    /// entry has expired. `None` if it can be tried.
    #[must_use]
    pub fn skip_reason(&self, now: Timestamp) -> Option<&'static str> {
        if Backoff::STANDARD.is_exhausted(self.attempts) {
            Some("no attempt has finished")
        } else if self.entry.is_expired(now) {
            Some("its sending has ended")
        } else {
            None
        }
    }

    /// Returns the result of an attempt that ended at `now`. `delivered` is `None` if it failed.
    #[must_use]
    pub fn resolve(&self, delivered: Option<DeliveryOutcome>, now: Timestamp) -> ClaimResolution {
        let asked = match delivered {
            Some(DeliveryOutcome::Sent) => return ClaimResolution::Complete,
            Some(DeliveryOutcome::Abandoned(reason)) => return ClaimResolution::Abandon(reason),
            Some(DeliveryOutcome::RetryAfter(pause)) => pause,
            None => Duration::ZERO,
        };
        // The number depends only on the attempt, so that a random generator is not needed.
        let number =
            short_digest(format!("{} {}", self.entry.id.as_str(), self.attempts).as_bytes());
        match Backoff::STANDARD.delay(self.attempts, number) {
            Some(pause) => ClaimResolution::RetryAt(now.saturating_add(pause.max(asked))),
            None => ClaimResolution::Abandon("the maximum number of attempts was reached"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        outbox::OutboxPayload,
        value::{Id, short_digest},
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn claim(attempts: u32) -> OutboxClaim {
        let what = OutboxPayload::Message {
            message: Id::from(1),
            start: at(0),
            stop: Some(at(1_000)),
        };
        OutboxClaim::new(
            Tenant::new("acme"),
            1,
            attempts,
            OutboxEntry::new(Id::from(7), at(0), what),
        )
    }

    /// Failed deliveries are retried by the schedule, each pause starting at the end of the
    /// attempt, and abandoned after the tenth attempt.
    ///
    /// Requirements: HAF-11.
    #[test]
    fn haf_11_what_fails_is_tried_again_and_given_up() {
        for attempts in 1..10 {
            let number = short_digest(format!("7 {attempts}").as_bytes());
            let pause = Backoff::STANDARD.delay(attempts, number).unwrap();
            let expected = ClaimResolution::RetryAt(at(100).saturating_add(pause));
            assert_eq!(claim(attempts).resolve(None, at(100)), expected);
            assert_eq!(
                claim(attempts).resolve(Some(DeliveryOutcome::RetryAfter(Duration::ZERO)), at(100)),
                expected
            );
        }
        let day = Duration::from_secs(24 * 60 * 60);
        assert_eq!(
            claim(1).resolve(Some(DeliveryOutcome::RetryAfter(day)), at(100)),
            ClaimResolution::RetryAt(at(100).saturating_add(day))
        );
        let last = claim(10).resolve(Some(DeliveryOutcome::RetryAfter(day)), at(100));
        assert_eq!(
            last,
            ClaimResolution::Abandon("the maximum number of attempts was reached")
        );
        assert_eq!(
            claim(10).resolve(Some(DeliveryOutcome::Sent), at(100)),
            ClaimResolution::Complete
        );
        assert_eq!(
            claim(1).resolve(Some(DeliveryOutcome::Abandoned("no mail")), at(100)),
            ClaimResolution::Abandon("no mail")
        );
    }

    /// An entry that ended every process is not tried forever, and a message is not tried after its
    /// sending has ended.
    #[test]
    fn sch_01_what_cannot_be_is_not_tried() {
        assert_eq!(claim(10).skip_reason(at(1_000)), None);
        assert_eq!(
            claim(11).skip_reason(at(1_000)),
            Some("no attempt has finished")
        );
        assert_eq!(
            claim(1).skip_reason(at(1_001)),
            Some("its sending has ended")
        );
    }

    /// A sender that finishes at the last moment of its timeout can store the result before another
    /// one starts.
    #[test]
    fn a_claim_outlasts_an_attempt() {
        for patience in [
            Duration::ZERO,
            Duration::from_secs(1),
            Duration::from_secs(30),
            Duration::MAX,
        ] {
            assert!(OutboxClaim::lease_duration(patience) > patience || patience == Duration::MAX);
        }
    }
}

//! What a store keeps to be sent, and how long it is tried: the rules of it, without a clock or a
//! database.

use std::time::Duration;

use async_trait::async_trait;

use crate::{
    context::Tenant,
    error::Result,
    outbox::{Backoff, DeliveryOutcome, OutboxEntry, Subscription},
    value::{Timestamp, short_digest},
};

/// What a store has to be sent, of all tenants: what [`Change::Outbox`](super::Change::Outbox) has
/// put there.
///
/// # Behaviour
///
/// - What is due is claimed by one of those who ask, in whatever process, and seen by nobody else
///   until the claim ends: so it is sent by one, as a rule, and by another where the first one is
///   no more.
/// - Each claim counts as an attempt, so that what ends a process is not tried for ever.
/// - What a person's deletion or a message's cancelling takes away is not there any more:
///   [`done`](Self::done) and [`again`](Self::again) of it change nothing.
///
/// Requirements: HAF-11, SCH-01.
#[async_trait]
pub trait Outbox: Send + Sync + 'static {
    /// Claims what is due at a moment, the longest due first, so many at most: nobody else is given
    /// it before `until`.
    ///
    /// # Errors
    ///
    /// Trouble of the store; nothing is claimed then, or for nobody until the claim ends.
    async fn due(&self, now: Timestamp, until: Timestamp, most: u32) -> Result<ClaimedEntries>;

    /// What was claimed is settled, and goes.
    ///
    /// # Errors
    ///
    /// Trouble of the store.
    async fn done(&self, claim: &OutboxClaim) -> Result<()>;

    /// What was claimed is due again at a moment, unless somebody else has claimed it meanwhile.
    ///
    /// # Errors
    ///
    /// Trouble of the store.
    async fn again(&self, claim: &OutboxClaim, at: Timestamp) -> Result<()>;

    /// Is done when something was put there since; whoever waits looks again after a while in any
    /// case.
    fn listen(&self) -> Subscription {
        Subscription::closed()
    }
}

/// What was claimed.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ClaimedEntries {
    /// Each with who has it.
    pub claims: Vec<OutboxClaim>,
    /// When something is due next, or a claim ends; `None` where nothing is there.
    pub next: Option<Timestamp>,
}

impl ClaimedEntries {
    /// These, and when something is due next or a claim ends.
    #[must_use]
    pub fn new(claims: Vec<OutboxClaim>, next: Option<Timestamp>) -> Self {
        Self { claims, next }
    }
}

/// Something to send that nobody else has.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OutboxClaim {
    /// Whose it is.
    pub tenant: Tenant,
    /// Where the store has it.
    pub row: i64,
    /// How often it was claimed, this time included.
    pub attempts: u32,
    /// What is to be sent.
    pub dispatch: OutboxEntry,
}

/// What becomes of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClaimResolution {
    /// It was sent.
    Done,
    /// It is due again then.
    Again(Timestamp),
    /// It goes without being sent, for this reason.
    GivenUp(&'static str),
}

impl OutboxClaim {
    /// How long a claim lasts where an attempt may take so long: as long again, so that who has
    /// done it can say so.
    #[must_use]
    pub fn lease(patience: Duration) -> Duration {
        patience.saturating_mul(2).max(Duration::from_secs(10))
    }

    /// Something of a tenant, at its place in the store.
    #[must_use]
    pub fn new(tenant: Tenant, row: i64, attempts: u32, dispatch: OutboxEntry) -> Self {
        Self {
            tenant,
            row,
            attempts,
            dispatch,
        }
    }

    /// The same as a store has it. What another version has written is told of, and stays for that
    /// version.
    #[must_use]
    pub fn stored(tenant: Tenant, row: i64, attempts: i64, body: &str) -> Option<Self> {
        let dispatch = OutboxEntry::parse(body);
        if dispatch.is_none() {
            tracing::error!(
                tenant = tenant.as_str(),
                row,
                "what is to be sent there is of another version"
            );
        }
        Some(Self::new(
            tenant,
            row,
            u32::try_from(attempts).unwrap_or(u32::MAX),
            dispatch?,
        ))
    }

    /// Why it is not even tried at a moment: where each attempt before ended the process that made
    /// it, or it is too late.
    #[must_use]
    pub fn refused(&self, now: Timestamp) -> Option<&'static str> {
        if Backoff::STANDARD.is_exhausted(self.attempts) {
            Some("no attempt came to an end")
        } else if self.dispatch.is_expired(now) {
            Some("its sending has stopped")
        } else {
            None
        }
    }

    /// What an attempt comes to that ended at a moment; `None` is one that failed.
    #[must_use]
    pub fn settle(&self, delivered: Option<DeliveryOutcome>, now: Timestamp) -> ClaimResolution {
        let asked = match delivered {
            Some(DeliveryOutcome::Sent) => return ClaimResolution::Done,
            Some(DeliveryOutcome::Abandoned(reason)) => return ClaimResolution::GivenUp(reason),
            Some(DeliveryOutcome::RetryAfter(pause)) => pause,
            None => Duration::ZERO,
        };
        // The same number for the same attempt: a chance that needs no chance.
        let number =
            short_digest(format!("{} {}", self.dispatch.id.as_str(), self.attempts).as_bytes());
        match Backoff::STANDARD.delay(self.attempts, number) {
            Some(pause) => ClaimResolution::Again(now.plus(pause.max(asked))),
            None => ClaimResolution::GivenUp("it was tried as often as may be"),
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

    /// HAF-11: what fails is tried by the schedule, each pause from the end of the attempt on, and
    /// given up after the tenth.
    #[test]
    fn haf_11_what_fails_is_tried_again_and_given_up() {
        for attempts in 1..10 {
            let number = short_digest(format!("7 {attempts}").as_bytes());
            let pause = Backoff::STANDARD.delay(attempts, number).unwrap();
            let expected = ClaimResolution::Again(at(100).plus(pause));
            assert_eq!(claim(attempts).settle(None, at(100)), expected);
            assert_eq!(
                claim(attempts).settle(Some(DeliveryOutcome::RetryAfter(Duration::ZERO)), at(100)),
                expected
            );
        }
        let day = Duration::from_secs(24 * 60 * 60);
        assert_eq!(
            claim(1).settle(Some(DeliveryOutcome::RetryAfter(day)), at(100)),
            ClaimResolution::Again(at(100).plus(day))
        );
        let last = claim(10).settle(Some(DeliveryOutcome::RetryAfter(day)), at(100));
        assert_eq!(
            last,
            ClaimResolution::GivenUp("it was tried as often as may be")
        );
        assert_eq!(
            claim(10).settle(Some(DeliveryOutcome::Sent), at(100)),
            ClaimResolution::Done
        );
        assert_eq!(
            claim(1).settle(Some(DeliveryOutcome::Abandoned("no mail")), at(100)),
            ClaimResolution::GivenUp("no mail")
        );
    }

    /// What ended every process that tried it is not tried for ever, and a message not when its
    /// sending has stopped.
    #[test]
    fn sch_01_what_cannot_be_is_not_tried() {
        assert_eq!(claim(10).refused(at(1_000)), None);
        assert_eq!(
            claim(11).refused(at(1_000)),
            Some("no attempt came to an end")
        );
        assert_eq!(claim(1).refused(at(1_001)), Some("its sending has stopped"));
    }

    /// Who has done it at the last moment can still say so before somebody else begins.
    #[test]
    fn a_claim_outlasts_an_attempt() {
        for patience in [
            Duration::ZERO,
            Duration::from_secs(1),
            Duration::from_secs(30),
            Duration::MAX,
        ] {
            assert!(OutboxClaim::lease(patience) > patience || patience == Duration::MAX);
        }
    }
}

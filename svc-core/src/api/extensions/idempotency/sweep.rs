//! Deletes stored responses that are older than 24 hours, and merges of people that could be undone until
//! then.
//!
//! Requests trigger it, because a library has no timer of its own and every server has requests.
//!
//! Requirements: IDM-06.

use std::sync::atomic::{AtomicI64, Ordering};

use super::ResponseStorage;
use crate::{api::Api, backend::StoredResponse, value::Timestamp};

/// The time between two sweeps, in microseconds: ten minutes.
const INTERVAL: i64 = 10 * 60 * 1_000_000;

/// When the next sweep is due, in microseconds.
#[derive(Debug, Default)]
pub(in crate::api) struct NextSweep(AtomicI64);

impl NextSweep {
    /// Returns whether a sweep is due at `now`, and schedules the next one if it is.
    fn take(&self, now: Timestamp) -> bool {
        let next = self.0.load(Ordering::Relaxed);
        // A longer wait than the interval means that the clock was set back.
        let is_early = (1..=INTERVAL).contains(&next.saturating_sub(now.as_micros()));
        let after = now.as_micros().saturating_add(INTERVAL);
        !is_early
            && self
                .0
                .compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// Makes the next request sweep again.
    fn hurry(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Api {
    /// Returns whether a request at this time has to sweep.
    pub(in crate::api) fn takes_sweep(&self, now: Timestamp) -> bool {
        let has_responses = matches!(self.extensions().idempotency, Some(ResponseStorage::Store));
        (has_responses || self.inner.store.undoes_merges()) && self.inner.next_sweep.take(now)
    }

    /// Deletes stored responses of all tenants that are older than 24 hours, and merges that could be undone
    /// until then.
    pub(in crate::api) async fn sweep(&self, now: Timestamp) {
        match self.inner.store.sweep(StoredResponse::oldest_at(now)).await {
            Ok(true) => self.inner.next_sweep.hurry(),
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(?error, "old stored responses and merges cannot be deleted");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idm_06_a_sweep_is_due_every_ten_minutes_and_after_the_clock_was_set_back() {
        let (next, day) = (NextSweep::default(), 24 * 60 * 60 * 1_000_000);
        let due = |micros: i64| next.take(Timestamp::from_micros(day + micros));
        assert!(due(0) && !due(0) && !due(INTERVAL - 1) && due(INTERVAL));
        assert!(due(-day / 2) && !due(-day / 2 + 1));
        next.hurry();
        assert!(due(-day / 2 + 1) && !due(-day / 2 + 1));
    }
}

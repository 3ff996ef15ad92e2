//! Retries of transactions.

use std::{
    hash::{BuildHasher as _, RandomState},
    time::{Duration, Instant},
};

use crate::error::Result;

/// Maximum time for which a transaction is retried if its requests have no deadline.
const MAX_RETRY_TIME: Duration = Duration::from_secs(30);
/// Pause before a transaction is retried: initial and maximum.
const PAUSE: Duration = Duration::from_millis(5);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// Returns the deadline of a request, which has one even if its caller set none.
pub(crate) fn deadline_or_default(deadline: Option<Instant>) -> Instant {
    let now = Instant::now();
    deadline
        .or_else(|| now.checked_add(MAX_RETRY_TIME))
        .unwrap_or(now)
}

/// Executes a transaction until it is committed or rejected, at most until the deadline.
pub(crate) async fn retry<T, F>(deadline: Instant, attempt: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let (mut pause, mut conflicts, mut retried) = (PAUSE, 0_usize, false);
    loop {
        let error = match attempt().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        conflicts = conflicts.saturating_add(usize::from(error.is_conflict()));
        let goes_on = error.passes() && conflicts < 2 || error.is_retried_once() && !retried;
        retried = error.is_retried_once();
        let wakes = Instant::now()
            .checked_add(pause)
            .filter(|wakes| *wakes < deadline);
        let Some(wakes) = wakes.filter(|_| goes_on) else {
            return Err(error);
        };
        tokio::time::sleep_until(wakes.into()).await;
        pause = with_jitter(pause.saturating_mul(2).min(LONGEST_PAUSE));
    }
}

/// Returns a random pause, so that processes that collided once do not collide again.
fn with_jitter(pause: Duration) -> Duration {
    let byte = RandomState::new().hash_one(0).to_le_bytes()[0];
    pause.mul_f64(0.75 + f64::from(byte) / 512.0)
}

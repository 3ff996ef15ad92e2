//! Delays responses to requests without a key to multiples of a time, so that the response time
//! does not reveal who is known.
//!
//! Requirements: HLP-07.

use std::{fmt, sync::Arc, time::Duration, time::Instant};

use crate::timer::SleepFn;

/// The quantum of the response times.
#[derive(Clone)]
pub(crate) struct ResponseTimeQuantum {
    every: Duration,
    sleep: Arc<SleepFn>,
}

impl ResponseTimeQuantum {
    pub(crate) fn new<F>(
        every: Duration,
        sleep: impl Fn(Duration) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self {
            every,
            sleep: Arc::new(move |time| Box::pin(sleep(time))),
        }
    }

    /// Waits until the time since the body arrived is a multiple of the quantum. The store takes a
    /// little longer for a new person than for a known one.
    pub(crate) async fn wait(&self, begun: Instant) {
        let passed = begun.elapsed().as_nanos();
        let over = passed
            .checked_rem(self.every.as_nanos())
            .unwrap_or_default();
        let over = Duration::from_nanos(u64::try_from(over).unwrap_or_default());
        (self.sleep)(self.every.saturating_sub(over)).await;
    }
}

impl fmt::Debug for ResponseTimeQuantum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseTimeQuantum")
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}

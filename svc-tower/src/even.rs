//! Answers to calls without a key come at even times, so that no time tells who is known.
//!
//! Requirements: HLP-07.

use std::{fmt, sync::Arc, time::Duration, time::Instant};

use crate::timer::SleepFn;

/// How long answers are held back.
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

    /// Waits until the next whole number of times has passed since the body was there: what the
    /// store does for somebody new takes a little longer than for somebody known.
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
        f.debug_struct("Even")
            .field("every", &self.every)
            .finish_non_exhaustive()
    }
}

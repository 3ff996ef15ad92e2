//! Timeouts of a backend, with the timer of the runtime of the program.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

/// Function that waits for a duration.
pub(crate) type SleepFn = dyn Fn(Duration) -> SleepFuture + Send + Sync;

/// Future that is ready after a duration.
pub(crate) type SleepFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The timer that the program set, otherwise that of tokio, if available.
#[derive(Clone, Default)]
pub(crate) struct RuntimeTimer(Option<Arc<SleepFn>>);

impl RuntimeTimer {
    /// Creates a timer from a function of the program.
    pub(crate) fn new<F>(sleep: impl Fn(Duration) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self(Some(Arc::new(move |time| Box::pin(sleep(time)))))
    }

    /// Returns the output of `work`, or `None` after the timeout. Without a limit or a timer, there
    /// is no timeout. Work that never waits starts no timer.
    ///
    /// The future is not moved: a future that contains another one by value is at least as large.
    pub(crate) async fn within<F: Future>(
        &self,
        limit: Option<Duration>,
        mut work: Pin<&mut F>,
    ) -> Option<F::Output> {
        let Some(limit) = limit else {
            return Some(work.await);
        };
        let begun = Instant::now();
        let mut sleeping = None;
        poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Some(done));
            }
            let sleeping =
                sleeping.get_or_insert_with(|| self.sleep(limit.saturating_sub(begun.elapsed())));
            match sleeping {
                Some(sleeping) => sleeping.as_mut().poll(cx).map(|()| None),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// Waits for a duration, or forever if there is no timer.
    #[cfg(feature = "tokio")]
    pub(crate) async fn pause(&self, time: Duration) {
        match self.sleep(time) {
            Some(sleeping) => sleeping.await,
            None => std::future::pending().await,
        }
    }

    fn sleep(&self, time: Duration) -> Option<SleepFuture> {
        self.0
            .as_ref()
            .map_or_else(|| by_tokio(time), |sleep| Some(sleep(time)))
    }
}

/// Returns a future of the timer of tokio, if the runtime has one.
#[cfg(feature = "tokio")]
fn by_tokio(time: Duration) -> Option<SleepFuture> {
    tokio::runtime::Handle::try_current().ok()?;
    // There is no other way to detect a runtime without a timer.
    std::panic::catch_unwind(|| -> SleepFuture { Box::pin(tokio::time::sleep(time)) }).ok()
}

#[cfg(not(feature = "tokio"))]
fn by_tokio(_: Duration) -> Option<SleepFuture> {
    None
}

impl svc_core::api::Timer for RuntimeTimer {
    fn sleep(&self, time: Duration) -> Option<SleepFuture> {
        Self::sleep(self, time)
    }
}

impl fmt::Debug for RuntimeTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RuntimeTimer")
            .field(&self.0.is_some())
            .finish()
    }
}

//! Time limits on a backend, by the timer of whatever runtime the program has.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

/// Waits for a time.
pub(crate) type SleepFn = dyn Fn(Duration) -> SleepFuture + Send + Sync;

/// A time that passes.
pub(crate) type SleepFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The timer that the program gave, or else tokio's, where that is at hand.
#[derive(Clone, Default)]
pub(crate) struct RuntimeTimer(Option<Arc<SleepFn>>);

impl RuntimeTimer {
    /// A timer of the program's.
    pub(crate) fn new<F>(sleep: impl Fn(Duration) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self(Some(Arc::new(move |time| Box::pin(sleep(time)))))
    }

    /// What some work gives; `None` where it takes longer. Nothing is measured where there is no
    /// limit or no timer, and none is set for work that never waits. The work stays where it is: a
    /// future that holds another one by value is as large again.
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

    /// Waits for a time; for ever where there is no timer.
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

/// By tokio's timer, where its runtime has one.
#[cfg(feature = "tokio")]
fn by_tokio(time: Duration) -> Option<SleepFuture> {
    tokio::runtime::Handle::try_current().ok()?;
    // A runtime without a timer can be told by nothing else.
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
        f.debug_tuple("Timer").field(&self.0.is_some()).finish()
    }
}

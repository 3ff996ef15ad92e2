//! Simultaneous jobs.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};

/// Jobs that start in their order. Each waits for a free slot in its room.
#[derive(Debug)]
pub(super) struct Pool<R>(JoinSet<R>);

/// Slots for simultaneous jobs.
#[derive(Debug, Clone)]
pub(super) struct Room(Arc<Semaphore>);

impl Room {
    pub(super) fn of(workers: usize) -> Self {
        Self(Arc::new(Semaphore::new(workers.max(1))))
    }
}

impl<R: Send + 'static> Pool<R> {
    pub(super) fn new() -> Self {
        Self(JoinSet::new())
    }

    pub(super) fn start(&mut self, room: &Room, job: impl Future<Output = R> + Send + 'static) {
        let room = Arc::clone(&room.0);
        self.0.spawn(async move {
            let _place = room.acquire_owned().await;
            job.await
        });
    }

    /// Waits for a job to end, and returns its result; returns `None` when all have ended.
    ///
    /// # Errors
    /// Returns an error if the job panicked.
    pub(super) async fn next(&mut self) -> Option<Result<R, JoinError>> {
        self.0.join_next().await
    }
}

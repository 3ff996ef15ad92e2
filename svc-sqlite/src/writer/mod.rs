//! Group commit: one connection writes, many requests share one sync, and nothing is answered
//! before it is durable.
//!
//! Requirements: UND-36.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use futures_channel::oneshot;
use rusqlite::{Connection, ErrorCode};
use svc_core::fair_queue::FairQueue;
use svc_store::commits::CommitCounters;

pub(crate) use crate::batch::WriteTransaction;
use crate::batch::{QueuedWrite, TypedWrite, WriteConnection};
use crate::error::{Result, StoreError};
use crate::file::{FileError, io, sqlite};
use crate::options::SqliteOptions;
use crate::readers::Snapshots;

/// Writes that share a transaction at most while several tenants write, unless more tenants wait: a
/// write waits for the transaction in progress.
const SHARED_BATCH: usize = 16;
/// Transactions of this size after the last one in which several tenants waited.
const SHARED_TRANSACTIONS: u32 = 64;
/// The tenant of writes that belong to none.
const NO_TENANT: i64 = 0;

/// The one way to change the data file.
pub(crate) struct Writer {
    shared: Arc<WriterInner>,
    thread: Option<JoinHandle<()>>,
}

struct WriterInner {
    /// Held by the writer thread, or by one caller that found it idle.
    engine: Mutex<WriteConnection>,
    queue: Mutex<WriteQueue>,
    filled: Condvar,
    capacity: usize,
    /// Writes that share one transaction at most.
    batch: usize,
    inline: bool,
    /// Size of the last transactions, fading by a quarter each: as long as writes meet, callers
    /// leave them to the thread, where they share a sync; a caller who is alone saves the way to it
    /// and back.
    crowd: AtomicUsize,
    commits: Arc<CommitCounters>,
}

struct WriteQueue {
    waiting: FairQueue<i64, Box<dyn QueuedWrite>>,
    /// Transactions that are still kept small because several tenants wrote.
    shared: u32,
    /// An inline commit left a long log to the thread.
    long_log: bool,
    open: bool,
}

impl Writer {
    /// Starts the writer thread on `connection`.
    pub(crate) fn start(
        connection: Connection,
        options: &SqliteOptions,
        snapshots: Snapshots,
    ) -> Result<Self, FileError> {
        let commits = Arc::<CommitCounters>::default();
        let engine = WriteConnection::new(connection, options, snapshots, Arc::clone(&commits))
            .map_err(sqlite(&options.path))?;
        let shared = Arc::new(WriterInner {
            engine: Mutex::new(engine),
            queue: Mutex::new(WriteQueue {
                waiting: FairQueue::default(),
                shared: 0,
                long_log: false,
                open: true,
            }),
            filled: Condvar::new(),
            capacity: options.queue,
            batch: options.batch,
            inline: options.inline_commit,
            crowd: AtomicUsize::new(0),
            commits,
        });
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("svc-sqlite-writer".to_owned())
            .spawn(move || of_thread.serve())
            .map_err(io(&options.path))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// What was committed so far.
    pub(crate) fn commits(&self) -> &CommitCounters {
        &self.shared.commits
    }

    /// Writes that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.queue().waiting.len()
    }

    /// Runs `work` in a transaction and answers when it is durable.
    ///
    /// What `work` wrote is undone, alone, when it returns an error or panics. It may share its
    /// transaction with other work before and after it, and sees what that wrote. It is done again
    /// when other work of its transaction has to be undone. When `deadline` passes or the caller
    /// goes away before it has begun, it is not begun; once begun it completes.
    pub(crate) fn run<T, F>(
        &self,
        deadline: Option<Instant>,
        work: F,
    ) -> impl Future<Output = Result<T>> + Send + 'static + use<T, F>
    where
        T: Send + 'static,
        F: Fn(&mut WriteTransaction<'_>) -> Result<T> + Send + 'static,
    {
        self.run_for(NO_TENANT, deadline, work, true)
    }

    /// The same for a tenant: tenants whose writes wait are served in turn. Work that is not alone
    /// has others beside it, which would each have a sync of its own on the caller's thread.
    pub(crate) fn run_for<T, F>(
        &self,
        tenant: i64,
        deadline: Option<Instant>,
        work: F,
        is_alone: bool,
    ) -> impl Future<Output = Result<T>> + Send + 'static + use<T, F>
    where
        T: Send + 'static,
        F: Fn(&mut WriteTransaction<'_>) -> Result<T> + Send + 'static,
    {
        let shared = Arc::clone(&self.shared);
        async move {
            let mut work = TypedWrite::new(deadline, work);
            if is_alone && shared.run_inline(&mut work) {
                return work.into_result();
            }
            let answer = work.answer_later();
            shared.enqueue(tenant, Box::new(work))?;
            // Dropped without an answer: it came too late, or the store was closed.
            answer.await.map_or_else(
                |oneshot::Canceled| Err(StoreError::UNAVAILABLE),
                |(result, _job)| result,
            )
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.queue().open = false;
        self.shared.filled.notify_all();
        // The last handle of a store may go inside a job, on the thread itself.
        if let Some(thread) = self
            .thread
            .take()
            .filter(|thread| thread.thread().id() != thread::current().id())
        {
            // A panic of the thread has been reported by its own hook.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("waiting", &self.shared.queue().waiting.len())
            .finish_non_exhaustive()
    }
}

impl WriterInner {
    fn queue(&self) -> MutexGuard<'_, WriteQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Commits on the calling thread when nobody else writes; `false` leaves the work untouched.
    fn run_inline(&self, work: &mut dyn QueuedWrite) -> bool {
        if !self.inline || self.crowd.load(Ordering::Relaxed) > 1 {
            return false;
        }
        let queue = self.queue();
        if !queue.open || queue.long_log || !queue.waiting.is_empty() {
            return false;
        }
        drop(queue);
        let mut engine = match self.engine.try_lock() {
            Ok(engine) => engine,
            Err(TryLockError::Poisoned(engine)) => engine.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        if work.is_late() {
            work.refuse(&StoreError::UNAVAILABLE);
            return true;
        }
        match engine.begin() {
            Ok(()) => engine.carry_out(&mut [work]),
            // Another process writes: waiting for it is for the thread, not for a caller.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                return false;
            }
            Err(error) => work.refuse(&error.into()),
        }
        let long_log = engine.has_long_log();
        drop(engine);
        if long_log {
            self.queue().long_log = true;
            self.filled.notify_one();
        }
        true
    }

    fn enqueue(&self, tenant: i64, task: Box<dyn QueuedWrite>) -> Result<()> {
        let mut queue = self.queue();
        let is_full = queue.waiting.len() >= self.capacity
            || queue.waiting.len_of(&tenant) >= self.capacity.div_ceil(2);
        if !queue.open || is_full {
            return Err(StoreError::UNAVAILABLE);
        }
        queue.waiting.push(tenant, task);
        drop(queue);
        self.filled.notify_one();
        Ok(())
    }

    /// The writer thread: until the queue is closed and empty.
    fn serve(&self) {
        while self.wait() {
            let mut engine = self.engine();
            // Taken only now: whatever came while an inline commit held the engine shares this
            // transaction.
            let mut batch = self.take();
            let crowd = self.crowd.load(Ordering::Relaxed);
            self.crowd.store(
                batch.len().max(crowd.saturating_sub(crowd.div_ceil(4))),
                Ordering::Relaxed,
            );
            engine.run(&mut batch);
            let long_log = engine.has_long_log();
            drop(engine);
            for task in batch {
                task.answer();
            }
            if long_log {
                self.engine().shorten_log();
            }
            // Also when somebody else's commit was the one that found it long. A flag lost here
            // comes with the next commit.
            self.queue().long_log = false;
        }
    }

    fn engine(&self) -> MutexGuard<'_, WriteConnection> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is something to do.
    fn wait(&self) -> bool {
        let idle =
            |queue: &mut WriteQueue| queue.open && !queue.long_log && queue.waiting.is_empty();
        let queue = self
            .filled
            .wait_while(self.queue(), idle)
            .unwrap_or_else(PoisonError::into_inner);
        queue.open || !queue.waiting.is_empty()
    }

    /// The next batch, without the work that nobody waits for any more. It is smaller while several
    /// tenants write.
    fn take(&self) -> Vec<Box<dyn QueuedWrite>> {
        let mut queue = self.queue();
        let without_tenant = usize::from(queue.waiting.len_of(&NO_TENANT) > 0);
        let tenants = queue.waiting.tenants().saturating_sub(without_tenant);
        queue.shared = if tenants > 1 {
            SHARED_TRANSACTIONS
        } else {
            queue.shared.saturating_sub(1)
        };
        // Each waiting tenant has a share, so that many tenants with one write each share a sync.
        let limit = if queue.shared > 0 {
            self.batch.min(SHARED_BATCH.max(tenants))
        } else {
            self.batch
        };
        let mut batch = Vec::with_capacity(queue.waiting.len().min(limit));
        // Dropped only when the queue is free: what a job holds may reach back to the store.
        let mut dropped = Vec::new();
        while batch.len() < limit
            && let Some(task) = queue.waiting.pop()
        {
            if task.is_dropped() {
                dropped.push(task);
            } else {
                batch.push(task);
            }
        }
        drop(queue);
        batch
    }
}

#[cfg(test)]
mod tests;

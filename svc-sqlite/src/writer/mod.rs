//! Group commit: one connection writes, many requests share one sync, and no response is sent
//! before its write is durable.
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

use crate::error::{Result, StoreError};
use crate::file::{FileError, io, sqlite};
pub(crate) use crate::group_commit::WriteTransaction;
use crate::group_commit::{QueuedWrite, TypedWrite, WriteConnection};
use crate::options::SqliteOptions;
use crate::read_pool::Snapshots;

/// Maximum number of writes that share a transaction while several tenants write, unless more
/// tenants wait. It limits how long a write waits for the transaction in progress.
const SHARED_BATCH: usize = 16;
/// Number of transactions of this size after the last one in which several tenants waited.
const SHARED_TRANSACTIONS: u32 = 64;
/// The tenant number of writes that belong to no tenant.
const NO_TENANT: i64 = 0;

/// The only way to change the data file.
pub(crate) struct Writer {
    shared: Arc<WriterInner>,
    thread: Option<JoinHandle<()>>,
}

struct WriterInner {
    /// Locked by the writer thread, or by one caller that found it idle.
    engine: Mutex<WriteConnection>,
    queue: Mutex<WriteQueue>,
    filled: Condvar,
    capacity: usize,
    /// Maximum number of writes that share one transaction.
    batch: usize,
    inline: bool,
    /// Size of the recent transactions, which decreases by a quarter each time. While writes
    /// coincide, callers leave them to the thread, where they share a sync. A lone caller commits
    /// itself and saves the thread switches.
    recent_group_size: AtomicUsize,
    commits: Arc<CommitCounters>,
}

struct WriteQueue {
    waiting: FairQueue<i64, Box<dyn QueuedWrite>>,
    /// Number of further transactions that remain small because several tenants wrote.
    shared: u32,
    /// Whether an inline commit left a long log for the thread.
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
            recent_group_size: AtomicUsize::new(0),
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

    /// Returns the counters of commits.
    pub(crate) fn commits(&self) -> &CommitCounters {
        &self.shared.commits
    }

    /// Returns the number of waiting writes.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.queue().waiting.len()
    }

    /// Runs `work` in a transaction and returns its result when it is durable.
    ///
    /// If `work` returns an error or panics, only its own changes are undone. It may share the
    /// transaction with other work before and after it, and sees the changes of earlier work. It
    /// runs again if other work of its transaction has to be undone. If `deadline` passes or the
    /// caller stops waiting before it has started, it is not started. Once started, it completes.
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

    /// Does the same for a tenant. Tenants with waiting writes are served in turn. `is_alone` is
    /// false for the entries of a batch, which would each need a sync of their own on the caller's
    /// thread.
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
            // Dropped without a result: it was too late, or the store was closed.
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
        // The last handle of a store may be dropped inside a job, on the thread itself.
        if let Some(thread) = self
            .thread
            .take()
            .filter(|thread| thread.thread().id() != thread::current().id())
        {
            // The panic hook has already reported a panic of the thread.
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

    /// Commits on the calling thread if no other write is in progress. Returns `false` if it did
    /// not touch the work.
    fn run_inline(&self, work: &mut dyn QueuedWrite) -> bool {
        if !self.inline || self.recent_group_size.load(Ordering::Relaxed) > 1 {
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
        if work.is_past_deadline() {
            work.refuse(&StoreError::UNAVAILABLE);
            return true;
        }
        match engine.begin() {
            Ok(()) => engine.carry_out(&mut [work]),
            // Another process writes. The thread waits for it, not the caller.
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

    /// Runs the writer thread until the queue is closed and empty.
    fn serve(&self) {
        while self.wait() {
            let mut engine = self.engine();
            // Taken only now: writes that arrived while an inline commit held the engine share this
            // transaction.
            let mut batch = self.take();
            let crowd = self.recent_group_size.load(Ordering::Relaxed);
            self.recent_group_size.store(
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
            // Also if the commit of another caller found it long. A flag that is lost here is set
            // again by the next commit.
            self.queue().long_log = false;
        }
    }

    fn engine(&self) -> MutexGuard<'_, WriteConnection> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for work. Returns whether to continue.
    fn wait(&self) -> bool {
        let idle =
            |queue: &mut WriteQueue| queue.open && !queue.long_log && queue.waiting.is_empty();
        let queue = self
            .filled
            .wait_while(self.queue(), idle)
            .unwrap_or_else(PoisonError::into_inner);
        queue.open || !queue.waiting.is_empty()
    }

    /// Returns the next batch, without work whose caller no longer waits. It is smaller while
    /// several tenants write.
    fn take(&self) -> Vec<Box<dyn QueuedWrite>> {
        let mut queue = self.queue();
        let without_tenant = usize::from(queue.waiting.len_of(&NO_TENANT) > 0);
        let tenants = queue.waiting.tenants().saturating_sub(without_tenant);
        queue.shared = if tenants > 1 {
            SHARED_TRANSACTIONS
        } else {
            queue.shared.saturating_sub(1)
        };
        // Each waiting tenant gets a slot, so that many tenants with one write each share a sync.
        let limit = if queue.shared > 0 {
            self.batch.min(SHARED_BATCH.max(tenants))
        } else {
            self.batch
        };
        let mut batch = Vec::with_capacity(queue.waiting.len().min(limit));
        // Dropped only after the queue is unlocked: the data of a job may use the store.
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

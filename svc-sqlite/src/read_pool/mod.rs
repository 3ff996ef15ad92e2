//! Reading connections. Lookups of single records and pages run on the calling thread, longer reads
//! on separate threads.
//!
//! Beginning and ending a read takes locks that all connections of a file share. A connection
//! therefore holds its snapshot of the file until something is committed.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use rusqlite::Connection;
use svc_core::fair_queue::FairQueue;

use crate::commit_counter::CommitCounter;
use crate::error::{Result, StoreError};
use crate::file::{FileError, io, open_reader};
use crate::options::SqliteOptions;

/// Threads for reads that take longer than a page.
const THREADS: usize = 2;
/// Maximum number of such reads that wait. One tenant can have half of them.
const QUEUE: usize = 2048;

/// Interval at which unused snapshots end.
const TIDYING: Duration = Duration::from_secs(1);

/// Maximum time that a checkpoint waits for reads.
const SHORT: Duration = Duration::from_millis(20);

/// A queued read without its types.
type QueuedRead = Box<dyn FnOnce(&ConnectionPool) + Send>;

/// The connections for all reads of the data file. None of them can write.
pub(crate) struct ReadPool {
    pool: Arc<ConnectionPool>,
    queue: Arc<ReadQueue>,
    threads: Vec<JoinHandle<()>>,
}

struct ConnectionPool {
    path: PathBuf,
    data_version: Arc<CommitCounter>,
    patience: Duration,
    limit: usize,
    idle: Mutex<IdleConnections>,
    returned: Condvar,
    /// Notified when a read ends that began before a checkpoint.
    ended: Condvar,
}

/// The idle connections. The last used one is on top, because its cache is the warmest.
#[derive(Default)]
struct IdleConnections {
    connections: Vec<PooledConnection>,
    open: usize,
    /// Number of callers that wait for a connection. Without it, each read would cost a system call
    /// to wake a caller.
    waiting: usize,
    /// Number of checkpoints in progress, and number of starts and ends of checkpoints so far.
    checkpoints: usize,
    edges: u64,
    /// Number of reads in progress that began before the last checkpoint.
    before: usize,
}

/// A connection, and the snapshot of the file that it holds between reads.
struct PooledConnection {
    connection: Connection,
    /// The commits that were counted before its open transaction began. It sees all of them.
    snapshot: Option<u64>,
}

/// The current work of the reading connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadPoolStats {
    pub(crate) open: usize,
    pub(crate) busy: usize,
    pub(crate) waiting: usize,
}

struct ReadQueue {
    waiting: Mutex<ReadQueueState>,
    filled: Condvar,
}

/// The next task of a reading thread.
enum NextTask {
    Read(QueuedRead),
    Nothing,
    Closed,
}

struct ReadQueueState {
    reads: FairQueue<i64, QueuedRead>,
    open: bool,
}

impl ReadPool {
    /// Starts the reading threads. Connections are opened when they are first needed.
    pub(crate) fn start(
        options: &SqliteOptions,
        data_version: Arc<CommitCounter>,
    ) -> Result<Self, FileError> {
        let pool = Arc::new(ConnectionPool {
            path: options.path.clone(),
            data_version,
            patience: options.busy_timeout,
            limit: options.readers,
            idle: Mutex::new(IdleConnections::default()),
            returned: Condvar::new(),
            ended: Condvar::new(),
        });
        let queue = Arc::new(ReadQueue {
            waiting: Mutex::new(ReadQueueState {
                reads: FairQueue::default(),
                open: true,
            }),
            filled: Condvar::new(),
        });
        let mut readers = Self {
            pool,
            queue,
            threads: Vec::with_capacity(THREADS),
        };
        for number in 0..THREADS {
            let (pool, queue) = (Arc::clone(&readers.pool), Arc::clone(&readers.queue));
            let thread = thread::Builder::new()
                .name(format!("svc-sqlite-reader-{number}"))
                .spawn(move || queue.serve(&pool, number == 0))
                .map_err(io(&options.path))?;
            readers.threads.push(thread);
        }
        Ok(readers)
    }

    /// Returns the current work of the connections.
    pub(crate) fn load(&self) -> ReadPoolStats {
        let idle = self.pool.lock_idle();
        ReadPoolStats {
            open: idle.open,
            busy: idle.open.saturating_sub(idle.connections.len()),
            waiting: idle.waiting,
        }
    }

    /// Runs a short read on the calling thread. All its statements see one snapshot, which is not
    /// older than this call. Reads must not be nested.
    pub(crate) fn with<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.with_since(Instant::now(), read)
    }

    /// Does the same, with a snapshot that is not older than `since`.
    pub(crate) fn with_since<T>(
        &self,
        since: Instant,
        read: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        self.pool.with(since, read)
    }

    /// Returns the snapshots that idle connections hold.
    pub(crate) fn snapshots(&self) -> Snapshots {
        Snapshots(Arc::downgrade(&self.pool))
    }

    /// Runs a read of a tenant that may take long on a separate thread. All its statements see one
    /// snapshot. Tenants with waiting reads are served in turn.
    ///
    /// If the caller no longer waits before the read starts, it is not started.
    pub(crate) fn spawn<T, F>(
        &self,
        tenant: i64,
        read: F,
    ) -> impl Future<Output = Result<T>> + Send + 'static + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let queue = Arc::clone(&self.queue);
        async move {
            let (answer, arrives) = oneshot::channel();
            let read: QueuedRead = Box::new(move |pool| {
                if !answer.is_canceled() {
                    let result = catch_unwind(AssertUnwindSafe(|| pool.with(Instant::now(), read)))
                        .unwrap_or_else(|_| Err(StoreError::unexpected("a read panicked")));
                    // The caller may no longer wait.
                    let _ = answer.send(result);
                }
            });
            queue.push(tenant, read)?;
            arrives
                .await
                .unwrap_or_else(|oneshot::Canceled| Err(StoreError::UNAVAILABLE))
        }
    }
}

impl Drop for ReadPool {
    fn drop(&mut self) {
        self.queue.lock().open = false;
        self.queue.filled.notify_all();
        for thread in self.threads.drain(..) {
            // The last handle of a store may be dropped inside a read, on the thread itself.
            if thread.thread().id() != thread::current().id() {
                // The panic hook has already reported a panic of the thread.
                let _ = thread.join();
            }
        }
    }
}

impl fmt::Debug for ReadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadPool")
            .field("open", &self.pool.lock_idle().open)
            .finish_non_exhaustive()
    }
}

impl ConnectionPool {
    fn lock_idle(&self) -> MutexGuard<'_, IdleConnections> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lease(&self) -> Result<ReadLease<'_>> {
        let has_none =
            |idle: &IdleConnections| idle.connections.is_empty() && idle.open >= self.limit;
        let mut idle = self.lock_idle();
        if has_none(&idle) {
            idle.waiting = idle.waiting.saturating_add(1);
            let waited = self
                .returned
                .wait_timeout_while(idle, self.patience, |idle| has_none(idle));
            (idle, _) = waited.unwrap_or_else(PoisonError::into_inner);
            idle.waiting = idle.waiting.saturating_sub(1);
        }
        if let Some(pooled) = idle.connections.pop() {
            return Ok(ReadLease {
                pool: self,
                pooled: Some(pooled),
                keeps: false,
                edges: idle.edges,
            });
        }
        if idle.open >= self.limit {
            return Err(StoreError::UNAVAILABLE);
        }
        idle.open = idle.open.saturating_add(1);
        let edges = idle.edges;
        drop(idle);
        let mut lease = ReadLease {
            pool: self,
            pooled: None,
            keeps: false,
            edges,
        };
        lease.pooled = Some(PooledConnection {
            connection: open_reader(&self.path, self.patience)?,
            snapshot: None,
        });
        Ok(lease)
    }

    fn with<T>(&self, since: Instant, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut lease = self.lease()?;
        let result = lease.snapshot(since).and_then(read);
        lease.release(result)
    }
}

impl PooledConnection {
    /// Ends an open transaction. Returns `false` if it cannot be ended.
    fn let_go(&mut self) -> bool {
        self.snapshot = None;
        self.connection.is_autocommit() || self.connection.execute_batch("ROLLBACK").is_ok()
    }
}

/// The snapshots that the idle connections of a pool hold.
pub(crate) struct Snapshots(Weak<ConnectionPool>);

impl Snapshots {
    /// Records that the writer has committed. It is called before any response is sent.
    pub(crate) fn committed(&self) {
        if let Some(pool) = self.0.upgrade() {
            pool.data_version.committed();
        }
    }

    /// Ends them, and lets no connection hold one until the guard is dropped. The whole log can
    /// then be copied into the file, and restarts. Waits for short reads that are in progress.
    pub(crate) fn checkpoint(&self) -> CheckpointGuard {
        let pool = self.0.upgrade();
        if let Some(pool) = &pool {
            let mut idle = pool.lock_idle();
            idle.checkpoints = idle.checkpoints.saturating_add(1);
            idle.edges = idle.edges.wrapping_add(1);
            idle.let_go();
            idle.before = idle.open.saturating_sub(idle.connections.len());
            // After the timeout the checkpoint continues, and cannot copy a part of the log.
            drop(
                pool.ended
                    .wait_timeout_while(idle, SHORT, |idle| idle.before > 0),
            );
        }
        CheckpointGuard(pool)
    }
}

/// While it exists, every read ends its snapshot.
pub(crate) struct CheckpointGuard(Option<Arc<ConnectionPool>>);

impl Drop for CheckpointGuard {
    fn drop(&mut self) {
        if let Some(pool) = &self.0 {
            let mut idle = pool.lock_idle();
            idle.checkpoints = idle.checkpoints.saturating_sub(1);
            idle.edges = idle.edges.wrapping_add(1);
        }
    }
}

impl IdleConnections {
    /// Ends the snapshots of the idle connections.
    fn let_go(&mut self) {
        let open = self.connections.len();
        self.connections.retain_mut(PooledConnection::let_go);
        let lost = open.saturating_sub(self.connections.len());
        self.open = self.open.saturating_sub(lost);
    }
}

/// A connection of the pool, which returns to the pool when this is dropped.
struct ReadLease<'a> {
    pool: &'a ConnectionPool,
    pooled: Option<PooledConnection>,
    /// Whether the connection may return with its snapshot, and the number of checkpoint starts and
    /// ends when it was taken. A snapshot from before or during a checkpoint is ended.
    keeps: bool,
    edges: u64,
}

impl ReadLease<'_> {
    /// Returns the connection, in a transaction that sees every commit before `since`.
    fn snapshot(&mut self, since: Instant) -> Result<&Connection> {
        let pooled = self
            .pooled
            .as_mut()
            .ok_or_else(|| StoreError::unexpected("a reading connection is not open"))?;
        // Counted before the transaction begins, which may see more commits than counted but never
        // fewer.
        let now = self.pool.data_version.count_since(since)?;
        if pooled.snapshot != Some(now) {
            if pooled.snapshot.take().is_some() {
                pooled.connection.prepare_cached("COMMIT")?.execute(())?;
            }
            pooled.connection.prepare_cached("BEGIN")?.execute(())?;
            pooled.snapshot = Some(now);
        }
        Ok(&pooled.connection)
    }

    /// Retains the snapshot after a success, and discards a connection that may have a damaged page
    /// in its cache.
    fn release<T>(&mut self, result: Result<T>) -> Result<T> {
        self.keeps = result.is_ok();
        if result.as_ref().is_err_and(StoreError::taints) {
            self.pooled = None;
        }
        result
    }
}

impl Drop for ReadLease<'_> {
    fn drop(&mut self) {
        let mut idle = self.pool.lock_idle();
        let is_from_before = idle.edges != self.edges;
        let keeps = self.keeps && idle.checkpoints == 0 && !is_from_before;
        // After an error or a panic, statements may be unfinished. A connection that cannot end its
        // transaction is not reused.
        let pooled = self
            .pooled
            .take()
            .and_then(|mut pooled| (keeps || pooled.let_go()).then_some(pooled));
        match pooled {
            Some(pooled) => idle.connections.push(pooled),
            None => idle.open = idle.open.saturating_sub(1),
        }
        if is_from_before {
            idle.before = idle.before.saturating_sub(1);
            self.pool.ended.notify_all();
        }
        let somebody_waits = idle.waiting > 0;
        drop(idle);
        if somebody_waits {
            self.pool.returned.notify_one();
        }
    }
}

impl ReadQueue {
    fn lock(&self) -> MutexGuard<'_, ReadQueueState> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, tenant: i64, read: QueuedRead) -> Result<()> {
        let mut waiting = self.lock();
        let is_full = waiting.reads.len() >= QUEUE || waiting.reads.len_of(&tenant) >= QUEUE / 2;
        if !waiting.open || is_full {
            return Err(StoreError::UNAVAILABLE);
        }
        waiting.reads.push(tenant, read);
        drop(waiting);
        self.filled.notify_one();
        Ok(())
    }

    /// Runs one reading thread until the queue is closed and empty. One of the threads also ends
    /// unused snapshots, which would otherwise prevent other processes from emptying the log.
    fn serve(&self, pool: &ConnectionPool, tidies: bool) {
        loop {
            match self.next() {
                NextTask::Read(read) => read(pool),
                // While there are requests, a held snapshot makes every probe of the file cheap:
                // they share its lock.
                NextTask::Nothing if tidies && pool.data_version.take_idle() => {
                    pool.lock_idle().let_go();
                }
                NextTask::Nothing => {}
                NextTask::Closed => return,
            }
        }
    }

    fn next(&self) -> NextTask {
        let nothing = |waiting: &mut ReadQueueState| waiting.open && waiting.reads.is_empty();
        let waited = self
            .filled
            .wait_timeout_while(self.lock(), TIDYING, nothing);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match waiting.reads.pop() {
            Some(read) => NextTask::Read(read),
            None if waiting.open => NextTask::Nothing,
            None => NextTask::Closed,
        }
    }
}

#[cfg(test)]
mod tests;

//! Reading connections: point reads and pages where they are called, anything longer on threads of
//! its own.
//!
//! Beginning and ending a read costs locks that all connections of a file share, so a connection
//! keeps its snapshot of the file until something was committed.

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
/// Such reads that may wait, at most half of them of one tenant.
const QUEUE: usize = 2048;

/// Snapshots that nobody used end at least so often.
const TIDYING: Duration = Duration::from_secs(1);

/// What a checkpoint waits for reads at most.
const SHORT: Duration = Duration::from_millis(20);

/// A queued read without its types.
type QueuedRead = Box<dyn FnOnce(&ConnectionPool) + Send>;

/// Every read of the data file goes through one of these connections; none of them can write.
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
    /// A read ended that began before a checkpoint.
    ended: Condvar,
}

/// Connections that nobody uses now, the last used on top: its cache is the warmest.
#[derive(Default)]
struct IdleConnections {
    connections: Vec<PooledConnection>,
    open: usize,
    /// Callers who wait for one; waking nobody would cost a call to the system for each read.
    waiting: usize,
    /// Checkpoints: those under way, and how many have begun or ended so far.
    checkpoints: usize,
    edges: u64,
    /// Reads under way that began before the last checkpoint.
    before: usize,
}

/// A connection, and the snapshot of the file that it keeps between reads.
struct PooledConnection {
    connection: Connection,
    /// The commits that were counted before its open transaction began, so that it sees all of
    /// them.
    snapshot: Option<u64>,
}

/// What the reading connections do at a moment.
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

/// What a reading thread does next.
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
    /// Starts the reading threads; connections are opened when they are first needed.
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

    /// What the connections do now.
    pub(crate) fn load(&self) -> ReadPoolStats {
        let idle = self.pool.lock_idle();
        ReadPoolStats {
            open: idle.open,
            busy: idle.open.saturating_sub(idle.connections.len()),
            waiting: idle.waiting,
        }
    }

    /// Runs a short read on the calling thread; all its statements see the same moment, which is
    /// not before this call. Reads must not be nested.
    pub(crate) fn with<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        self.with_since(Instant::now(), read)
    }

    /// The same; the moment is not before this one.
    pub(crate) fn with_since<T>(
        &self,
        since: Instant,
        read: impl FnOnce(&Connection) -> Result<T>,
    ) -> Result<T> {
        self.pool.with(since, read)
    }

    /// The snapshots that idle connections keep.
    pub(crate) fn snapshots(&self) -> Snapshots {
        Snapshots(Arc::downgrade(&self.pool))
    }

    /// Runs a read of a tenant that may take long on a thread of its own; all its statements see
    /// the same moment. Tenants whose reads wait are served in turn.
    ///
    /// When the caller goes away before it has begun, it is not begun.
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
                    // The caller may have gone away meanwhile.
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
            // The last handle of a store may go inside a read, on the thread itself.
            if thread.thread().id() != thread::current().id() {
                // A panic of the thread has been reported by its own hook.
                let _ = thread.join();
            }
        }
    }
}

impl fmt::Debug for ReadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readers")
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
    /// Leaves no transaction open; `false` when it cannot be ended.
    fn let_go(&mut self) -> bool {
        self.snapshot = None;
        self.connection.is_autocommit() || self.connection.execute_batch("ROLLBACK").is_ok()
    }
}

/// The snapshots that the connections of a pool keep while nobody uses them.
pub(crate) struct Snapshots(Weak<ConnectionPool>);

impl Snapshots {
    /// The writer has committed, and nobody was answered yet.
    pub(crate) fn committed(&self) {
        if let Some(pool) = self.0.upgrade() {
            pool.data_version.committed();
        }
    }

    /// Ends them, and lets none be kept until the guard goes: the log can be copied into the file
    /// whole, and begun anew. Waits for short reads that are under way.
    pub(crate) fn checkpoint(&self) -> CheckpointGuard {
        let pool = self.0.upgrade();
        if let Some(pool) = &pool {
            let mut idle = pool.lock_idle();
            idle.checkpoints = idle.checkpoints.saturating_add(1);
            idle.edges = idle.edges.wrapping_add(1);
            idle.let_go();
            idle.before = idle.open.saturating_sub(idle.connections.len());
            // Whatever has waited in vain goes on: a part of the log cannot be copied then.
            drop(
                pool.ended
                    .wait_timeout_while(idle, SHORT, |idle| idle.before > 0),
            );
        }
        CheckpointGuard(pool)
    }
}

/// While it lasts, every read ends its snapshot.
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
    /// Ends the snapshots of the connections that nobody uses.
    fn let_go(&mut self) {
        let open = self.connections.len();
        self.connections.retain_mut(PooledConnection::let_go);
        let lost = open.saturating_sub(self.connections.len());
        self.open = self.open.saturating_sub(lost);
    }
}

/// A connection out of the pool; it goes back when this goes.
struct ReadLease<'a> {
    pool: &'a ConnectionPool,
    pooled: Option<PooledConnection>,
    /// Whether the connection may go back with its snapshot, and the checkpoints before it was
    /// taken: a snapshot from before or within a checkpoint is not kept.
    keeps: bool,
    edges: u64,
}

impl ReadLease<'_> {
    /// The connection, inside a transaction that sees every commit before this moment.
    fn snapshot(&mut self, since: Instant) -> Result<&Connection> {
        let pooled = self
            .pooled
            .as_mut()
            .ok_or_else(|| StoreError::unexpected("a reading connection is not open"))?;
        // Counted before the transaction begins: it may see more than that, never less.
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

    /// Keeps the snapshot after a success, and gives up a connection that may remember a damaged
    /// page.
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
        // After an error or a panic, statements may be unfinished. What cannot end its transaction
        // is not used again.
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

    /// One reading thread: until the queue is closed and empty. One of them ends the snapshots that
    /// nobody used for a while: they would keep other processes from emptying the log.
    fn serve(&self, pool: &ConnectionPool, tidies: bool) {
        loop {
            match self.next() {
                NextTask::Read(read) => read(pool),
                // While anybody asks, a snapshot that is kept makes every look at the file cheap:
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

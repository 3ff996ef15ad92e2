//! One transaction of the writer: its jobs, then COMMIT, then the responses. A job that fails is
//! undone alone.
//!
//! Jobs run without savepoints. If a job fails after it has written, all jobs run again, each in a
//! savepoint. If a job reads a damaged page, the other jobs run again without it.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use futures_channel::oneshot;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode};
use svc_store::TenantDeltas;
use svc_store::commits::CommitCounters;

use crate::error::{Result, StoreError};
use crate::options::{BeforeCommitFn, SqliteOptions};
use crate::read_pool::Snapshots;
use crate::tenant_deltas::{store, store_counts};

/// Number of pages in the write-ahead log at which it is copied into the file. Rewriting the same
/// few pages of the log is cheaper than writing new ones.
const LONG_LOG: i32 = 1_000;

/// Number of transactions with savepoints after one that had to run again.
const WARY: u32 = 16;

type AfterCommitFn = Box<dyn FnOnce() + Send>;

/// The transaction of the writer, as a job sees it. The job can use the connection, but must not
/// end the transaction.
pub(crate) struct WriteTransaction<'a> {
    pub(crate) file: &'a Connection,
    hooks: Vec<AfterCommitFn>,
    pub(crate) tally: &'a mut TenantDeltas,
}

impl WriteTransaction<'_> {
    /// Runs `hook` after COMMIT and before any response of the transaction, or never if this job is
    /// undone.
    ///
    /// Hooks of all jobs run one at a time, in the order of their commits. They must be quick and
    /// must not write.
    pub(crate) fn after_commit(&mut self, hook: impl FnOnce() + Send + 'static) {
        self.hooks.push(Box::new(hook));
    }
}

/// A job without its types, as it is in the queue.
pub(crate) trait QueuedWrite: Send {
    /// Returns whether the deadline of the job has passed.
    fn is_past_deadline(&self) -> bool;
    /// Returns whether the caller no longer waits.
    fn is_dropped(&self) -> bool;
    /// Executes the job, or executes it again if the transaction was restarted. Returns whether its
    /// changes are to be committed.
    fn attempt(&mut self, job: &mut WriteTransaction<'_>) -> bool;
    /// Returns whether the failure of the job may have left a damaged page in the cache of the
    /// connection.
    fn may_taint(&self) -> bool;
    /// Returns the error that the other jobs of the transaction get if this job ends it.
    fn failure(&self) -> StoreError;
    /// Replaces the result with the failure of the transaction.
    fn refuse(&mut self, failure: &StoreError);
    /// Sends the result to the caller.
    fn answer(self: Box<Self>);
}

/// A job with its types.
pub(crate) struct TypedWrite<T, F> {
    deadline: Option<Instant>,
    job: F,
    result: Option<Result<T>>,
    answer: Option<oneshot::Sender<(Result<T>, F)>>,
}

impl<T, F> TypedWrite<T, F> {
    pub(crate) fn new(deadline: Option<Instant>, job: F) -> Self {
        Self {
            deadline,
            job,
            result: None,
            answer: None,
        }
    }

    /// Returns the result of a job that ran on the caller's thread.
    pub(crate) fn into_result(self) -> Result<T> {
        self.result
            .unwrap_or_else(|| Err(StoreError::unexpected("a write was not started")))
    }

    /// Returns the receiver of a queued job's result. The job is returned with it: the caller's
    /// thread allocated its memory, and frees it without delaying the writer.
    pub(crate) fn answer_later(&mut self) -> oneshot::Receiver<(Result<T>, F)> {
        let (sender, receiver) = oneshot::channel();
        self.answer = Some(sender);
        receiver
    }
}

impl<T, F> QueuedWrite for TypedWrite<T, F>
where
    T: Send,
    F: Fn(&mut WriteTransaction<'_>) -> Result<T> + Send,
{
    fn is_past_deadline(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| deadline <= Instant::now())
    }

    fn is_dropped(&self) -> bool {
        self.answer
            .as_ref()
            .is_some_and(oneshot::Sender::is_canceled)
    }

    fn attempt(&mut self, job: &mut WriteTransaction<'_>) -> bool {
        let result = catch_unwind(AssertUnwindSafe(|| (self.job)(job)))
            .unwrap_or_else(|panic| Err(panicked(&*panic)));
        let keep = result.is_ok();
        self.result = Some(result);
        keep
    }

    fn may_taint(&self) -> bool {
        matches!(&self.result, Some(Err(error)) if error.taints())
    }

    fn failure(&self) -> StoreError {
        match &self.result {
            Some(Err(error)) => error.for_others(),
            _ => StoreError::unexpected("SQLite ended the transaction during a job"),
        }
    }

    fn refuse(&mut self, failure: &StoreError) {
        self.result = Some(Err(failure.for_others()));
    }

    fn answer(self: Box<Self>) {
        let Self {
            answer,
            result,
            job,
            ..
        } = *self;
        if let (Some(answer), Some(result)) = (answer, result) {
            // The caller may no longer wait.
            let _ = answer.send((result, job));
        }
    }
}

fn panicked(panic: &(dyn Any + Send)) -> StoreError {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    StoreError::unexpected(format!("a write panicked: {}", text.unwrap_or("no text")))
}

/// The jobs of a transaction that are committed.
#[derive(Default)]
struct SucceededWrites {
    any: bool,
    hooks: Vec<AfterCommitFn>,
    tally: TenantDeltas,
}

/// The reason why a transaction cannot be committed.
enum GroupCommitError {
    /// All changes of the transaction are lost.
    RolledBack(StoreError),
    /// A job failed after it had written, or read a damaged page. Only the end of the transaction
    /// undoes that.
    Tainted,
}

impl<E: Into<StoreError>> From<E> for GroupCommitError {
    fn from(error: E) -> Self {
        Self::RolledBack(error.into())
    }
}

/// The writing connection.
pub(crate) struct WriteConnection {
    connection: Connection,
    snapshots: Snapshots,
    busy_timeout: Duration,
    before_commit: Option<BeforeCommitFn>,
    /// Number of transactions whose jobs still get savepoints, because a recent one had to run
    /// again.
    savepoint_rounds: u32,
    /// Number of pages in the write-ahead log after the last COMMIT.
    log: Arc<AtomicI32>,
    commits: Arc<CommitCounters>,
}

impl WriteConnection {
    /// Takes over the connection and the checkpoints of its log. SQLite itself would copy the log
    /// into the file during a COMMIT, before the response.
    pub(crate) fn new(
        mut connection: Connection,
        options: &SqliteOptions,
        snapshots: Snapshots,
        commits: Arc<CommitCounters>,
    ) -> rusqlite::Result<Self> {
        let log = Arc::new(AtomicI32::new(0));
        let grows = Arc::clone(&log);
        connection.wal_hook(Some(move |_: &mut Wal, pages| {
            grows.store(pages, Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Self {
            connection,
            snapshots,
            busy_timeout: options.busy_timeout,
            before_commit: options.before_commit.clone(),
            savepoint_rounds: 0,
            log,
            commits,
        })
    }

    /// Returns whether the log must be copied into the file.
    pub(crate) fn has_long_log(&self) -> bool {
        self.log.load(Ordering::Relaxed) >= LONG_LOG
    }

    /// Copies as much of the log into the file as possible. The log restarts when no reader needs
    /// it any longer.
    pub(crate) fn shorten_log(&self) {
        // The next COMMIT reports the length again.
        self.log.store(0, Ordering::Relaxed);
        let _guard = self.snapshots.checkpoint();
        if let Err(error) = self
            .connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()))
        {
            tracing::warn!(%error, "the write-ahead log cannot be copied into the data file");
        }
    }

    /// Begins a transaction, or returns an error immediately if another process holds the lock of
    /// the file.
    pub(crate) fn begin(&self) -> rusqlite::Result<()> {
        self.roll_back();
        self.execute("BEGIN IMMEDIATE")
    }

    /// Begins a transaction, and waits for another process as long as the options allow.
    fn begin_with_timeout(&self) -> rusqlite::Result<()> {
        match self.begin() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                self.connection.busy_timeout(self.busy_timeout)?;
                let begun = self.begin();
                self.connection.busy_timeout(Duration::ZERO)?;
                begun
            }
            begun => begun,
        }
    }

    /// Runs a whole batch of the queue.
    pub(crate) fn run(&mut self, batch: &mut [Box<dyn QueuedWrite>]) {
        let mut live: Vec<&mut dyn QueuedWrite> = Vec::with_capacity(batch.len());
        for task in batch {
            if task.is_past_deadline() {
                task.refuse(&StoreError::UNAVAILABLE);
            } else {
                live.push(&mut **task);
            }
        }
        if live.is_empty() {
            return;
        }
        match self.begin_with_timeout() {
            Ok(()) => self.carry_out(&mut live),
            Err(error) => refuse(&mut live, &error.into()),
        }
    }

    /// Runs the jobs of a transaction that has begun, and ends it.
    pub(crate) fn carry_out(&mut self, mut batch: &mut [&mut dyn QueuedWrite]) {
        self.savepoint_rounds = self.savepoint_rounds.saturating_sub(1);
        let mut end = self.attempt(batch, self.savepoint_rounds > 0);
        // With savepoints, only a tainted job causes this error, and each repetition has one job
        // less.
        while let Err(GroupCommitError::Tainted) = end {
            self.savepoint_rounds = WARY;
            self.roll_back();
            batch = self.without_tainted(batch);
            let begun = self.begin_with_timeout().map_err(GroupCommitError::from);
            end = begun.and_then(|()| self.attempt(batch, true));
        }
        let tainted = batch.iter().any(|task| task.may_taint());
        match end.and_then(|kept| self.commit(kept, batch.len())) {
            Ok(hooks) => hooks.into_iter().for_each(run_hook),
            Err(GroupCommitError::RolledBack(failure)) => refuse(batch, &failure),
            // Unreachable: the transaction was already repeated.
            Err(GroupCommitError::Tainted) => refuse(batch, &StoreError::UNAVAILABLE),
        }
        self.roll_back();
        if tainted {
            self.forget_pages();
        }
    }

    /// Returns the jobs that run again, in their order. A job that read a damaged page is left out
    /// and keeps its error: SQLite would not commit anything together with it.
    fn without_tainted<'a, 'b>(
        &self,
        batch: &'a mut [&'b mut dyn QueuedWrite],
    ) -> &'a mut [&'b mut dyn QueuedWrite] {
        batch.sort_by_key(|task| task.may_taint());
        let sound = batch.partition_point(|task| !task.may_taint());
        if sound < batch.len() {
            self.forget_pages();
        }
        batch.get_mut(..sound).unwrap_or_default()
    }

    /// Empties the page cache, which may contain a damaged page.
    fn forget_pages(&self) {
        if let Err(error) = self.connection.release_memory() {
            tracing::error!(%error, "the writer's page cache cannot be emptied");
        }
    }

    /// Runs each job of a transaction. Savepoints cost a copy of every page that a job changes, so
    /// they are set only if a job is likely to be undone.
    fn attempt(
        &self,
        batch: &mut [&mut dyn QueuedWrite],
        savepoints: bool,
    ) -> Result<SucceededWrites, GroupCommitError> {
        let is_alone = batch.len() == 1;
        let savepoints = savepoints && !is_alone;
        let mut kept = SucceededWrites::default();
        for task in batch {
            let before = self.connection.total_changes();
            if savepoints {
                store_counts(&self.connection, &mut kept.tally)?;
                self.execute("SAVEPOINT job")?;
            }
            let mut job = WriteTransaction {
                file: &self.connection,
                hooks: Vec::new(),
                tally: &mut kept.tally,
            };
            let keeps = task.attempt(&mut job);
            let hooks = job.hooks;
            // After I/O, full-disk and memory errors, SQLite may have rolled back the whole
            // transaction.
            if self.connection.is_autocommit() {
                return Err(GroupCommitError::RolledBack(task.failure()));
            }
            if keeps {
                kept.any = true;
                kept.hooks.extend(hooks);
            } else if !is_alone && task.may_taint() {
                // A statement that fails like this may be half done, and reports no changes.
                return Err(GroupCommitError::Tainted);
            } else if savepoints {
                self.execute("ROLLBACK TO job")?;
                kept.tally.take_counts().for_each(drop);
            } else if !is_alone && self.connection.total_changes() != before {
                return Err(GroupCommitError::Tainted);
            }
            if savepoints {
                self.execute("RELEASE job")?;
            }
        }
        Ok(kept)
    }

    /// Ends a transaction, with COMMIT if at least one job succeeded. Returns the hooks to run now.
    fn commit(
        &self,
        mut kept: SucceededWrites,
        jobs: usize,
    ) -> Result<Vec<AfterCommitFn>, GroupCommitError> {
        if kept.any {
            if let Some(hold) = &self.before_commit {
                hold();
            }
            let begun = Instant::now();
            store(&self.connection, &mut kept.tally)?;
            self.execute("COMMIT")?;
            self.snapshots.committed();
            self.commits.record(jobs, begun.elapsed());
        }
        Ok(kept.hooks)
    }

    fn execute(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute(())?;
        Ok(())
    }

    /// Rolls back an open transaction.
    fn roll_back(&self) {
        if !self.connection.is_autocommit()
            && let Err(error) = self.execute("ROLLBACK")
        {
            tracing::error!(%error, "a transaction cannot be rolled back");
        }
    }
}

fn refuse(batch: &mut [&mut dyn QueuedWrite], failure: &StoreError) {
    for task in batch {
        task.refuse(failure);
    }
}

/// Runs a hook. Whatever the hook does, the commit and its responses remain valid.
fn run_hook(hook: AfterCommitFn) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(hook)) {
        tracing::error!(error = ?panicked(&*panic), "a hook failed after COMMIT");
    }
}

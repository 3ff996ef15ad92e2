//! The imports of the page, each with its state.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use serde_json::{Map, Value, json};
use svc_core::Tenant;
use svc_core::auth::Principal;
use svc_import::ImportCounts;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use uuid::Uuid;

use super::table::ReadTable;

/// The maximum number of imports that have not ended.
const MAX_ACTIVE: usize = 4;
/// The time after which an unused import is deleted.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// The key that an import belongs to, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ImportOwner {
    tenant: Tenant,
    scope: String,
}

impl ImportOwner {
    pub(super) fn new(principal: &Principal) -> Self {
        Self {
            tenant: principal.tenant.clone(),
            scope: principal.caller.scope(),
        }
    }
}

/// Why no other import can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TooMany {
    /// The key has one that has not ended.
    OfKey,
    /// The server has as many as it allows.
    OfServer,
}

/// All imports.
#[derive(Debug)]
pub(super) struct Imports {
    jobs: Mutex<Vec<Arc<ImportJob>>>,
    idle: Duration,
    /// One table is read at a time, because reading a spreadsheet needs memory.
    pub(super) reading: Semaphore,
}

impl Imports {
    pub(super) fn new() -> Arc<Self> {
        Self::with_idle(IDLE)
    }

    fn with_idle(idle: Duration) -> Arc<Self> {
        Arc::new(Self {
            jobs: Mutex::default(),
            idle,
            reading: Semaphore::new(1),
        })
    }

    fn jobs(&self) -> MutexGuard<'_, Vec<Arc<ImportJob>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an import of a file with this size. It replaces an ended one of the same key.
    pub(super) fn begin(
        self: &Arc<Self>,
        owner: ImportOwner,
        size: u64,
    ) -> io::Result<Result<Arc<ImportJob>, TooMany>> {
        let mut jobs = self.jobs();
        if jobs.iter().any(|job| job.owner == owner && job.is_active()) {
            return Ok(Err(TooMany::OfKey));
        }
        if active(&jobs) >= MAX_ACTIVE {
            return Ok(Err(TooMany::OfServer));
        }
        let job = Arc::new(ImportJob::new(owner, size)?);
        jobs.retain(|other| other.owner != job.owner);
        jobs.push(Arc::clone(&job));
        drop(jobs);
        let (weak, all) = (Arc::downgrade(&job), Arc::downgrade(self));
        tokio::spawn(ImportJob::expire(weak, all, self.idle));
        Ok(Ok(job))
    }

    /// Returns whether an ended import can run again.
    pub(super) fn has_room(&self) -> bool {
        active(&self.jobs()) < MAX_ACTIVE
    }

    /// Returns the import of a key, or the one with this id if it belongs to the key.
    pub(super) fn find(&self, owner: &ImportOwner, id: Option<Uuid>) -> Option<Arc<ImportJob>> {
        let jobs = self.jobs();
        let is_it = |job: &&Arc<ImportJob>| job.owner == *owner && id.is_none_or(|id| job.id == id);
        let job = jobs.iter().find(is_it).cloned()?;
        job.state().used = Instant::now();
        Some(job)
    }

    /// Stops an import, and deletes its files.
    pub(super) fn remove(&self, id: Uuid) {
        let is_removed = |job: &mut Arc<ImportJob>| job.id == id;
        for job in self.jobs().extract_if(.., is_removed) {
            job.state().is_removed = true;
            job.stop();
        }
    }

    /// Stops all imports.
    pub(super) fn stop(&self) {
        for job in self.jobs().drain(..) {
            job.state().is_removed = true;
            job.stop();
        }
    }
}

fn active(jobs: &[Arc<ImportJob>]) -> usize {
    jobs.iter().filter(|job| job.is_active()).count()
}

/// One import.
#[derive(Debug)]
pub(super) struct ImportJob {
    pub(super) id: Uuid,
    owner: ImportOwner,
    size: u64,
    state: Mutex<JobState>,
    stop: watch::Sender<bool>,
}

/// What an import has done so far.
#[derive(Debug)]
pub(super) struct JobState {
    used: Instant,
    /// Whether it is deleted, and must not start again.
    is_removed: bool,
    pub(super) phase: JobPhase,
    pub(super) table: Option<ReadTable>,
    /// The number of rows in the table.
    pub(super) total: u64,
    pub(super) counts: ImportCounts,
    pub(super) reports: ReportFiles,
}

/// What an import is doing.
#[derive(Debug)]
pub(super) enum JobPhase {
    /// It receives the file.
    Receiving { file: File, received: u64 },
    /// It reads the table.
    Reading,
    /// It waits for the decisions of the user.
    Ready,
    /// It sends the rows.
    Running,
    /// It has ended.
    Ended(JobOutcome),
    /// The file is not a usable table, for this reason.
    Unusable(String),
}

/// How an import has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JobOutcome {
    Done,
    /// The user has stopped it.
    Stopped,
    /// It was interrupted, for this reason.
    Failed(String),
}

/// The reports of an import. The files have no names, so that nothing of them remains.
#[derive(Debug, Default)]
pub(super) struct ReportFiles {
    pub(super) rejected: Option<Arc<Mutex<File>>>,
    pub(super) incomplete: Option<Arc<Mutex<File>>>,
}

/// Why a part of a file is not stored.
#[derive(Debug)]
pub(super) enum PartError {
    /// The part does not follow the stored ones.
    Misplaced,
    /// The parts are larger than announced.
    TooLarge,
    /// It cannot be written.
    Io(io::Error),
}

impl JobState {
    /// Whether the rows can be sent now.
    pub(super) fn can_run(&self) -> bool {
        let can_run = matches!(
            self.phase,
            JobPhase::Ready | JobPhase::Ended(JobOutcome::Stopped | JobOutcome::Failed(_))
        );
        can_run && !self.is_removed
    }
}

impl ImportJob {
    fn new(owner: ImportOwner, size: u64) -> io::Result<Self> {
        let phase = JobPhase::Receiving {
            file: tempfile::tempfile()?,
            received: 0,
        };
        Ok(Self {
            id: Uuid::new_v4(),
            owner,
            size,
            state: Mutex::new(JobState {
                used: Instant::now(),
                is_removed: false,
                phase,
                table: None,
                total: 0,
                counts: ImportCounts::default(),
                reports: ReportFiles::default(),
            }),
            stop: watch::Sender::new(false),
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, JobState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_active(&self) -> bool {
        let phase = &self.state().phase;
        !matches!(phase, JobPhase::Ended(_) | JobPhase::Unusable(_))
    }

    /// Stores the next part of the file. Returns the file if it is complete, which the import then reads.
    pub(super) fn receive(&self, at: u64, part: &[u8]) -> Result<Option<File>, PartError> {
        let mut state = self.state();
        let JobPhase::Receiving { file, received } = &mut state.phase else {
            return Err(PartError::Misplaced);
        };
        if at != *received {
            return Err(PartError::Misplaced);
        }
        let more = u64::try_from(part.len()).unwrap_or(u64::MAX);
        let with_part = received.saturating_add(more);
        if with_part > self.size {
            return Err(PartError::TooLarge);
        }
        file.write_all(part).map_err(PartError::Io)?;
        *received = with_part;
        if with_part < self.size {
            return Ok(None);
        }
        match std::mem::replace(&mut state.phase, JobPhase::Reading) {
            JobPhase::Receiving { file, .. } => Ok(Some(file)),
            _ => Err(PartError::Misplaced),
        }
    }

    /// Changes the phase, and counts that as a use.
    pub(super) fn enter(&self, phase: JobPhase) {
        let mut state = self.state();
        state.used = Instant::now();
        state.phase = phase;
    }

    /// Stores the counts so far, and counts that as a use.
    pub(super) fn progress(&self, counts: ImportCounts) {
        let mut state = self.state();
        state.used = Instant::now();
        state.counts = counts;
    }

    /// Orders the import to stop.
    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Returns what reports the next order to stop.
    pub(super) fn stops(&self) -> watch::Receiver<bool> {
        self.stop.send_replace(false);
        self.stop.subscribe()
    }

    /// Deletes an import after it has not been used for some time.
    async fn expire(job: Weak<Self>, all: Weak<Imports>, idle: Duration) {
        loop {
            let Some(used) = job.upgrade().map(|job| job.state().used) else {
                return;
            };
            let until = used.checked_add(idle).unwrap_or(used);
            if until <= Instant::now() {
                break;
            }
            tokio::time::sleep_until(until).await;
        }
        if let (Some(all), Some(job)) = (all.upgrade(), job.upgrade()) {
            all.remove(job.id);
        }
    }

    /// Returns the state for the page.
    pub(super) fn view(&self) -> Value {
        let state = self.state();
        let (name, problem) = match &state.phase {
            JobPhase::Receiving { .. } => ("receiving", None),
            JobPhase::Reading => ("reading", None),
            JobPhase::Ready => ("ready", None),
            JobPhase::Running => ("running", None),
            JobPhase::Ended(JobOutcome::Done) => ("done", None),
            JobPhase::Ended(JobOutcome::Stopped) => ("stopped", None),
            JobPhase::Ended(JobOutcome::Failed(why)) => ("failed", Some(why)),
            JobPhase::Unusable(why) => ("unusable", Some(why)),
        };
        let mut view = Map::new();
        let mut set = |name: &str, value: Value| drop(view.insert(name.to_owned(), value));
        set("id", self.id.to_string().into());
        set("state", name.into());
        if let JobPhase::Receiving { received, .. } = state.phase {
            set("received", received.into());
            set("size", self.size.into());
        }
        if let Some(problem) = problem {
            set("problem", problem.as_str().into());
        }
        if let (JobPhase::Ready, Some(table)) = (&state.phase, &state.table) {
            set("table", table.view());
        }
        if matches!(state.phase, JobPhase::Running | JobPhase::Ended(_)) {
            let choice = state.table.as_ref().map(|table| &table.choice);
            let accepts_unknown = choice.is_some_and(|choice| choice.accepts_unknown);
            set("total", state.total.into());
            set("accepts_unknown", accepts_unknown.into());
            set("all", state.counts.all().into());
            set("counts", shown_counts(&state.counts));
        }
        view.into()
    }
}

/// Returns counts for the page.
pub(super) fn shown_counts(counts: &ImportCounts) -> Value {
    json!({
        "created": counts.created, "updated": counts.updated, "unchanged": counts.unchanged,
        "imported": counts.imported, "incomplete": counts.incomplete, "rejected": counts.rejected,
        "empty": counts.empty,
    })
}

#[cfg(test)]
mod tests {
    use svc_core::auth::{Caller, Rights};

    use super::*;

    fn owner(key: &str) -> ImportOwner {
        let caller = Caller::with_rights(Rights::all()).with_key_name(key);
        let tenant = Tenant::new("demo");
        ImportOwner::new(&Principal::new(tenant, caller))
    }

    fn begin(all: &Arc<Imports>, key: &str) -> Result<Arc<ImportJob>, TooMany> {
        all.begin(owner(key), 10).expect("a temporary file")
    }

    #[tokio::test]
    async fn a_key_has_one_import_and_the_server_has_four() {
        let all = Imports::new();
        let first = begin(&all, "a").expect("the first");
        assert_eq!(begin(&all, "a").err(), Some(TooMany::OfKey));
        for key in ["b", "c", "d"] {
            begin(&all, key).expect(key);
        }
        assert_eq!(begin(&all, "e").err(), Some(TooMany::OfServer));
        assert!(!all.has_room());
        // An ended import does not count, and remains until its key begins another one.
        first.enter(JobPhase::Ended(JobOutcome::Done));
        begin(&all, "e").expect("room");
        assert!(all.find(&owner("a"), Some(first.id)).is_some());
        assert!(all.find(&owner("b"), Some(first.id)).is_none());
        all.remove(first.id);
        assert!(all.find(&owner("a"), None).is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn an_unused_import_is_deleted() {
        let all = Imports::with_idle(Duration::from_millis(200));
        let job = begin(&all, "a").expect("the first");
        tokio::time::sleep(Duration::from_millis(120)).await;
        assert!(all.find(&owner("a"), None).is_some(), "this is a use");
        tokio::time::sleep(Duration::from_millis(120)).await;
        assert_eq!(all.jobs().len(), 1);
        let weak = Arc::downgrade(&job);
        drop(job);
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert_eq!(all.jobs().len(), 0);
        assert!(weak.upgrade().is_none(), "the files are closed");
    }

    #[tokio::test]
    async fn parts_follow_each_other() {
        let all = Imports::new();
        let job = begin(&all, "a").expect("the first");
        assert!(matches!(job.receive(0, b"1234"), Ok(None)));
        assert!(matches!(job.receive(0, b"1234"), Err(PartError::Misplaced)));
        assert!(matches!(
            job.receive(4, b"1234567"),
            Err(PartError::TooLarge)
        ));
        assert!(matches!(job.receive(4, b"123456"), Ok(Some(_))));
        assert!(matches!(job.receive(10, b""), Err(PartError::Misplaced)));
    }
}

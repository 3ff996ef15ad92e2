//! What an import of the page does in the background.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt as _;
use svc_core::model::Kind;
use svc_import::{
    ColumnMapping, ImportCounts, ImportResults, ReportPaths, RowPlan, Table, error_text,
};
use tokio::runtime::Handle;
use tokio::sync::watch::Receiver;

use super::ImportPage;
use super::job::{ImportJob, JobOutcome, JobPhase, ReportFiles};
use super::table::{ImportChoice, ReadTable};
use crate::demo::import::batch_name;
use crate::demo::import::lines::RequestBody;
use crate::demo::import::server::ImportTarget;
use crate::demo::remote;
use crate::demo::scratch::Scratch;

const UNAVAILABLE: &str = "The server is not available. Wait a minute, and continue the import.";
const NO_SPACE: &str = "The server cannot write a file. Wait a minute, and continue the import.";
const NO_PREVIEW: &str = "The server cannot show what would change. Try again in a minute.";
const INTERRUPTED: &str = "The import was interrupted. Continue it. Within 24 hours, no person is \
                           imported a second time.";

/// Reads the table in a file that was received.
pub(super) async fn read(page: ImportPage, job: Arc<ImportJob>, file: File) {
    let permit = page.imports.reading.acquire().await;
    let table = tokio::task::spawn_blocking(move || ReadTable::open(file)).await;
    drop(permit);
    let phase = match table {
        Ok(Ok(table)) => {
            let mut state = job.state();
            state.total = table.overview.total();
            state.table = Some(table);
            JobPhase::Ready
        }
        Ok(Err(why)) => JobPhase::Unusable(why),
        // A panic, which the runtime has reported.
        Err(_) => JobPhase::Unusable("The server cannot read this file.".to_owned()),
    };
    job.enter(phase);
}

/// The import of the rows of a table.
pub(super) struct ImportRun {
    pub(super) page: ImportPage,
    pub(super) job: Arc<ImportJob>,
    pub(super) choice: ImportChoice,
    pub(super) mapping: ColumnMapping,
    pub(super) key: HeaderValue,
    pub(super) stops: Receiver<bool>,
    /// Whether only to find what the import would change.
    pub(super) is_preview: bool,
}

/// The maximum size of a report in bytes.
const MAX_REPORT: u64 = 512 * 1024 * 1024;

impl ImportRun {
    /// Sends the rows, on a thread that may wait for files.
    pub(super) async fn execute(self) {
        let runtime = Handle::current();
        let job = Arc::clone(&self.job);
        let sent = tokio::task::spawn_blocking(move || runtime.block_on(self.send()));
        let phase = match sent.await {
            Ok(Ok(phase)) => phase,
            Ok(Err(why)) => JobPhase::Ended(JobOutcome::Failed(why)),
            Err(_) => JobPhase::Ended(JobOutcome::Failed(INTERRUPTED.to_owned())),
        };
        job.enter(phase);
    }

    /// Returns the phase after the import, or why it was interrupted.
    async fn send(mut self) -> Result<JobPhase, String> {
        let no_space = |_: io::Error| NO_SPACE.to_owned();
        let table = self
            .job
            .state()
            .table
            .as_ref()
            .map(|read| Arc::clone(&read.table));
        let table = table.ok_or(INTERRUPTED)?;
        let permit = self.page.imports.reading.acquire().await;
        let decided = ReadTable::decide(&table, &self.choice, &mut self.mapping);
        drop(permit);
        let (overview, questions) = decided.map_err(no_space)?;
        let groups = [
            (Kind::Tag, overview.tags.clone()),
            (Kind::List, overview.lists.clone()),
        ];
        let is_decided = questions.is_empty();
        if let Some(read) = &mut self.job.state().table {
            read.update(overview, questions);
        }
        if !is_decided {
            return Ok(JobPhase::Ready);
        }
        let server = ImportTarget::find(&self.page.entry_point, &self.key, (None, None)).await;
        let server = server.map_err(|error| {
            tracing::warn!(%error, "the page cannot import");
            UNAVAILABLE.to_owned()
        })?;
        let mut plan = RowPlan::new(self.mapping.clone());
        plan.is_strict = self.choice.is_strict;
        plan.accepts_unknown = self.choice.accepts_unknown;
        if self.is_preview {
            let preview = self.preview(&server, &table, &plan).await;
            if let Some(read) = &mut self.job.state().table {
                match preview {
                    Ok(counts) => read.preview = Some(counts),
                    Err(_) => read.problem = Some(NO_PREVIEW.to_owned()),
                }
            }
            return Ok(JobPhase::Ready);
        }
        let created = if self.choice.creates_groups {
            self.create(&server, groups).await
        } else {
            Ok(())
        };
        if let Err(why) = created {
            if let Some(read) = &mut self.job.state().table {
                read.problem = Some(why);
            }
            return Ok(JobPhase::Ready);
        }
        self.job.progress(ImportCounts::default());
        self.job.enter(JobPhase::Running);
        let options = format!("{:?}", self.choice);
        let name = batch_name(&table, &plan, &options).map_err(no_space)?;
        self.send_rows(&server, (&table, &plan, &name)).await
    }

    /// Creates the tags and lists that do not exist.
    async fn create(
        &self,
        server: &ImportTarget,
        groups: [(Kind, BTreeSet<String>); 2],
    ) -> Result<(), String> {
        for (kind, names) in groups {
            let failed = |why: String| {
                format!(
                    "The {} cannot be created: {}. Your key may not be allowed to do this. Ask for another key, or do not create {}.",
                    kind.plural(),
                    why.trim_end_matches(['.', ' ']),
                    kind.plural()
                )
            };
            let missing = server.missing(&self.key, kind, &names).await;
            for name in missing.map_err(failed)? {
                let created = server.create(&self.key, kind, &name).await;
                created.map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Asks the server what the import would change.
    async fn preview(
        &self,
        server: &ImportTarget,
        table: &Table,
        plan: &RowPlan,
    ) -> io::Result<ImportCounts> {
        let scratch = Scratch::make().map_err(|_| io::ErrorKind::StorageFull)?;
        let paths = ReportPaths::next_to(&scratch.path().join("people"));
        let (lines, results) = ImportResults::begin(table, plan, &paths)?;
        let mut results = results.with_largest_report(MAX_REPORT);
        let response = server.send(&self.key, None, RequestBody(lines)).await;
        let mut response = response.map_err(io::Error::other)?;
        while let Some(frame) = response.body_mut().frame().await {
            if let Ok(data) = frame.map_err(io::Error::other)?.into_data() {
                results.read(&data)?;
            }
        }
        results.finish()
    }

    /// Sends the rows, and stores the results.
    async fn send_rows(
        &mut self,
        server: &ImportTarget,
        (table, plan, name): (&Table, &RowPlan, &str),
    ) -> Result<JobPhase, String> {
        let job = &*self.job;
        let no_space = |_: io::Error| NO_SPACE.to_owned();
        let interrupted = |error: io::Error| {
            // The text of the error could contain values.
            tracing::warn!(kind = %error.kind(), "an import was interrupted");
            INTERRUPTED.to_owned()
        };
        let scratch = Scratch::make().map_err(|_| NO_SPACE)?;
        let paths = ReportPaths::next_to(&scratch.path().join("people"));
        let begun = ImportResults::begin(table, plan, &paths);
        let (lines, results) = begun.map_err(no_space)?;
        let mut results = results.with_largest_report(MAX_REPORT);
        let response = server.send(&self.key, Some(name), RequestBody(lines)).await;
        let mut response = response.map_err(|_| UNAVAILABLE)?;
        let status = response.status();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err("The server no longer accepts the key. Ask for a new key.".to_owned());
        }
        if status != StatusCode::OK {
            let body = remote::body(response).await.unwrap_or_default();
            let why = error_text(&serde_json::from_slice(&body).unwrap_or_default());
            return Err(format!(
                "{INTERRUPTED} The server reported: {status}. {why}"
            ));
        }
        job.state().reports = ReportFiles::default();
        loop {
            let frame = tokio::select! {
                biased;
                _ = self.stops.wait_for(|is_stopped| *is_stopped) => {
                    // What was received is written when the results are dropped.
                    drop(results);
                    claim(job, &paths);
                    return Ok(JobPhase::Ended(JobOutcome::Stopped));
                }
                frame = response.body_mut().frame() => frame,
            };
            let Some(frame) = frame else { break };
            let frame = frame.map_err(|error| interrupted(io::Error::other(error)))?;
            if let Ok(data) = frame.into_data() {
                results.read(&data).map_err(interrupted)?;
                job.progress(results.counts());
                claim(job, &paths);
            }
        }
        let counts = results.finish().map_err(interrupted)?;
        job.progress(counts);
        claim(job, &paths);
        Ok(JobPhase::Ended(JobOutcome::Done))
    }
}

/// Opens the reports that exist, and removes their names, so that the system deletes them with the process.
fn claim(job: &ImportJob, paths: &ReportPaths) {
    let opened = |path: &Path| -> Option<Arc<Mutex<File>>> {
        let file = File::open(path).ok()?;
        std::fs::remove_file(path).ok()?;
        Some(Arc::new(Mutex::new(file)))
    };
    let reports = &mut job.state().reports;
    for (report, path) in [
        (&mut reports.rejected, &paths.rejected),
        (&mut reports.incomplete, &paths.incomplete),
    ] {
        if report.is_none() {
            *report = opened(path);
        }
    }
}

//! The files that a run writes: journal, reports, and what replays failures.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::cli::RunOptions;
use super::{Trouble, settings};
use crate::formats::Format;
use crate::outcome::Outcome;
use crate::private;
use crate::replay::Replay;
use crate::report::{Past, Report};

/// The journal of a run in a folder; every run has its own.
pub(super) fn journal(folder: &Path) -> Result<PathBuf, Trouble> {
    made(folder)?;
    let now = chrono::Utc::now().format("%Y%m%dT%H%M%S%3fZ");
    Ok(folder.join(format!("journal-{now}-{}.jsonl", std::process::id())))
}

fn made(folder: &Path) -> Result<(), Trouble> {
    fs::create_dir_all(folder)
        .map_err(|error| Trouble::new(5, format!("the folder {} cannot be made: {error}", folder.display())))
}

/// Makes sure before a run that its reports and its result can be written.
pub(super) fn writable(options: &RunOptions) -> Result<(), Trouble> {
    let reports = options.report.iter().map(|(_, path)| path).filter(|path| path.as_os_str() != "-");
    for path in reports.chain(&options.result) {
        let broken = |error| Trouble::usage(format!("the report {} cannot be written: {error}", path.display()));
        private::open(path, File::options().append(true).create(true)).map_err(broken)?;
    }
    Ok(())
}

/// A JSON report.
pub(super) fn report(path: &Path) -> Result<Report, Trouble> {
    let broken = |error| Trouble::usage(format!("{} is no JSON report of this version: {error}", path.display()));
    serde_json::from_str(&settings::text(path)?).map_err(broken)
}

/// How earlier reports went; one that does not say when is called as its file.
pub(super) fn earlier(paths: &[PathBuf]) -> Result<Vec<Past>, Trouble> {
    let past = |path: &PathBuf| {
        let past = Past::of(&report(path)?);
        let name = || path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Past { began: if past.began.is_empty() { name() } else { past.began }, ..past })
    };
    paths.iter().map(past).collect()
}

/// Writes the reports.
pub(super) fn reports(report: &Report, reports: &[(Format, PathBuf)]) -> Result<(), Trouble> {
    for (format, path) in reports {
        let text = report.written(*format);
        if path.as_os_str() == "-" {
            super::write(&text);
        } else {
            let broken = |error| Trouble::new(5, format!("the report {} cannot be written: {error}", path.display()));
            private::write(path, &text).map_err(broken)?;
        }
    }
    Ok(())
}

/// Writes the result file.
pub(super) fn result(report: &Report, path: &Path, name: Option<&str>) -> Result<(), Trouble> {
    let broken = |error| Trouble::new(5, format!("the result {} cannot be written: {error}", path.display()));
    private::write(path, &report.result_file(name)).map_err(broken)
}

/// Writes a replay file and `curl` lines for each row that does not hold, and notes their names in the report.
pub(super) fn replays(report: &mut Report, folder: &Path) -> Result<(), Trouble> {
    let failed: Vec<String> = report.with(Outcome::Fail).map(|row| row.id.clone()).collect();
    for id in failed {
        let Some(replay) = Replay::of(report, &id) else { continue };
        made(folder)?;
        let broken = |error: std::io::Error| Trouble::new(5, format!("{}: {error}", folder.display()));
        let path = folder.join(format!("{id}.replay.json"));
        private::write(&path, &replay.to_json()).map_err(broken)?;
        private::write(&folder.join(format!("{id}.sh")), &replay.to_curl()).map_err(broken)?;
        if let Some(row) = report.rows.iter_mut().find(|row| row.id == id) {
            row.replay = Some(path.display().to_string());
        }
    }
    Ok(())
}

//! The files that a run writes: journal, reports and replay files.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::cli::RunArgs;
use super::{ProgramError, settings};
use crate::formats::Format;
use crate::outcome::RequirementOutcome;
use crate::private_file;
use crate::replay::Replay;
use crate::report::{EarlierReport, Report};

/// The maximum number of times that a folder is created again after another run removed it.
const FOLDERS: usize = 100;

/// Creates the journal of a run in a folder. Every run has its own journal.
pub(super) fn journal(folder: &Path) -> Result<PathBuf, ProgramError> {
    let now = chrono::Utc::now().format("%Y%m%dT%H%M%S%3fZ");
    let path = folder.join(format!("journal-{now}-{}.jsonl", std::process::id()));
    in_folder(folder, || {
        private_file::open(&path, File::options().write(true).create_new(true))
    })?;
    Ok(path)
}

/// Removes the journal of a run that left no records, and its folder if it is empty.
pub(super) fn remove_journal(journal: &Path, folder: &Path) {
    let _ = fs::remove_file(journal);
    let _ = fs::remove_dir(folder);
}

/// Returns why a run ended before its clean-up, and how to delete what it created.
pub(super) fn unfinished(code: u8, why: &str, journal: &Path) -> ProgramError {
    ProgramError::new(
        code,
        format!(
            "{why}. To delete what the run created: svc-conformance clean-up {}",
            journal.display()
        ),
    )
}

/// Creates a folder and writes a file in it. Another run can remove the folder while it is empty;
/// the folder is then created again.
fn in_folder<T>(
    folder: &Path,
    mut write: impl FnMut() -> io::Result<T>,
) -> Result<T, ProgramError> {
    let mut written = Err(io::Error::from(io::ErrorKind::NotFound));
    for _ in 0..FOLDERS {
        written = fs::create_dir_all(folder).and_then(|()| write());
        if !matches!(&written, Err(error) if error.kind() == io::ErrorKind::NotFound) {
            break;
        }
    }
    written.map_err(|error| {
        ProgramError::new(
            5,
            format!("The folder {} cannot be written: {error}", folder.display()),
        )
    })
}

/// Files that were created to test whether they can be written. Files that are still empty are
/// removed at the end.
#[must_use]
pub(super) struct Tried(Vec<PathBuf>);

impl Drop for Tried {
    fn drop(&mut self) {
        let is_empty = |path: &&PathBuf| {
            fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0)
        };
        for path in self.0.iter().filter(is_empty) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Verifies before a run that its reports and its result file can be written.
pub(super) fn writable(options: &RunArgs) -> Result<Tried, ProgramError> {
    let mut tried = Tried(Vec::new());
    let reports = options
        .report
        .iter()
        .map(|(_, path)| path)
        .filter(|path| path.as_os_str() != "-");
    for path in reports.chain(&options.result) {
        let is_new = !path.exists();
        let broken = |error| {
            ProgramError::usage(format!(
                "The report {} cannot be written: {error}",
                path.display()
            ))
        };
        private_file::open(path, File::options().append(true).create(true)).map_err(broken)?;
        tried.0.extend(is_new.then(|| path.clone()));
    }
    Ok(tried)
}

/// Reads a JSON report.
pub(super) fn report(path: &Path) -> Result<Report, ProgramError> {
    let broken = |error| {
        ProgramError::usage(format!(
            "{} is not a JSON report of this version: {error}",
            path.display()
        ))
    };
    serde_json::from_str(&settings::text(path)?).map_err(broken)
}

/// Reads the results of earlier reports. A report without a date is named after its file.
pub(super) fn earlier(paths: &[PathBuf]) -> Result<Vec<EarlierReport>, ProgramError> {
    let past = |path: &PathBuf| {
        let past = EarlierReport::from_report(&report(path)?);
        let name = || {
            path.file_stem()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default()
        };
        Ok(EarlierReport {
            began: if past.began.is_empty() {
                name()
            } else {
                past.began
            },
            ..past
        })
    };
    paths.iter().map(past).collect()
}

/// Writes the reports.
pub(super) fn reports(report: &Report, reports: &[(Format, PathBuf)]) -> Result<(), ProgramError> {
    for (format, path) in reports {
        let text = report.to_format(*format);
        if path.as_os_str() == "-" {
            super::write(&text);
        } else {
            let broken = |error| {
                ProgramError::new(
                    5,
                    format!("The report {} cannot be written: {error}", path.display()),
                )
            };
            private_file::write(path, &text).map_err(broken)?;
        }
    }
    Ok(())
}

/// Writes the result file.
pub(super) fn result(report: &Report, path: &Path, name: Option<&str>) -> Result<(), ProgramError> {
    let broken = |error| {
        ProgramError::new(
            5,
            format!(
                "The result file {} cannot be written: {error}",
                path.display()
            ),
        )
    };
    private_file::write(path, &report.result_file(name)).map_err(broken)
}

/// Writes a replay file and `curl` commands for each failed requirement, and adds their names to
/// the report.
pub(super) fn replays(report: &mut Report, folder: &Path) -> Result<(), ProgramError> {
    let failed: Vec<String> = report
        .with_outcome(RequirementOutcome::Fail)
        .map(|row| row.id.clone())
        .collect();
    for id in failed {
        let Some(replay) = Replay::from_report(report, &id) else {
            continue;
        };
        let path = folder.join(format!("{id}.replay.json"));
        in_folder(folder, || {
            private_file::write(&path, &replay.to_json())?;
            private_file::write(&folder.join(format!("{id}.sh")), &replay.to_curl())
        })?;
        if let Some(row) = report.rows.iter_mut().find(|row| row.id == id) {
            row.replay = Some(path.display().to_string());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::in_folder;

    #[test]
    fn a_folder_that_another_run_removes_is_made_again() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("out");
        let mut calls = 0;
        let written = in_folder(&folder, || {
            calls += 1;
            if calls == 1 {
                fs::remove_dir(&folder)?;
            }
            fs::write(folder.join("journal"), "")
        });
        assert!(written.is_ok() && calls == 2 && folder.join("journal").exists());
        let always = in_folder(&folder.join("gone"), || {
            fs::read(place.path().join("nothing"))
        });
        assert!(always.is_err_and(|error| error.code == 5));
    }
}

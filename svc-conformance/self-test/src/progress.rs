//! The file with the results of finished servers, with which a self-test that was stopped continues.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::detections::Detection;
use super::results::{MutantScore, UnusualScore};
use super::settings::SelfTestSettings;
use super::smallest::SmallestCase;

/// The result of one server, or of the search for the failure of one requirement.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishedJob {
    /// An unusual server.
    Unusual(UnusualScore),
    /// A mutant.
    Mutant(MutantScore),
    /// The smallest case of a planted fault.
    Smallest(SmallestCase),
    /// A mutant that fails a requirement.
    Detection(Detection),
}

impl FinishedJob {
    fn name(&self) -> JobName {
        match self {
            Self::Unusual(score) => JobName::Unusual(score.name.clone()),
            Self::Mutant(score) => JobName::Mutant(score.name.clone()),
            Self::Smallest(found) => JobName::Smallest(found.name.clone()),
            Self::Detection(seen) => JobName::Detection(seen.row.clone()),
        }
    }
}

/// What identifies a [`FinishedJob`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum JobName {
    /// The name of an unusual server.
    Unusual(String),
    /// The name of a mutant.
    Mutant(String),
    /// The name of a planted fault.
    Smallest(String),
    /// The id of a requirement.
    Detection(String),
}

/// The results of earlier jobs, and the file that receives those of further jobs: one line of JSON
/// each, after a line that identifies the program and its settings.
#[derive(Debug, Default)]
pub struct Progress {
    finished: BTreeMap<JobName, FinishedJob>,
    file: Option<File>,
}

/// The first line of the file: what must be the same when a self-test continues.
#[derive(Serialize)]
struct Header<'s> {
    /// SHA-256 of the program, as base64.
    program: String,
    /// The settings, except for the number of simultaneous runs.
    settings: &'s SelfTestSettings,
}

impl Progress {
    /// Reads the results in a file, or creates the file. An incomplete last line, which the end of
    /// the program can leave, is removed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written, is in use, or is not a file of this
    /// program with these settings. The file is then unchanged.
    pub fn open(path: &Path, settings: &SelfTestSettings) -> io::Result<Self> {
        let program = STANDARD.encode(Sha256::digest(fs::read(std::env::current_exe()?)?));
        Self::of_program(path, &Header { program, settings })
    }

    fn of_program(path: &Path, header: &Header<'_>) -> io::Result<Self> {
        let invalid = |text| io::Error::new(io::ErrorKind::InvalidData, text);
        let header = serde_json::to_string(header)?;
        let mut file = File::options()
            .append(true)
            .read(true)
            .create(true)
            .open(path)?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(invalid("another self-test writes to it".to_owned()));
        }
        let text = io::read_to_string(&mut file)?;
        let complete = text.rfind('\n').map_or(0, |end| end.saturating_add(1));
        let mut lines = text.get(..complete).unwrap_or_default().lines();
        // Without a complete line, the program ended within the header.
        let first = lines.next();
        let is_own = first.map_or(header.starts_with(&text), |first| first == header);
        if !is_own {
            return Err(invalid(
                "it is not a file of this program with the same settings".to_owned(),
            ));
        }
        file.set_len(u64::try_from(complete).unwrap_or_default())?;
        if first.is_none() {
            writeln!(file, "{header}")?;
        }
        let mut finished = BTreeMap::new();
        for (number, line) in (2_usize..).zip(lines) {
            let job: FinishedJob = serde_json::from_str(line)
                .map_err(|error| invalid(format!("line {number} is not a result: {error}")))?;
            finished.insert(job.name(), job);
        }
        Ok(Self {
            finished,
            file: Some(file),
        })
    }

    /// Returns the number of results that were read and are not yet taken.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.finished.len()
    }

    /// Removes and returns a result that was read.
    pub(super) fn take(&mut self, name: &JobName) -> Option<FinishedJob> {
        self.finished.remove(name)
    }

    /// Appends a result to the file, if there is one.
    pub(super) fn add(&mut self, job: &FinishedJob) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let line = serde_json::to_string(job)? + "\n";
        file.write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use super::{FinishedJob, Header, JobName, Progress};
    use crate::detections::Detection;
    use crate::settings::SelfTestSettings;

    fn open(path: &Path, program: &str, settings: &SelfTestSettings) -> Result<Progress, String> {
        let program = program.to_owned();
        Progress::of_program(path, &Header { program, settings }).map_err(|error| error.to_string())
    }

    fn seen(row: &str) -> FinishedJob {
        FinishedJob::Detection(Detection {
            row: row.to_owned(),
            fault: Some("a fault".to_owned()),
            missed: BTreeMap::new(),
        })
    }

    #[test]
    fn a_stopped_self_test_has_the_results_of_every_complete_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("progress");
        let settings = SelfTestSettings::default();
        let mut progress = open(&path, "a", &settings).expect("a new file");
        for row in ["HAL-01", "HAL-02"] {
            progress.add(&seen(row)).expect("a line");
        }
        let text = fs::read_to_string(&path).expect("lines");
        assert_eq!(text.lines().count(), 3);
        drop(progress);

        // The program ended within its last line.
        fs::write(&path, &text[..text.len() - 3]).expect("a file");
        let mut progress = open(&path, "a", &settings).expect("results");
        let name = |row: &str| JobName::Detection(row.to_owned());
        assert!(progress.take(&name("HAL-01")).is_some());
        assert!(progress.take(&name("HAL-02")).is_none());
        progress.add(&seen("HAL-03")).expect("a line");
        drop(progress);

        let other_workers = SelfTestSettings {
            workers: 7,
            ..settings.clone()
        };
        let progress = open(&path, "a", &other_workers).expect("results");
        let rows: Vec<&JobName> = progress.finished.keys().collect();
        assert_eq!(rows, [&name("HAL-01"), &name("HAL-03")]);

        let other_seeds = SelfTestSettings {
            seeds: 0..3,
            ..settings.clone()
        };
        assert_eq!(
            open(&path, "a", &settings).err().as_deref(),
            Some("another self-test writes to it")
        );
        drop(progress);
        let other = "it is not a file of this program with the same settings";
        assert_eq!(open(&path, "a", &other_seeds).err().as_deref(), Some(other));
        assert_eq!(open(&path, "b", &settings).err().as_deref(), Some(other));
        let notes = folder.path().join("notes");
        fs::write(&notes, "mine").expect("a file");
        assert_eq!(open(&notes, "a", &settings).err().as_deref(), Some(other));
        assert_eq!(fs::read_to_string(&notes).expect("a file"), "mine");
        fs::write(&path, text.replace("HAL-01\"", "")).expect("a file");
        let error = open(&path, "a", &settings).expect_err("not a result");
        assert!(error.starts_with("line 2 is not a result"), "{error}");
    }
}

//! The records that were read, and the pages that are left, in two files next to the target.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use svc_import::only_for_user;

/// The age in seconds from which an interrupted export begins again.
const MAX_AGE: u64 = 24 * 60 * 60;

/// A page that has to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingPage {
    pub(super) url: String,
    /// Whether it has the containers of the records.
    pub(super) is_container: bool,
    /// Whether it is the first one of its collection.
    pub(super) is_first: bool,
    /// Whether its collection is that of one container.
    pub(super) is_of_container: bool,
}

/// The state of an export. It is replaced after each page.
#[derive(Debug, Serialize, Deserialize)]
struct SpoolState {
    /// What is exported, and for which key. Another command begins again.
    command: String,
    /// When the export began, in seconds since 1970.
    begun: u64,
    /// The size of the file with the records. Bytes after it are of a page that was not complete.
    length: u64,
    records: u64,
    /// The pages that are left. The last one is read first.
    pending: Vec<PendingPage>,
}

/// The records of an export.
#[derive(Debug)]
pub(super) struct Spool {
    file: File,
    path: PathBuf,
    state_path: PathBuf,
    state: SpoolState,
}

impl Spool {
    /// Opens the records of the same command, or begins with none.
    ///
    /// # Errors
    ///
    /// Returns an error if the files cannot be written, another export writes them, or there is a file that no
    /// export has written.
    pub(super) fn open(target: &Path, command: &str, first: &PendingPage) -> io::Result<Self> {
        let with = |ending: &str| {
            let mut name: OsString = target.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        let (path, state_path) = (with(".part"), with(".part.state"));
        if path.exists() && !state_path.exists() {
            return Err(io::Error::other(
                "the file exists, and no export has written it",
            ));
        }
        let known = std::fs::read(&state_path).ok();
        let known = known.and_then(|text| serde_json::from_slice::<SpoolState>(&text).ok());
        // Records that were deleted long ago must not come back.
        let is_recent = |begun: u64| now().checked_sub(begun).is_some_and(|age| age < MAX_AGE);
        let known = known.filter(|state| state.command == command && is_recent(state.begun));
        let mut spool = Self {
            state: SpoolState {
                command: command.to_owned(),
                begun: now(),
                length: 0,
                records: 0,
                pending: vec![first.clone()],
            },
            // The state is first, so that the records are always those of an export.
            file: {
                if !state_path.exists() {
                    written(&state_path, b"{}")?;
                }
                let mut options = OpenOptions::new();
                options.read(true).write(true).create(true).truncate(false);
                only_for_user(&mut options).open(&path)?
            },
            path,
            state_path,
        };
        spool.file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another export writes it"),
            TryLockError::Error(error) => error,
        })?;
        let size = spool.file.metadata()?.len();
        match known.filter(|state| state.length <= size) {
            Some(known) => spool.state = known,
            None => spool.save()?,
        }
        spool.truncate()?;
        Ok(spool)
    }

    /// Returns the number of records.
    pub(super) fn records(&self) -> u64 {
        self.state.records
    }

    /// Returns the page that is read next; `None` if the records are complete.
    pub(super) fn pending(&self) -> Option<&PendingPage> {
        self.state.pending.last()
    }

    /// Adds the records of the pending page as lines, and the pages that follow from it. The last of
    /// them is read first.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub(super) fn add(
        &mut self,
        lines: &[u8],
        records: u64,
        following: Vec<PendingPage>,
    ) -> io::Result<()> {
        self.file.write_all(lines)?;
        let length = u64::try_from(lines.len()).unwrap_or(u64::MAX);
        self.state.length = self.state.length.saturating_add(length);
        self.state.records = self.state.records.saturating_add(records);
        self.state.pending.pop();
        self.state.pending.extend(following);
        self.save()
    }

    /// Begins again.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written.
    pub(super) fn restart(&mut self, first: &PendingPage) -> io::Result<()> {
        self.state.begun = now();
        self.state.length = 0;
        self.state.records = 0;
        self.state.pending = vec![first.clone()];
        self.save()?;
        self.truncate()
    }

    /// Deletes the files.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be deleted.
    pub(super) fn remove(self) -> io::Result<()> {
        for path in [&self.path, &self.state_path] {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes records that are not part of the state.
    fn truncate(&mut self) -> io::Result<()> {
        self.file.set_len(self.state.length)?;
        self.file.seek(SeekFrom::End(0))?;
        Ok(())
    }

    /// Replaces the state in one step.
    fn save(&self) -> io::Result<()> {
        let mut new = self.state_path.as_os_str().to_owned();
        new.push(".new");
        written(Path::new(&new), &serde_json::to_vec(&self.state)?)?;
        std::fs::rename(&new, &self.state_path)
    }
}

/// Writes a file that only the user can read.
fn written(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    only_for_user(&mut options).open(path)?.write_all(content)
}

/// Returns the current time in seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

//! A temporary folder, with an empty data file for commands that need an API without data.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::data::asked_names;
use super::database::DemoStore;
use super::location::DataLocation;
use super::paths::make_private_folder;
use super::settings::ServerSettings;
use super::startup_error::StartupError;

/// A folder that only this user can read. Dropping this removes it.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Creates the folder.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no folder for temporary files.
    pub(super) fn make() -> Result<Self, StartupError> {
        let folder = std::env::temp_dir().join(format!("svc-demo-{}", Uuid::new_v4()));
        make_private_folder(&folder).map_err(|error| {
            let what = format!("A temporary folder cannot be created: {error}.");
            StartupError::new(
                what,
                folder.display().to_string(),
                "Set the environment variable TMPDIR to a folder for temporary files.",
            )
        })?;
        Ok(Self(folder))
    }

    /// Returns the folder.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Opens the file with the share names of the settings.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub(super) async fn open(&self, settings: &ServerSettings) -> Result<DemoStore, StartupError> {
        let file = DataLocation::File(self.0.join("scratch.db"));
        DemoStore::open(&file, asked_names(settings), &mut Vec::new()).await
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Files that cannot be removed remain in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

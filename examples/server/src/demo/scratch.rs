//! An empty data file among the temporary files, for what needs an interface and no data.

use std::path::PathBuf;

use uuid::Uuid;

use super::data::asked_names;
use super::database::DemoStore;
use super::location::DataLocation;
use super::paths::make_private_folder;
use super::settings::ServerSettings;
use super::startup_error::StartupError;

/// A folder with an empty data file; gone when this is dropped.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes the folder.
    ///
    /// # Errors
    ///
    /// There is no place for temporary files.
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

    /// Opens the file, with the share names that are asked for.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub(super) async fn open(&self, settings: &ServerSettings) -> Result<DemoStore, StartupError> {
        let file = DataLocation::File(self.0.join("scratch.db"));
        DemoStore::open(&file, asked_names(settings), &mut Vec::new()).await
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed lies among the temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

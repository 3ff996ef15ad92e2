//! The files of the demo: its data and its keys.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use etcetera::base_strategy::{BaseStrategy, choose_native_strategy};
use svc_import::only_for_user;
use svc_sqlite::sync_directory;

use super::startup_error::StartupError;

/// Returns the data file: the argument, or `demo.db` in the cache folder of the user, which is
/// created.
///
/// # Errors
///
/// Returns an error if this user has no cache folder, or it cannot be created.
pub fn data_file(asked: Option<&Path>) -> Result<PathBuf, StartupError> {
    if let Some(path) = asked {
        return Ok(path.to_owned());
    }
    Ok(cache_folder("Choose a data file with --data.")?.join("demo.db"))
}

/// Rejects an empty data file that has a keys file. The file had data, and is not used as a new
/// one.
///
/// # Errors
///
/// Returns an error if the file is empty and has a keys file.
pub(super) fn refuse_emptied(data: &Path) -> Result<(), StartupError> {
    let is_empty = fs::metadata(data).is_ok_and(|file| file.len() == 0);
    if !is_empty || !KeysFile::beside(data).path().exists() {
        return Ok(());
    }
    Err(StartupError::new(
        "The data file is empty, but its keys file exists. The data is lost.",
        data.display().to_string(),
        "Restore a backup, or start with --reset to delete the keys file and create new data.",
    ))
}

/// Returns the folder of the demo in the cache folder of the user, which is created.
pub(super) fn cache_folder(remedy: &str) -> Result<PathBuf, StartupError> {
    let Ok(folders) = choose_native_strategy() else {
        return Err(StartupError::new(
            "The home folder of this user is unknown.",
            "the environment variable HOME",
            remedy,
        ));
    };
    let folder = folders.cache_dir().join("svc-demo");
    make_private_folder(&folder).map_err(|error| {
        StartupError::new(
            format!("The cache folder cannot be created: {error}."),
            folder.display().to_string(),
            remedy,
        )
    })?;
    Ok(folder)
}

/// Creates a folder that only its owner can read, with its parent folders.
pub(super) fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A key that the demo created, and shows at every start.
#[derive(Clone, PartialEq, Eq)]
pub struct ShownKey {
    /// The id of the key in the store.
    pub id: String,
    /// The tenant that the key gives access to.
    pub tenant: String,
    /// Whether the key is read-only.
    pub read_only: bool,
    /// The token.
    pub token: String,
}

impl std::fmt::Debug for ShownKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShownKey")
            .field("id", &self.id)
            .field("tenant", &self.tenant)
            .field("read_only", &self.read_only)
            .finish_non_exhaustive()
    }
}

/// The file next to the data file that stores the keys of the demo in plain text, readable by its
/// owner only. The store contains only hashes.
#[derive(Debug, Clone)]
pub struct KeysFile {
    path: PathBuf,
}

impl KeysFile {
    /// Returns the keys file of a data file.
    #[must_use]
    pub fn beside(data: &Path) -> Self {
        let mut name = data.as_os_str().to_owned();
        name.push(".keys");
        Self { path: name.into() }
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the keys in the file, or no keys if the file does not exist. Malformed lines are
    /// ignored.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system if the file exists and cannot be read.
    pub fn read(&self) -> io::Result<Vec<ShownKey>> {
        match fs::read_to_string(&self.path) {
            Ok(text) => Ok(text.lines().filter_map(parse_line).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Replaces the file by one with these keys. The file and its name are durable when this
    /// returns.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system. The file then has either the previous keys or
    /// these.
    pub fn write(&self, keys: &[ShownKey]) -> io::Result<()> {
        self.write_then(keys, sync_directory)
    }

    fn write_then(
        &self,
        keys: &[ShownKey],
        sync: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut text =
            "# API keys of svc-demo. Anyone who can read this file can use them.\n".to_owned();
        for key in keys {
            let rights = if key.read_only { "read" } else { "all" };
            text.push_str(&[&*key.id, &*key.tenant, rights, &*key.token].join("\t"));
            text.push('\n');
        }
        let mut name = self.path.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        // A file that remains from an interrupted write. `create_new` below creates one with the
        // right mode.
        remove(&new)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut file = only_for_user(&mut options).open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        sync(&self.path)
    }

    /// Removes the file, if it exists. The removal is durable when this returns.
    ///
    /// # Errors
    ///
    /// Returns the error of the operating system.
    pub fn remove(&self) -> io::Result<()> {
        self.remove_then(sync_directory)
    }

    fn remove_then(&self, sync: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        if remove(&self.path)? {
            sync(&self.path)
        } else {
            Ok(())
        }
    }
}

/// Removes a file. Returns whether it existed.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn parse_line(line: &str) -> Option<ShownKey> {
    let mut cells = line.split('\t');
    let [id, tenant, rights, token] = [cells.next()?, cells.next()?, cells.next()?, cells.next()?];
    let read_only = match rights {
        "all" => false,
        "read" => true,
        _ => return None,
    };
    Some(ShownKey {
        id: id.to_owned(),
        tenant: tenant.to_owned(),
        read_only,
        token: token.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{KeysFile, ShownKey, data_file};
    use std::path::Path;

    fn key(id: &str, read_only: bool) -> ShownKey {
        ShownKey {
            id: id.to_owned(),
            tenant: "demo".to_owned(),
            read_only,
            token: format!("planted|{id}"),
        }
    }

    #[test]
    fn keys_come_back_as_they_were_written_and_only_the_owner_can_read_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = KeysFile::beside(&folder.path().join("demo.db"));
        assert_eq!(file.read().expect("a missing file is not an error"), []);
        let keys = [key("1", false), key("2", true)];
        file.write(&keys[..1]).expect("it is written");
        file.write(&keys).expect("it is written again");
        assert_eq!(file.read().expect("it is read"), keys);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(file.path())
                .expect("it is there")
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        file.remove().expect("it is removed");
        file.remove().expect("it is gone already");
        assert_eq!(file.read().expect("a missing file is not an error"), []);
    }

    #[test]
    fn the_folder_is_synced_after_the_file_is_renamed_and_after_it_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = KeysFile::beside(&folder.path().join("demo.db"));
        let mut syncs = Vec::new();
        // The content of the disk when the folder is synced.
        let mut sync = |path: &Path| {
            assert_eq!(path.parent(), Some(folder.path()));
            syncs.push(file.read().map(|keys| keys.len())?);
            Ok(())
        };
        file.remove_then(&mut sync).expect("nothing is there");
        file.write_then(&[key("1", false)], &mut sync)
            .expect("it is written");
        file.write_then(&[key("1", false), key("2", true)], &mut sync)
            .expect("it is written again");
        file.remove_then(&mut sync).expect("it is removed");
        assert_eq!(syncs, [1, 2, 0]);
    }

    #[test]
    fn a_folder_that_cannot_be_synced_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = KeysFile::beside(&folder.path().join("demo.db"));
        let refuse = |_: &Path| Err(std::io::Error::other("planted"));
        assert!(file.write_then(&[key("1", false)], refuse).is_err());
        assert!(file.remove_then(refuse).is_err());
    }

    #[test]
    fn a_key_is_not_shown_by_debug() {
        assert!(!format!("{:?}", key("1", false)).contains("planted"));
    }

    #[test]
    fn the_file_asked_for_is_taken() {
        let path = Path::new("somewhere/else.db");
        assert_eq!(data_file(Some(path)).expect("it is taken"), path);
    }
}

//! A small disk in memory, for tests that fill it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A disk that is removed when this is dropped.
pub(crate) struct Disk {
    folder: tempfile::TempDir,
    data: PathBuf,
}

impl Disk {
    /// Mounts a disk of this many mebibytes that the server may write to. Returns `None` if this
    /// process may not mount one.
    pub(crate) fn mount(mebibytes: u32) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let mut mount = Command::new("mount");
        mount
            .args([
                "-t",
                "tmpfs",
                "-o",
                &format!("size={mebibytes}m,mode=755"),
                "tmpfs",
            ])
            .arg(folder.path());
        if !mount.status().is_ok_and(|status| status.success()) {
            return None;
        }
        let data = folder.path().join("data");
        fs::create_dir(&data).expect("a folder");
        let user = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let user = user
            .lines()
            .find_map(|line| line.strip_prefix("postgres:x:"))?;
        let user = user
            .split(':')
            .next()
            .and_then(|number| number.parse().ok());
        chown(&data, user, None).expect("the server may write there");
        Some(Self { folder, data })
    }

    /// Returns the folder that the server may write to.
    pub(crate) fn path(&self) -> &Path {
        &self.data
    }

    /// Fills the remaining space.
    pub(crate) fn fill(&self) {
        let mut file = fs::File::create(self.folder.path().join("filler")).expect("a file");
        while file.write_all(&[0; 4096]).is_ok() {}
    }

    /// Frees the space.
    pub(crate) fn empty(&self) {
        fs::remove_file(self.folder.path().join("filler")).expect("the file is there");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The server may still have open files there.
        _ = Command::new("umount")
            .arg("--lazy")
            .arg(self.folder.path())
            .status();
    }
}

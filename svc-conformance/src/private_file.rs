//! Files that only their owner can read, because they may contain records of real people.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file. On Unix, only its owner can read it afterwards, even if the file existed before.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    if file.metadata()?.is_file() {
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    }
    Ok(file)
}

/// Writes a whole file.
#[cfg(feature = "cli")]
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    io::Write::write_all(
        &mut open(
            path,
            File::options().write(true).create(true).truncate(true),
        )?,
        text.as_bytes(),
    )
}

//! The disk that is here, and one that is slower.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;

/// A disk whose syncs take longer by a function in front of the C library's, which the C compiler
/// builds that SQLite needs, too.
pub(crate) struct Disk {
    slower: Option<(PathBuf, f64)>,
}

impl Disk {
    pub(crate) fn here() -> Self {
        Self { slower: None }
    }

    /// One on which a sync takes so many milliseconds more; `None` without a C compiler.
    pub(crate) fn slower(folder: &Path, milliseconds: f64) -> Option<Self> {
        /// How late a thread wakes after a sleep.
        const LATE: f64 = 0.06;
        let library = folder.join("slow_sync.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/writes/slow_sync.c");
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let built = Command::new(compiler)
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&library)
            .arg(source)
            .status();
        built.ok().filter(std::process::ExitStatus::success)?;
        Some(Self {
            slower: Some((library, (milliseconds - LATE).max(0.0))),
        })
    }

    /// What a program finds in its environment that writes to it.
    pub(crate) fn environment(&self) -> Vec<(&'static str, OsString)> {
        self.slower
            .as_ref()
            .map_or_else(Vec::new, |(library, milliseconds)| {
                let nanoseconds = format!("{:.0}", milliseconds * 1e6);
                vec![
                    ("LD_PRELOAD", library.into()),
                    ("SLOW_SYNC", nanoseconds.into()),
                ]
            })
    }

    /// Milliseconds that a file of this folder takes to be on it.
    pub(crate) fn sync(&self, folder: &Path) -> f64 {
        let told = process::told(
            &[OsStr::new("sync"), folder.as_os_str()],
            &self.environment(),
        );
        told.trim().parse().expect("milliseconds")
    }
}

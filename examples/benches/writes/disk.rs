//! The disk of this machine, and a slower one.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;

/// A disk whose syncs take longer. A library that is loaded before the C library delays them; the C
/// compiler that SQLite needs builds it.
pub(crate) struct Disk {
    slower: Option<(PathBuf, f64)>,
}

impl Disk {
    pub(crate) fn here() -> Self {
        Self { slower: None }
    }

    /// Returns a disk on which a sync takes `milliseconds` longer, or `None` without a C compiler.
    pub(crate) fn slower(folder: &Path, milliseconds: f64) -> Option<Self> {
        /// The delay until a thread wakes after a sleep, in milliseconds.
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

    /// Returns the environment variables of a program that writes to this disk.
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

    /// Returns the milliseconds until a file of this folder is durable.
    pub(crate) fn sync(&self, folder: &Path) -> f64 {
        let told = process::told(
            &[OsStr::new("sync"), folder.as_os_str()],
            &self.environment(),
        );
        told.trim().parse().expect("milliseconds")
    }
}

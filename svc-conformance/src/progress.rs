//! How far a run is, for whoever watches it.

use std::sync::Arc;

/// How far a run is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The check that comes next; empty at the end, before clean-up.
    pub check: String,
    /// Checks that are done or left out.
    pub done: usize,
    /// Checks of the run.
    pub all: usize,
    /// Requests sent so far.
    pub requests: usize,
    /// Rows that were found not to hold so far.
    pub broken: usize,
    /// What makes the run slow, with the time that it needs: a line that is given once.
    pub notice: Option<String>,
}

/// What receives progress.
#[derive(Clone)]
pub(crate) struct ProgressFn(pub(crate) Arc<dyn Fn(&Progress) + Send + Sync>);

impl std::fmt::Debug for ProgressFn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

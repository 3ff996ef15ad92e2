//! The progress of a run.

use std::sync::Arc;

/// The progress of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The next check. Empty at the end, before clean-up.
    pub check: String,
    /// The number of checks that are finished or left out.
    pub done: usize,
    /// The number of checks of the run.
    pub all: usize,
    /// The number of requests sent so far.
    pub requests: usize,
    /// The number of requirements that failed so far.
    pub broken: usize,
    /// What makes the run slow, with the estimated time. Reported once.
    pub notice: Option<String>,
}

/// The function that receives progress.
#[derive(Clone)]
pub(crate) struct ProgressFn(pub(crate) Arc<dyn Fn(&Progress) + Send + Sync>);

impl std::fmt::Debug for ProgressFn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

//! Errors that prevent a run.

use crate::declared::DeclarationError;
use crate::target::TargetError;

/// Error returned when a run is not possible.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The target does not respond (exit code 4).
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The target stopped during the run. Nothing is judged, and the created records are not
    /// deleted (exit code 4).
    #[error("{0}")]
    Gone(String),
    /// There is no declaration to judge the server against (exit code 2).
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
    /// The server publishes no declaration (exit code 2).
    #[error("the server publishes no declaration: {0}")]
    NotPublished(String),
    /// The URL is not an entry point but, for example, a redirect or an HTML page (exit code 4).
    #[error("{0}")]
    NotAnEntryPoint(String),
    /// The server rejects one of the keys (exit code 2).
    #[error("{0}")]
    KeyRefused(String),
    /// The settings contradict each other or name something that does not exist (exit code 2).
    #[error("{0}")]
    Usage(String),
    /// The journal cannot be written. Nothing is created that could not be found again (exit code
    /// 5).
    #[error("the journal cannot be written: {0}")]
    Journal(#[from] std::io::Error),
}

impl SuiteError {
    /// Returns the exit code of the program.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Target(_) | Self::Gone(_) | Self::NotAnEntryPoint(_) => 4,
            Self::Declaration(_) | Self::NotPublished(_) | Self::KeyRefused(_) | Self::Usage(_) => {
                2
            }
            Self::Journal(_) => 5,
        }
    }
}

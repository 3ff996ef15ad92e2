//! Why a run could not be made.

use crate::declared::DeclarationError;
use crate::target::TargetError;

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The target does not answer (exit code 4).
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The target was stopped during the run: nothing is judged, and what was created is not
    /// removed (exit code 4).
    #[error("{0}")]
    Gone(String),
    /// There is no declaration to judge the server against (exit code 2).
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
    /// The server publishes no declaration (exit code 2).
    #[error("the server publishes no declaration: {0}")]
    NotPublished(String),
    /// At the address is something else than an entry point: a redirect or a page (exit code 4).
    #[error("{0}")]
    NotAnEntryPoint(String),
    /// The server refuses one of the keys (exit code 2).
    #[error("{0}")]
    KeyRefused(String),
    /// The settings contradict each other or name what does not exist (exit code 2).
    #[error("{0}")]
    Usage(String),
    /// The journal cannot be written: nothing is created that could not be found again (exit code
    /// 5).
    #[error("the journal cannot be written: {0}")]
    Journal(#[from] std::io::Error),
}

impl SuiteError {
    /// The exit code of the program.
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

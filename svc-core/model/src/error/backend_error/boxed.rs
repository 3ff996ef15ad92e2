//! Conversion of [`Error`] into a boxed standard error.

use std::{error::Error as StdError, fmt};

use super::{Error, ErrorInner, ErrorKind};

/// An [`Error`] as a [`std::error::Error`].
struct StdErrorAdapter(Error);

impl fmt::Display for StdErrorAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for StdErrorAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl StdError for StdErrorAdapter {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// Converts an error; an unexpected error without context becomes its source again.
impl From<Error> for Box<dyn StdError + Send + Sync> {
    fn from(error: Error) -> Self {
        match *error.0 {
            ErrorInner {
                kind: ErrorKind::Unexpected,
                operation: None,
                address: None,
                source: Some(source),
            } => source,
            other => Box::new(StdErrorAdapter(Error(Box::new(other)))),
        }
    }
}

impl From<Error> for Box<dyn StdError> {
    fn from(error: Error) -> Self {
        Box::<dyn StdError + Send + Sync>::from(error)
    }
}

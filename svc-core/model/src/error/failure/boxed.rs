//! A failure as any other error of Rust.

use std::{error::Error as StdError, fmt};

use super::{Error, ErrorKind, Failure};

/// An [`Error`] where a [`std::error::Error`] is asked for.
struct Boxed(Error);

impl fmt::Display for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Boxed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl StdError for Boxed {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// An unexpected error without context becomes its cause again.
impl From<Error> for Box<dyn StdError + Send + Sync> {
    fn from(error: Error) -> Self {
        match *error.0 {
            Failure {
                kind: ErrorKind::Unexpected,
                operation: None,
                address: None,
                source: Some(source),
            } => source,
            other => Box::new(Boxed(Error(Box::new(other)))),
        }
    }
}

impl From<Error> for Box<dyn StdError> {
    fn from(error: Error) -> Self {
        Box::<dyn StdError + Send + Sync>::from(error)
    }
}

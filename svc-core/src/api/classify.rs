//! What a vendor's errors mean, in one place.

use std::{error::Error as StdError, fmt, sync::Arc};

use super::Api;
use crate::error::Error;

/// What an error of the vendor means; `None` where it is unexpected after all.
type ErrorMapFn = dyn Fn(&(dyn StdError + 'static)) -> Option<Error> + Send + Sync;

/// The meaning of the vendor's errors, where one is set.
#[derive(Clone, Default)]
pub(crate) struct ErrorMapper(pub(super) Option<Arc<ErrorMapFn>>);

impl ErrorMapper {
    /// What an unexpected error is after all; any other is what it was.
    pub(crate) fn map(&self, error: Error) -> Error {
        let known = match (&self.0, error.source()) {
            (Some(meaning), Some(source)) if error.is_unexpected() => meaning(source),
            _ => None,
        };
        match known {
            Some(known) => known.with_context_of(error),
            None => error,
        }
    }
}

impl fmt::Debug for ErrorMapper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Classify").field(&self.0.is_some()).finish()
    }
}

impl Api {
    /// What an error of a backend is, by the vendor's own meaning.
    pub(super) fn classified(&self, error: Error) -> Error {
        self.inner.settings.classify.map(error)
    }
}

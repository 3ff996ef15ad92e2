//! Maps errors of the vendor.

use std::{error::Error as StdError, fmt, sync::Arc};

use super::Api;
use crate::error::Error;

/// Maps an error of the vendor; returns `None` if the error is unexpected.
type ErrorMapFn = dyn Fn(&(dyn StdError + 'static)) -> Option<Error> + Send + Sync;

/// The function that maps errors of the vendor, if one is set.
#[derive(Clone, Default)]
pub(crate) struct ErrorMapper(pub(super) Option<Arc<ErrorMapFn>>);

impl ErrorMapper {
    /// Maps an unexpected error. Other errors stay unchanged.
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
        f.debug_tuple("ErrorMapper")
            .field(&self.0.is_some())
            .finish()
    }
}

impl Api {
    /// Maps an error of a backend with the vendor's function.
    pub(super) fn classified(&self, error: Error) -> Error {
        self.inner.settings.classify.map(error)
    }
}

//! The precondition of a change or a deletion.

use std::{fmt, sync::Arc};

use crate::{
    error::{Error, Result},
    record::RawRecord,
};

/// A condition that a record must fulfil before it is changed or deleted.
///
/// It is evaluated in the transaction, on the record that the transaction changes. No concurrent
/// write can happen between the evaluation and the change.
///
/// Requirements: ETG-07.
#[derive(Clone)]
pub struct Precondition {
    holds: Arc<dyn Fn(&RawRecord) -> bool + Send + Sync>,
    is_of_state: bool,
}

impl Precondition {
    /// Creates a precondition. `is_of_state` is whether it depends on the content of the record,
    /// and not only on its existence.
    pub fn new(
        is_of_state: bool,
        holds: impl Fn(&RawRecord) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            holds: Arc::new(holds),
            is_of_state,
        }
    }

    /// Returns whether the precondition must be evaluated again after the record has changed.
    #[must_use]
    pub fn is_of_state(&self) -> bool {
        self.is_of_state
    }

    /// Checks the precondition on a record.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::PreconditionFailed`](crate::error::ErrorKind::PreconditionFailed) if the record
    /// does not fulfil it.
    pub fn check(&self, record: &RawRecord) -> Result<()> {
        if (self.holds)(record) {
            Ok(())
        } else {
            Err(Error::precondition_failed())
        }
    }
}

impl fmt::Debug for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Precondition")
            .field("is_of_state", &self.is_of_state)
            .finish_non_exhaustive()
    }
}

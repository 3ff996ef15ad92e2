//! What a client asks of a record before it is changed or deleted.

use std::{fmt, sync::Arc};

use crate::{
    error::{Error, Result},
    record::RawRecord,
};

/// What has to be true of a record for its change or deletion to go on, as the caller sees the
/// record.
///
/// It is judged inside the turn, on the record that the turn changes: nobody writes between the
/// judgement and the change.
///
/// Requirements: ETG-07.
#[derive(Clone)]
pub struct Precondition {
    holds: Arc<dyn Fn(&RawRecord) -> bool + Send + Sync>,
    is_of_state: bool,
}

impl Precondition {
    /// A condition; `is_of_state` says whether it is one of what the record holds, not only of its
    /// being there.
    pub fn new(
        is_of_state: bool,
        holds: impl Fn(&RawRecord) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            holds: Arc::new(holds),
            is_of_state,
        }
    }

    /// Whether a record that was changed since it was judged has to be judged again.
    #[must_use]
    pub fn is_of_state(&self) -> bool {
        self.is_of_state
    }

    /// Whether it is true of the record.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::PreconditionFailed`](crate::error::ErrorKind::PreconditionFailed) where it is
    /// not.
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
        f.debug_struct("Condition")
            .field("is_of_state", &self.is_of_state)
            .finish_non_exhaustive()
    }
}

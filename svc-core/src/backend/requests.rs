//! The arguments of the operations that write.
//!
//! Fields can be added later, so these types are non-exhaustive: patterns need `..`.

use crate::{
    draft::{Draft, Patch},
    error::{Error, Result},
    link::RecordAddress,
    model::Resource,
    record::RecordState,
};

/// A request to create a record.
#[derive(Debug)]
#[non_exhaustive]
pub struct CreateRequest<R> {
    /// The validated record to create.
    pub draft: Draft<R>,
}

impl<R: Resource> CreateRequest<R> {
    /// Creates a request for this record.
    #[must_use]
    pub fn new(draft: Draft<R>) -> Self {
        Self { draft }
    }
}

/// A request to change a record.
#[derive(Debug)]
#[non_exhaustive]
pub struct UpdateRequest<R> {
    /// The address of the record.
    pub address: RecordAddress,
    /// The validated changes.
    pub patch: Patch<R>,
    /// The state that the record must still have, as in its [`Meta`](crate::record::Meta).
    ///
    /// If the record has changed since, change nothing and return
    /// [`Error::conflict`](crate::Error::conflict). This prevents lost updates. In a helper request
    /// the library then reads the record again and repeats the change. A client that sent
    /// `If-Match` gets a 412 response. `None` changes the record in any state.
    ///
    /// Requirements: ETG-07.
    pub expected_state: Option<RecordState>,
}

impl<R: Resource> UpdateRequest<R> {
    /// Creates a request to change the record at this address.
    #[must_use]
    pub fn new(at: RecordAddress, patch: Patch<R>) -> Self {
        let if_match = patch.as_raw().if_match;
        Self {
            address: at,
            patch,
            expected_state: if_match,
        }
    }

    /// Checks that the record still has the expected state.
    ///
    /// The state comes from its [`Meta`](crate::record::Meta), or is the time of its last change if
    /// the table has no version.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) if the state differs.
    pub fn check_expected_state(&self, now: impl Into<RecordState>) -> Result<()> {
        unchanged(self.expected_state, now.into())
    }
}

/// A request to delete a record.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteRequest {
    /// The address of the record.
    pub address: RecordAddress,
    /// The state that the record must still have, as in its [`Meta`](crate::record::Meta).
    ///
    /// If the record has changed since, delete nothing and return
    /// [`Error::conflict`](crate::Error::conflict); the client gets a 412 response. `None` deletes
    /// the record in any state.
    ///
    /// Requirements: ETG-07.
    pub expected_state: Option<RecordState>,
}

impl DeleteRequest {
    /// Creates a request to delete the record at this address.
    #[must_use]
    pub fn new(at: RecordAddress) -> Self {
        Self {
            address: at,
            expected_state: None,
        }
    }

    /// Sets the state that the record must still have.
    #[must_use]
    pub fn with_expected_state(mut self, seen: Option<RecordState>) -> Self {
        self.expected_state = seen;
        self
    }

    /// Checks that the record still has the expected state.
    ///
    /// The state comes from its [`Meta`](crate::record::Meta), or is the time of its last change if
    /// the table has no version.
    ///
    /// # Errors
    ///
    /// Returns [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) if the state differs.
    pub fn check_expected_state(&self, now: impl Into<RecordState>) -> Result<()> {
        unchanged(self.expected_state, now.into())
    }
}

fn unchanged(seen: Option<RecordState>, now: RecordState) -> Result<()> {
    if seen.is_none_or(|seen| seen.matches(now)) {
        Ok(())
    } else {
        Err(Error::conflict())
    }
}

//! What the operations that write are asked. More may be asked one day, so none of these can be
//! taken apart without `..`.

use crate::{
    draft::{Draft, Patch},
    error::{Error, Result},
    link::RecordAddress,
    model::Resource,
    record::RecordState,
};

/// A record to create.
#[derive(Debug)]
#[non_exhaustive]
pub struct CreateRequest<R> {
    /// What was sent, validated.
    pub draft: Draft<R>,
}

impl<R: Resource> CreateRequest<R> {
    /// Creates this record.
    #[must_use]
    pub fn new(draft: Draft<R>) -> Self {
        Self { draft }
    }
}

/// A record to change.
#[derive(Debug)]
#[non_exhaustive]
pub struct UpdateRequest<R> {
    /// The record.
    pub address: RecordAddress,
    /// What was sent, validated.
    pub patch: Patch<R>,
    /// The state of the record that this change was made from, as its [`Meta`](crate::record::Meta)
    /// told it. Where it was changed since, change nothing and answer
    /// [`Error::conflict`](crate::Error::conflict): so nobody undoes what another call has just
    /// written. Of a helper the library reads the record again and makes the change anew; a client
    /// that sent `If-Match` is answered 412. `None` changes whatever is there.
    ///
    /// Requirements: ETG-07.
    pub expected_state: Option<RecordState>,
}

impl<R: Resource> UpdateRequest<R> {
    /// Changes the record at this address.
    #[must_use]
    pub fn new(at: RecordAddress, patch: Patch<R>) -> Self {
        let if_match = patch.as_raw().if_match;
        Self {
            address: at,
            patch,
            expected_state: if_match,
        }
    }

    /// Whether the record is still the one that the change was made from: by its
    /// [`Meta`](crate::record::Meta), or by when it was last changed where the table counts no
    /// version.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) where it is another one.
    pub fn check_expected_state(&self, now: impl Into<RecordState>) -> Result<()> {
        unchanged(self.expected_state, now.into())
    }
}

/// A record to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteRequest {
    /// The record.
    pub address: RecordAddress,
    /// The state of the record that its client knows, as its [`Meta`](crate::record::Meta) told it.
    /// Where it was changed since, delete nothing and answer
    /// [`Error::conflict`](crate::Error::conflict): the client is answered 412. `None` deletes
    /// whatever is there.
    ///
    /// Requirements: ETG-07.
    pub expected_state: Option<RecordState>,
}

impl DeleteRequest {
    /// Deletes the record at this address.
    #[must_use]
    pub fn new(at: RecordAddress) -> Self {
        Self {
            address: at,
            expected_state: None,
        }
    }

    /// The same, if the record is still in this state.
    #[must_use]
    pub fn with_expected_state(mut self, seen: Option<RecordState>) -> Self {
        self.expected_state = seen;
        self
    }

    /// Whether the record is still the one that the client knows: by its
    /// [`Meta`](crate::record::Meta), or by when it was last changed where the table counts no
    /// version.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) where it is another one.
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

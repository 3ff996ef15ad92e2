//! What the operations that write are asked. More may be asked one day, so none of these can be taken apart without `..`.

use crate::{
    draft::{Draft, Patch},
    error::{Error, Result},
    link::Address,
    model::Resource,
    value::Timestamp,
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
    pub at: Address,
    /// What was sent, validated.
    pub patch: Patch<R>,
    /// When the record was last changed that this change was made from, as its `modified` told it. Where it was changed
    /// since, change nothing and answer [`Error::conflict`](crate::Error::conflict): the library reads it again and makes
    /// the change anew, so that nobody undoes what another call has just written. `None` changes whatever is there.
    pub if_match: Option<Timestamp>,
}

impl<R: Resource> UpdateRequest<R> {
    /// Changes the record at this address.
    #[must_use]
    pub fn new(at: Address, patch: Patch<R>) -> Self {
        let if_match = patch.as_raw().if_match;
        Self { at, patch, if_match }
    }

    /// Whether the record, last changed at this moment, is still the one that the change was made from.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) where it is another one.
    pub fn check_unchanged(&self, modified: Timestamp) -> Result<()> {
        if self.if_match.is_none_or(|known| known == modified) { Ok(()) } else { Err(Error::conflict()) }
    }
}

/// A record to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteRequest {
    /// The record.
    pub at: Address,
}

impl DeleteRequest {
    /// Deletes the record at this address.
    #[must_use]
    pub fn new(at: Address) -> Self {
        Self { at }
    }
}

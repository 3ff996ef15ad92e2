//! What the operations that write are asked. More may be asked one day, so none of these can be taken apart without `..`.

use crate::{
    draft::{Draft, Patch},
    link::Address,
    model::Resource,
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
}

impl<R: Resource> UpdateRequest<R> {
    /// Changes the record at this address.
    #[must_use]
    pub fn new(at: Address, patch: Patch<R>) -> Self {
        Self { at, patch }
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

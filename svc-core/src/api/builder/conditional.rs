//! Registers that conditional requests are answered.

use super::ApiBuilder;
use crate::api::IfMatch;

impl ApiBuilder {
    /// Answers conditional requests, and declares it (ETG): answers have an `ETag`, a client that
    /// has one already is answered 304, and a change with `If-Match` is made to the record that its
    /// client knows, or not at all: 412.
    ///
    /// Every backend can be served so. A [`Store`](crate::store::Store) compares in the turn of the
    /// change. Operations of a vendor's own are asked by
    /// [`UpdateRequest::if_match`](crate::UpdateRequest::if_match) and
    /// [`DeleteRequest::if_match`](crate::DeleteRequest::if_match) whether the record is still the
    /// one that was read, and have to answer that in the transaction of the change. With
    /// [`response_cache`](Self::response_cache) a read that is answered 304 asks the backend for
    /// nothing but its revision.
    #[must_use]
    pub fn conditional_requests(mut self, if_match: IfMatch) -> Self {
        self.settings.conditional = Some(if_match);
        self
    }
}

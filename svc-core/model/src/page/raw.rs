//! A page without the type of its kind.

use super::{NextPage, PageRequest};
use crate::record::RawRecord;

/// One page of a collection, without the type of its kind.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct RawPage {
    /// The records, in creation order, then by id.
    ///
    /// Requirements: UND-20.
    pub records: Vec<RawRecord>,
    /// The number of records in the collection.
    ///
    /// Requirements: COL-23.
    pub total: u64,
    /// What follows the last record.
    pub next: NextPage,
}

impl RawPage {
    /// Creates a page of a store without cursors. The `next` link is computed from the page
    /// numbers.
    #[must_use]
    pub fn new(records: Vec<RawRecord>, total: u64) -> Self {
        Self {
            records,
            total,
            next: NextPage::Number,
        }
    }

    /// Sets what follows the last record.
    #[must_use]
    pub fn with_next(mut self, next: NextPage) -> Self {
        self.next = next;
        self
    }

    /// Returns the request for the page after this one, which `request` returned. Returns `None` if
    /// this is the last page.
    #[must_use]
    pub fn next_request(&self, request: &PageRequest) -> Option<PageRequest> {
        let next = PageRequest::new(request.number.saturating_add(1), request.size);
        match &self.next {
            NextPage::Cursor(cursor) => Some(next.with_cursor(cursor.as_str())),
            NextPage::Number => (next.records_before() < self.total).then_some(next),
            NextPage::None => None,
        }
    }
}

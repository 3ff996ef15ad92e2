//! A page without the type of its kind.

use super::NextPage;
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
}
